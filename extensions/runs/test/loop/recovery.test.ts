/** What the model is shown, where that was not obvious: after a restart, of calls that end at different times, of ids used twice. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type, defineTool } from '@svc/api';
import { OPEN_RATE, type TestKernel, type TestKernelOptions, bootTestKernel, fixtureExtension, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';

/** `pause` answers after so many milliseconds, beside its like. */
const pausing = fixtureExtension({
  id: 'pausing',
  contributions: { tools: [{ name: 'pause', risk: 'read', replay: 'safe' }] },
  definition: {
    activate: (ctx) => {
      ctx.tools.add(
        defineTool({
          name: 'pause',
          description: 'Waits.',
          params: Type.Object({ ms: Type.Integer() }),
          risk: 'read',
          replay: 'safe',
          parallel: true,
          run: async ({ ms }) => {
            await ctx.clock.sleep(ms);
            return `paused ${ms}`;
          },
        }),
      );
    },
  },
});

interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

describe('what the model is shown', () => {
  let model: ProviderServer;

  afterEach(async () => {
    await stopTestKernels();
    await model.close();
  });

  const boot = async (answers: readonly ScriptedAnswer[], options: TestKernelOptions = {}): Promise<{ kernel: TestKernel; say: (message: string) => Promise<string> }> => {
    model.script(answers);
    const config = `${OPEN_RATE}[extensions]\nenable = ["pausing"]\n[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${model.url}/v1"\n`;
    const kernel = await bootTestKernel({ config, extra: [pausing], env: { OPENAI_API_KEY: 'sk-test' }, ...options });
    const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
    return { kernel, say: async (message) => (await kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message })).body.response };
  };

  const lastMessages = (): readonly WireMessage[] => model.requests.at(-1)?.body.messages ?? [];

  it('includes the first message to an old session after a restart', async () => {
    model = await startOpenAiServer();
    const home = await mkdtemp(join(tmpdir(), 'svc-recovery-'));
    const first = await boot([{ text: 'hello' }], { home });
    await first.say('good morning');
    await first.kernel.stop();

    const second = await boot([{ text: 'hello again' }], { home });
    await second.say('good evening');

    expect(
      lastMessages()
        .filter((message) => message.role === 'user')
        .map((message) => message.content),
    ).to.deep.equal(['good morning', 'good evening']);
    await second.kernel.stop();
    await rm(home, { recursive: true });
  });

  it('includes the result of each call of one message, whenever it ended', async () => {
    model = await startOpenAiServer();
    const pauses = [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20];
    const { say } = await boot([{ toolCalls: pauses.map((ms) => ({ name: 'pause', args: { ms } })) }, { text: 'done' }]);

    expect(await say('go')).to.equal('done');

    const results = lastMessages().filter((message) => message.role === 'tool');
    expect(results.map((message) => message.content)).to.have.members(pauses.map((ms) => `paused ${ms}`));
  });

  it('pairs calls with their results when the provider uses one id again and again', async () => {
    model = await startOpenAiServer();
    const call = (ms: number): ScriptedAnswer => ({ toolCalls: [{ id: 'call_0', name: 'pause', args: { ms } }] });
    const { say } = await boot([call(1), call(2), { text: 'done' }]);

    expect(await say('go')).to.equal('done');

    const results = lastMessages().filter((message) => message.role === 'tool');
    expect(results.map((message) => message.content)).to.deep.equal(['paused 1', 'paused 2']);
    expect(new Set(results.map((message) => message.tool_call_id)).size).to.equal(2);
  });
});
