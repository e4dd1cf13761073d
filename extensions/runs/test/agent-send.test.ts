/** One agent asks another: what the asking one is told, and whose run that is. */
import { OPEN_RATE, OWNER } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

/** `ask NAME: WORDS` says WORDS to that agent and then tells what came back. Anything else goes to `other`. */
const relaying =
  (other: Script): Script =>
  (request) => {
    const { role, content } = request.body.messages.at(-1);
    if (role === 'tool') return { text: `heard: ${content}` };
    const [, name, words] = /^ask ([^:]+): (.*)$/.exec(content) ?? [];
    return name === undefined ? other(request) : { toolCalls: [{ id: 'call_0', name: 'agent_send', args: { agent_id: name, message: words } }] };
  };

describe('an agent that asks another', () => {
  afterEach(stopModelKernels);

  const spawn = async (svc: ModelKernel, name: string): Promise<string> =>
    (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\nagent_message = ["*"]\n` })).body.agent_id;
  const boot = async (other: Script, options: Parameters<typeof bootWithModel>[1] = {}): Promise<{ svc: ModelKernel; x: string; y: string; say: (message: string) => Promise<string> }> => {
    const svc = await bootWithModel(relaying(other), options);
    const [x, y] = [await spawn(svc, 'x'), await spawn(svc, 'y')];
    return { svc, x, y, say: async (message) => (await svc.http.expect(200, 'POST', `/api/agents/${x}/message`, { message })).body.response };
  };
  /** Whether what it was told is shown as an error, call by call. */
  const shownAsErrors = async (svc: ModelKernel, agent: string): Promise<boolean[]> =>
    (await svc.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body.messages.flatMap(({ tools = [] }: { tools?: Array<{ is_error: boolean }> }) => tools.map((tool) => tool.is_error));
  const runsOf = (svc: ModelKernel) => svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent' });

  it('by name or by id is told its answer, and each time anew', async () => {
    let answers = 0;
    const { y, say } = await boot(() => ({ text: `answer ${++answers}` }));
    expect(await say('ask y: hi')).to.equal('heard: answer 1');
    expect(await say(`ask ${y}: hi`)).to.equal('heard: answer 2');
  });

  it('begins a run of the other one, below its own and one deeper', async () => {
    const { svc, x, y, say } = await boot(() => ({ text: 'hello' }));
    await say('ask y: hi');
    const runs = await runsOf(svc);
    const of = (agentId: string) => runs.find(({ input }) => (input as { agentId: string }).agentId === agentId);
    expect(of(y)?.parentId).to.equal(of(x)?.id);
    expect(of(x)?.parentId).to.equal(null);
    expect(of(y)?.input).to.include({ depth: 1, door: 'agent' });
    expect(of(x)?.input).to.include({ depth: 0, door: 'rest' });
  });

  it('who is not there, or is itself, is told so, and no run begins', async () => {
    const { svc, x, say } = await boot(() => ({ text: 'hello' }));
    expect(await say('ask nobody: hi')).to.contain('There is no agent "nobody"');
    expect(await say('ask x: hi')).to.contain('itself');
    expect(await runsOf(svc)).to.have.length(2);
    expect(await shownAsErrors(svc, x)).to.deep.equal([true, true]);
  });

  it('is told why the other one could not answer', async () => {
    const { svc, x, say } = await boot(() => ({ status: 400, message: 'this is refused' }));
    expect(await say('ask y: hi'))
      .to.contain('y could not answer')
      .and.contain('this is refused');
    expect(await shownAsErrors(svc, x)).to.deep.equal([true]);
  });

  it('may go as deep as max_depth, and is told so beyond', async () => {
    const { svc, say } = await boot(() => ({ text: 'hello' }), { config: `${OPEN_RATE}[runs]\nmax_depth = 1\n` });
    await spawn(svc, 'z');
    expect(await say('ask y: hi')).to.equal('heard: hello');
    expect(await say('ask y: ask z: hi')).to.contain('1 deep at most');
  });

  it('is told that the other one has spent what it may between messages of people, who still reach it', async () => {
    const { svc, y, say } = await boot(() => ({ text: 'hello' }), { config: `${OPEN_RATE}[budget]\nidle_limit = 0.000001\n` });
    expect(await say('ask y: hi')).to.contain('y could not answer: The agent may spend 0.000001 USD between messages of people');
    expect((await svc.http.expect(200, 'POST', `/api/agents/${y}/message`, { message: 'hi' })).body.response).to.equal('hello');
    const [run] = (await svc.http.get('/api/runs?status=failed')).body.runs;
    expect([run.agent_id, run.error.code, run.error.retry]).to.deep.equal([y, 'budget_idle_exceeded', false]);
  });

  it('waits as long as child_timeout_secs says, and leaves the other one to its work', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { svc, say, x, y } = await boot(
      async () => {
        await isOpen;
        return { text: 'too late' };
      },
      { clock, config: `${OPEN_RATE}[runs]\nchild_timeout_secs = 7\n` },
    );
    let isAnswered = false;
    const answer = say('ask y: hi').finally(() => {
      isAnswered = true;
    });
    await until(() => svc.model.requests.length === 2);
    await clock.advance(6_900);
    await svc.http.get('/api/health');
    expect(isAnswered).to.equal(false);
    await clock.advance(200);
    expect(await answer).to.contain('y has not answered yet');
    expect(await shownAsErrors(svc, x)).to.deep.equal([true]);
    open();
    await until(async () => JSON.stringify((await svc.http.get(`/api/agents/${y}/session`)).body).includes('too late'));
  });

  it('is stopped together with the one it asked', async () => {
    const { svc, x, y } = await boot(() => ({ hang: true }));
    const answer = svc.http.post(`/api/agents/${x}/message`, { message: 'ask y: hi' });
    await until(() => svc.model.requests.length === 2);
    expect((await svc.http.expect(200, 'POST', `/api/agents/${x}/stop`)).body.stopped).to.equal(2);
    await answer;
    await until(async () => (await runsOf(svc)).every(({ status }) => status === 'cancelled'));
    expect((await svc.http.expect(200, 'POST', `/api/agents/${y}/stop`)).body.stopped).to.equal(0);
  });
});

describe('whoever joins a session', () => {
  afterEach(stopModelKernels);

  it('follows the run that goes on there, and is told when there is none', async () => {
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const svc = await bootWithModel(async () => {
      await isOpen;
      return { text: 'for both' };
    });
    const path = `/api/agents/${svc.agent.id}/sessions/${svc.agent.session_id}/stream`;
    expect((await svc.http.expect(404, 'GET', path)).body.code).to.equal('run_not_found');
    const first = svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'go' });
    await until(() => svc.model.requests.length === 1);
    const joined = svc.http.events('GET', path);
    await until(async () => (await svc.http.expect(200, 'GET', '/api/status')).body.svc_stream_followers === 2);
    open();
    const [one, two] = await Promise.all([first, joined]);
    expect(two.map(({ event, id }) => [event, id])).to.deep.equal(one.map(({ event, id }) => [event, id]));
    expect(two.at(-1)?.data.result.response).to.equal('for both');

    const middle = one.at(-2)?.id ?? '';
    const rest = await svc.http.events('GET', path, undefined, { 'last-event-id': middle });
    expect(rest.map(({ id }) => id)).to.deep.equal([one.at(-1)?.id]);
    const other = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    expect((await svc.http.post(`/api/agents/${other}/message/stream`, { message: 'go' }, { 'last-event-id': middle })).body.code).to.equal('run_not_found');
    expect(svc.model.requests).to.have.length(1);
  });
});
