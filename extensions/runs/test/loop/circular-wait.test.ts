/** Agents that ask each other: a chain that would wait for itself is refused at once, and everybody answers. */
import { type JournalRun, type RunStatus, actorFrom } from '@svc/api';
import { expect } from 'chai';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';

/** `ask NAME: WORDS` says WORDS to that agent and then tells what came back. */
const relaying = (before: (text: string) => Promise<void> = async () => undefined): Script => {
  return async ({ body }) => {
    const { role, content } = body.messages.at(-1);
    if (role === 'tool') return { text: `heard: ${content}` };
    await before(content);
    const [, name, words] = /^ask (\w+): (.*)$/.exec(content) ?? [];
    return name === undefined ? { text: 'hello' } : { toolCalls: [{ name: 'agent_send', args: { agent_id: name, message: words } }] };
  };
};

const spawn = async (svc: ModelKernel, names: readonly string[]): Promise<string[]> => {
  const ids: string[] = [];
  for (const name of names) ids.push((await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\nagent_message = ["*"]\n` })).body.agent_id);
  return ids;
};

const say = async (svc: ModelKernel, agent: string | undefined, message: string, rest: object = {}): Promise<string> =>
  (await svc.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message, ...rest })).body.response;

const listRuns = (svc: ModelKernel, status: RunStatus): Promise<JournalRun[]> =>
  svc.kernel.daemon.parts.journal.list({ actor: actorFrom({ id: 'test', role: 'system', ownerId: 'system' }), status: [status] });

describe('agents that ask each other', () => {
  afterEach(stopModelKernels);

  it('in a circle of two are told the chain, and both answer', async () => {
    const svc = await bootWithModel(relaying());
    const [x, y] = await spawn(svc, ['x', 'y']);

    expect(await say(svc, x, 'ask y: ask x: hi')).to.contain('x → y → x');

    expect([await say(svc, x, 'hi'), await say(svc, y, 'hi')]).to.deep.equal(['hello', 'hello']);
  });

  it('in a longer ring are told the whole of it', async () => {
    const svc = await bootWithModel(relaying());
    const [x] = await spawn(svc, ['x', 'y', 'z']);

    expect(await say(svc, x, 'ask y: ask z: ask x: hi')).to.contain('x → y → z → x');
  });

  it('and cross at the same moment: one is told so, the other is answered', async () => {
    const latches: Array<() => void> = [];
    const svc = await bootWithModel(relaying((text) => (text.startsWith('ask') ? new Promise((resolve) => latches.push(resolve)) : Promise.resolve())));
    const [x, y] = await spawn(svc, ['x', 'y']);
    const answers = Promise.all([say(svc, x, 'ask y: hi'), say(svc, y, 'ask x: hi')]);
    await until(() => latches.length === 2);

    for (const open of latches) open();

    const said = await answers;
    expect(said.filter((text) => text.includes('would wait'))).to.have.length(1);
    expect(said.filter((text) => text === 'heard: hello')).to.have.length(1);
    expect(said.find((text) => text.includes('would wait'))).to.match(/x → y → x|y → x → y/);
  });

  it('wait for one that is busy with something else, as they always did', async () => {
    const latches: Array<() => void> = [];
    const svc = await bootWithModel(relaying((text) => (text === 'busy' ? new Promise((resolve) => latches.push(resolve)) : Promise.resolve())));
    const [x, y] = await spawn(svc, ['x', 'y']);
    const busy = say(svc, y, 'busy');
    await until(() => latches.length === 1);
    const asked = say(svc, x, 'ask y: hi');
    await until(async () => (await listRuns(svc, 'queued')).length === 1);

    for (const open of latches) open();

    expect([await busy, await asked]).to.deep.equal(['hello', 'heard: hello']);
  });

  it('may ask back into a session that waits for nobody', async () => {
    const svc = await bootWithModel(relaying());
    const [x] = await spawn(svc, ['x', 'y']);

    const { session_id } = (await svc.http.expect(200, 'POST', `/api/agents/${x}/sessions`, { activate: false })).body;

    expect(await say(svc, x, 'ask y: ask x: hi', { session_id })).to.equal('heard: heard: hello');
  });

  it('in a circle leave a cancelled run behind that says why', async () => {
    const svc = await bootWithModel(relaying());
    const [x] = await spawn(svc, ['x', 'y']);
    await say(svc, x, 'ask y: ask x: hi');

    expect((await listRuns(svc, 'cancelled')).map((run) => run.error?.code)).to.deep.equal(['run_circular_wait']);
  });
});
