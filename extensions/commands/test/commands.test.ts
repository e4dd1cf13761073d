import { defineSlashCommand } from '@svc/api';
import { bootTestKernel, fixtureExtension, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const say = (kernel: TestKernel, agent: string, message: string) => kernel.http.post(`/api/agents/${agent}/message`, { message });
const boot = async (): Promise<{ kernel: TestKernel; agent: string }> => {
  const kernel = await bootTestKernel();
  return { kernel, agent: (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id };
};

describe('slash commands', () => {
  afterEach(stopTestKernels);

  it('begin a fresh session with /new and keep the old one', async () => {
    const { kernel, agent } = await boot();
    await say(kernel, agent, 'what time is it?');
    const before = (await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body;

    const answer = await say(kernel, agent, '/new');

    const after = (await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body;
    expect(answer.body.response).to.contain(before.session_id);
    expect(after.session_id).not.to.equal(before.session_id);
    expect(after.messages).to.deep.equal([]);
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session?session_id=${before.session_id}`)).body.messages).to.have.length(before.messages.length);
  });

  it('count tokens with /usage', async () => {
    const { kernel, agent } = await boot();
    await say(kernel, agent, 'what time is it?');

    const { body } = await say(kernel, agent, '/usage');

    expect(body.response).to.match(/^2 model calls, (\d+) tokens in, (\d+) out, 0\.0000 USD\.\nThis conversation: \1 tokens in, \2 out, 0\.0000 USD\.$/);
  });

  it('show the model with /model, and refuse a name that nobody knows', async () => {
    const { kernel, agent } = await boot();

    expect((await say(kernel, agent, '/model')).body.response).to.contain('builtin/rehearsal');
    const refused = await say(kernel, agent, '/model gpt-5-minni');
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'command_unknown_model']);
    expect(refused.body.error).to.contain('Did you mean');
  });

  it('name the nearest command for one that does not exist, and send nothing to the model', async () => {
    const { kernel, agent } = await boot();

    const refused = await say(kernel, agent, '/usgae');

    expect(refused.body.error).to.contain('Did you mean /usage?');
    expect((await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body.messages).to.deep.equal([]);
  });

  it('come and go with the area that brings them, and a name that another has is refused when the area is switched on', async () => {
    const area = (id: string, name: string) =>
      fixtureExtension({
        id,
        contributions: { slashCommands: [name] },
        definition: {
          activate: (ctx) =>
            void ctx.slashCommands.add(
              defineSlashCommand({ name, usage: `/${name}`, summary: 'Ring the bell', permission: 'runs.send', run: async ({ agentId }) => ({ message: `It rang for ${agentId}.` }) }),
            ),
        },
      });
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\nenable = ["bell", "thief"]\n`, extra: [area('bell', 'ring'), area('thief', 'quit')] });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    const thief = kernel.daemon.kernel.extensions().find(({ id }) => id === 'thief');
    expect([thief?.state, thief?.reason]).to.deep.equal(['failed', 'the slash command /quit is already contributed by commands']);
    expect((await say(kernel, agent, '/ring')).body.response).to.equal(`It rang for ${agent}.`);
    expect((await say(kernel, agent, '/help')).body.response).to.match(/^\/ring +Ring the bell$/m);

    await kernel.daemon.kernel.disable('bell');

    expect((await say(kernel, agent, '/ring')).body.code).to.equal('command_unknown');
    expect((await kernel.http.get('/api/commands/ring')).status).to.equal(404);
  });

  it('are ordinary text while the area is off', async () => {
    const { kernel, agent } = await boot();
    await kernel.daemon.kernel.disable('commands');

    const { status, body } = await say(kernel, agent, '/new');

    expect(status).to.equal(200);
    expect(body.response).to.contain('mock provider');
  });
});
