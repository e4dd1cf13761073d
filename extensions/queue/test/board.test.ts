/** The task board, over real runs with a model that uses its tools. */
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { keyOf, person } from '@svc/test/page/callers';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const idIn = (text: string): string => /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(text)?.[0] ?? '';

/** `worker` claims and completes; `idle` does nothing; `claim` claims; `quits` claims and fails. */
const script: Script = ({ body }) => {
  const all = JSON.stringify(body.messages);
  const { role, content } = body.messages.at(-1);
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const call = (name: string, args: object) => ({ toolCalls: [{ id: `call_${body.messages.length}`, name, args }] });
  if (all.includes('You are idle')) return { text: 'later' };
  if (role === 'tool') {
    if (text.includes('in_progress') && all.includes('You quit')) return { status: 400, message: 'refused' };
    if (text.includes('in_progress')) return call('task_complete', { task_id: idIn(text), result: 'all links work' });
    return { text: `ended: ${text}` };
  }
  return call('task_claim', {});
};

describe('the task board', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  before(async () => {
    const board = '[task_board]\npending_grace_secs = 1\nsweep_interval_secs = 1\nmax_retries = 1\n';
    world = await bootWithModel(script, { config: `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('alice', 'user')}${person('bob', 'user')}${board}`, key: keyOf('root') });
    [alice, bob] = [world.kernel.as(keyOf('alice')), world.kernel.as(keyOf('bob'))];
  });
  after(() => stopModelKernels());

  const spawn = async (name: string, prompt: string): Promise<string> =>
    (await alice.expect(201, 'POST', '/api/agents', { manifest: { name, model: { system_prompt: prompt }, capabilities: { tools: ['*'] } } })).body.agent_id;
  const post = async (title: string, assigned_to?: string): Promise<string> => (await alice.expect(200, 'POST', '/api/comms/task', { title, ...(assigned_to ? { assigned_to } : {}) })).body.task_id;
  interface Task {
    readonly id: string;
    readonly kind: string;
    readonly status: string;
    readonly result: string | null;
    readonly claimed_by: string | null;
    readonly error: { readonly message: string } | null;
  }
  const list = async (query = '?limit=200', http = alice): Promise<Task[]> => (await http.expect(200, 'GET', `/api/tasks/list${query}`)).body.tasks;
  const task = async (id: string): Promise<Task | undefined> => (await list()).find((one) => one.id === id);
  const isIn = (id: string, status: string) => until(async () => (await task(id))?.status === status);

  it('B1 B4 wakes the assignee, which claims the task and completes it', async () => {
    const worker = await spawn('worker', 'You work.');
    const id = await post('Check the links', 'worker');
    await isIn(id, 'completed');
    expect(await task(id)).to.deep.include({ kind: 'board', result: 'all links work', claimed_by: worker });
    expect((await alice.expect(200, 'GET', '/api/tasks/status')).body.completed).to.equal(1);
    await alice.expect(200, 'DELETE', `/api/agents/${worker}?confirm=true`);
  });

  it('shows both kinds of tasks in their order, page by page, to their owner alone', async () => {
    const idle = await spawn('page', 'You are idle.');
    await post('one');
    await alice.expect(200, 'POST', `/api/agents/${idle}/message`, { message: 'hello' });
    await post('two');
    const whole = (await list()).map(({ id }) => id);
    const paged: string[] = [];
    for (let before: string | null = ''; before !== null; ) {
      const { body } = await alice.expect(200, 'GET', `/api/tasks/list?limit=1${before === '' ? '' : `&before=${before}`}`);
      paged.push(...body.tasks.map(({ id }: Task) => id));
      before = body.next;
    }
    expect(paged).to.deep.equal(whole);
    expect(await list('', bob)).to.deep.equal([]);
    const [mine] = await list('?status=pending');
    await bob.expect(404, 'DELETE', `/api/tasks/${mine?.id}`);
    for (const { id } of await list('?status=pending')) await alice.expect(200, 'DELETE', `/api/tasks/${id}`);
    await alice.expect(200, 'DELETE', `/api/agents/${idle}?confirm=true`);
  });

  it('B2 gives a task to one of two agents', async () => {
    const [first, second] = [await spawn('first', 'You work.'), await spawn('second', 'You work.')];
    const id = await post('for one of you');
    const answers = await Promise.all([first, second].map((agent) => alice.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'claim' })));
    expect((await task(id))?.status).to.equal('completed');
    expect(answers.filter(({ body }) => String(body.response).includes('no task for you')).length).to.equal(1);
    for (const agent of [first, second]) await alice.expect(200, 'DELETE', `/api/agents/${agent}?confirm=true`);
  });

  it('K1 wakes an agent three times, then sends its owner a notice', async () => {
    const idle = await spawn('idle', 'You are idle.');
    const id = await post('never begun', 'idle');
    const notice = async () => (await alice.expect(200, 'GET', '/api/notices')).body.notices.find(({ summary }: { summary: string }) => summary.includes('never begun'));
    await until(async () => (await notice()) !== undefined);
    expect((await notice()).summary).to.contain('was woken 3 times');
    expect((await task(id))?.status).to.equal('pending');
    const woken = world.model.requests.filter(({ body }) => JSON.stringify(body).includes('never begun')).length;
    expect(woken).to.equal(3);
    await alice.expect(200, 'DELETE', `/api/tasks/${id}`);
    await alice.expect(200, 'DELETE', `/api/agents/${idle}?confirm=true`);
  });

  it('B3 a claim whose run failed returns, and fails the task beyond max_retries; a retry puts it back', async () => {
    const quitter = await spawn('quitter', 'You quit.');
    const id = await post('too hard', 'quitter');
    await isIn(id, 'failed');
    expect((await task(id))?.error?.message).to.equal('2 claims ended without a result');
    await alice.expect(200, 'DELETE', `/api/agents/${quitter}?confirm=true`);
    expect((await alice.expect(200, 'POST', `/api/tasks/${id}/retry`)).body).to.deep.include({ status: 'retried', task_id: id });
    await isIn(id, 'pending');
    expect((await alice.expect(409, 'POST', `/api/tasks/${id}/retry`)).body.code).to.equal('task_not_ended');
    await alice.expect(200, 'DELETE', `/api/tasks/${id}`);
    expect((await alice.expect(404, 'POST', '/api/comms/task', { title: 'x', assigned_to: 'nobody' })).body.code).to.equal('task_no_agent');
  });
});
