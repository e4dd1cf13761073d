/** A check of tool calls that is broken for good (C1 to C3 of check-circuit.ts). */
import { SvcError, ToolBefore } from '@svc/api';
import { systemClock } from '@svc/platform/clock/clock';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { expect } from 'chai';

/** Waits are this much shorter. */
const QUICK = 50;
const TRIES_OF_FIRST = 8;

describe('a check of tool calls that fails', () => {
  let model: ProviderServer;
  let asked = 0;
  let isBroken = true;

  before(async () => {
    model = await startOpenAiServer();
  });
  after(async () => {
    await stopTestKernels();
    await model.close();
  });

  it('delays the first call and refuses the next ones at once, says so to the model and in the doctor, until it is made again', async () => {
    const checker = fixtureExtension({
      id: 'checker',
      manifest: { hooks: [{ name: 'tool.before' }] },
      definition: {
        activate: (ctx) => {
          ctx.hooks.tap(ToolBefore, ({ tool }) => {
            if (!isBroken || tool.name !== 'file_list') return undefined;
            asked += 1;
            throw new SvcError('checker_away', 'The checker is away.', { status: 503 });
          });
        },
      },
    });
    const real = systemClock();
    const config = `${OPEN_RATE}[extensions]\nenable = ["checker"]\n[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${model.url}/v1"\n`;
    const kernel = await bootTestKernel({ config, extra: [checker], env: { OPENAI_API_KEY: 'sk-test' }, clock: { ...real, sleep: (ms, signal) => real.sleep(ms / QUICK, signal) } });
    const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
    const say = async (): Promise<string> => {
      model.script([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'done' }]);
      await kernel.http.expect(200, 'POST', `/api/agents/${agent.id}/message`, { message: 'list' });
      return JSON.stringify(model.requests.at(-1)?.body.messages.at(-1));
    };
    const finding = async () => (await kernel.http.expect(200, 'GET', '/api/health/detail')).body.doctor.find((one: { check: string }) => one.check === 'ToolCheckCircuit');

    expect(await say())
      .to.contain('could not be made')
      .and.contain('failed since');
    expect(asked).to.equal(TRIES_OF_FIRST);
    expect(await say()).to.contain('could not be made');
    expect(asked).to.equal(TRIES_OF_FIRST + 1);
    expect((await finding()).result).to.equal('fail');
    expect((await finding()).message).to.contain('file_list');

    isBroken = false;
    expect(await say()).to.not.contain('could not be made');
    expect((await finding()).result).to.equal('pass');
  });
});
