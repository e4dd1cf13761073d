import { OPEN_RATE, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';

/** A provider that answers, and that says what it was asked. */
async function talkative() {
  const asked: string[][] = [];
  const server = await startOpenAiServer();
  server.script((request) => {
    const { messages } = request.body as { messages: Array<{ role: string; content: unknown }> };
    asked.push(messages.map((message) => `${message.role}: ${JSON.stringify(message.content)}`));
    return { text: JSON.stringify(messages).includes('Summarise the conversation') ? 'They counted.' : 'ok' };
  });
  return { server, asked };
}

async function boot(url: string): Promise<{ kernel: TestKernel; agent: string }> {
  const kernel = await bootTestKernel({
    config: `${OPEN_RATE}[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${url}"\n`,
    env: { OPENAI_API_KEY: 'sk-test-compaction' },
  });
  const { body } = await kernel.http.expect(200, 'GET', '/api/agents');
  return { kernel, agent: body.agents[0].id };
}

describe('a session that has grown long', () => {
  afterEach(stopTestKernels);

  it('is summarised beside the conversation, keeps its newest messages, and loses nothing of its log', async () => {
    const { server, asked } = await talkative();
    const { kernel, agent } = await boot(server.url);
    for (let i = 1; i <= 45; i++) await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: `number ${i}` });
    for (let tries = 0; tries < 200 && !(await summaryOf(kernel, agent)); tries++) await new Promise((resolve) => setTimeout(resolve, 10));

    await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'and now' });

    const last = asked.at(-1) ?? [];
    expect(last.join('\n')).to.contain('They counted.').and.to.contain('number 40').and.not.to.contain('number 5"');
    expect(last.length).to.be.lessThan(40);
    const { body: session } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    expect(session.messages.filter((message: { role: string }) => message.role === 'User')).to.have.length(46);
    await kernel.stop();
    await server.close();
  });
});

const summaryOf = async (kernel: TestKernel, agent: string): Promise<string | null> => (await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body.compacted_summary;
