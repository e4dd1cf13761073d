/** Tasks and the queue over HTTP and on the page, over real runs with a model that answers what was said. */
import type { Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expectWellMade, useBrowser } from '@svc/test/page/browser';
import { keyOf, logInAs, person } from '@svc/test/page/callers';
import { OPEN_RATE, type TestAnswer, type TestHttp } from '@svc/testing';
import { systemClock, type TimerClock, virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
const NOBODY = '00000000-0000-4000-8000-000000000000';

/** `fail` fails, `hang` goes on for ever, `write` writes a file, `ask NAME: WORDS` sends WORDS to that agent. */
const script: Script = ({ body }) => {
  const { role, content } = body.messages.at(-1);
  if (role === 'tool') return { text: `heard: ${content}` };
  const whole: string = typeof content === 'string' ? content : content.map((part: { text?: string }) => part.text ?? '').join('\n');
  // A message that failed is sent along with the next one.
  const said = whole.split('\n').findLast((line) => line !== '' && !line.startsWith('[')) ?? '';
  const [, name, words] = /^ask ([^:]+): (.*)$/.exec(said) ?? [];
  if (name !== undefined) return { toolCalls: [{ id: 'call_0', name: 'agent_send', args: { agent_id: name, message: words } }] };
  if (said.startsWith('fail')) return { status: 400, message: 'this is refused' };
  if (said.startsWith('hang')) return { hang: true };
  if (said.startsWith('write')) return { toolCalls: [{ id: 'call_0', name: 'file_write', args: { path: 'notes.txt', content: 'x' } }] };
  return { text: 'ok' };
};

interface Task {
  readonly id: string;
  readonly title: string;
  readonly status: string;
}

describe('tasks and the queue', function () {
  this.timeout(60_000);
  const chromium = useBrowser();
  let world: ModelKernel;
  let [owner, alice, bob, viewer]: TestHttp[] = [];
  before(async () => {
    const config = `api_key = "${keyOf('root')}"\n${OPEN_RATE}${person('alice', 'user')}${person('bob', 'user')}${person('vera', 'viewer')}[approval]\nrequire_approval = ["file_write"]\n`;
    world = await bootWithModel(script, { config, key: keyOf('root') });
    [owner, alice, bob, viewer] = ['root', 'alice', 'bob', 'vera'].map((name) => world.kernel.as(keyOf(name)));
  });
  after(async () => {
    for (const { id } of await list('?status=in_progress', owner)) await cancel(id, owner);
    await stopModelKernels();
  });

  const of = (http: TestHttp | undefined): TestHttp => http ?? world.http;
  let agents = 0;
  const spawn = async (http = alice, given?: string): Promise<string> => {
    agents += 1;
    const name = given ?? `agent ${agents}`;
    return (await of(http).expect(201, 'POST', '/api/agents', { manifest_toml: `name = "${name}"\n[capabilities]\nagent_message = ["*"]\ntools = ["file_write", "agent_send"]\n` })).body.agent_id;
  };
  const say = (id: string, message: string, more: object = {}, http = alice): Promise<TestAnswer> => of(http).post(`/api/agents/${id}/message`, { message, ...more });
  const list = async (query = '', http = alice): Promise<Task[]> => (await of(http).expect(200, 'GET', `/api/tasks/list${query}`)).body.tasks;
  const one = async (title: string, http = alice): Promise<Task | undefined> => (await list('?limit=200', http)).find((task) => task.title === title);
  const counts = async (http = alice) => (await of(http).expect(200, 'GET', '/api/tasks/status')).body;
  const retry = (id: string, http = alice): Promise<TestAnswer> => of(http).post(`/api/tasks/${id}/retry`);
  const cancel = (id: string, http = alice): Promise<TestAnswer> => of(http).delete(`/api/tasks/${id}`);
  const isIn = (title: string, status: string) => until(async () => (await one(title))?.status === status);
  const set = (key: string, value: number) => of(owner).expect(200, 'POST', '/api/config/set', { path: `queue.${key}`, value });

  it('are the messages to agents by their state, each person’s own, and everybody’s for an owner', async () => {
    const [hers, other] = [await spawn(), await spawn(alice, 'listener')];
    await say(hers, 'hello\nthere');
    await say(hers, 'fail at once');
    await say(hers, 'ask listener: hello');
    void say(other, 'hang on');
    await isIn('hang on', 'in_progress');
    void say(other, 'queued behind');
    await isIn('queued behind', 'pending');
    await say(await spawn(), 'write it');
    const tasks = await list();
    expect(tasks.map(({ title, status }) => [title, status])).to.deep.equal([
      ['write it', 'in_progress'],
      ['queued behind', 'pending'],
      ['hang on', 'in_progress'],
      ['ask listener: hello', 'completed'],
      ['fail at once', 'failed'],
      ['hello', 'completed'],
    ]);
    expect(tasks[0]).to.include({ agent_name: 'agent 3' }).and.property('waits_for').to.be.a('string');
    expect(tasks.at(-1)).to.deep.include({ description: 'hello\nthere', assigned_to: hers, agent_name: 'agent 1', created_by: 'user:alice', channel: 'rest', result: 'ok', error: null });
    expect(tasks[4]).to.deep.include({ result: null }).and.nested.property('error.message').to.contain('this is refused');
    expect(await counts()).to.deep.equal({ total: 6, pending: 1, in_progress: 2, completed: 2, failed: 1, cancelled: 0 });
    expect([(await counts(bob)).total, (await counts(viewer)).total, (await counts(owner)).total]).to.deep.equal([0, 0, 6]);
    expect([(await list('', bob)).length, (await list('', owner)).length]).to.deep.equal([0, 6]);
    const { body: page } = await of(alice).expect(200, 'GET', '/api/tasks/list?status=completed&limit=1');
    expect([page.total, page.tasks.length, page.next]).to.deep.equal([2, 1, page.tasks[0].id]);
    expect((await list(`?status=completed&before=${page.next}`)).map(({ title }) => title)).to.deep.equal(['hello']);
    expect((await of(bob).get(`/api/tasks/list?before=${page.next}`)).status).to.equal(404);
    const { body: queue } = await of(alice).expect(200, 'GET', '/api/queue/status');
    const [main, cron, subagent, trigger] = queue.lanes;
    expect([cron, trigger].map(({ lane, active, depth, capacity }) => [lane, active, depth, capacity])).to.deep.equal([
      ['cron', 0, 0, 2],
      ['trigger', 0, 0, 8],
    ]);
    expect(main).to.deep.include({ lane: 'main', active: 1, waiting: 1, depth: 1, throughput: { completed_last_minute: 2, failed_last_minute: 1, cancelled_last_minute: 0 } });
    expect(subagent).to.deep.include({ lane: 'subagent', active: 0, waiting: 0, depth: 0, throughput: { completed_last_minute: 1, failed_last_minute: 0, cancelled_last_minute: 0 } });
    expect([queue.depth, queue.throughput.completed_last_minute, queue.config]).to.deep.equal([
      1,
      3,
      { max_depth_per_agent: 0, max_depth_global: 0, task_ttl_secs: 0, max_active: main.capacity, concurrency: { cron_lane: 2, trigger_lane: 8 } },
    ]);
    expect((await of(bob).expect(200, 'GET', '/api/queue/status')).body.depth).to.equal(0);
  });

  it('are cancelled while they are queued or go on, with what they began, once, by those who may', async () => {
    const [asking, asked] = [await spawn(), await spawn(alice, 'slow one')];
    const answer = say(asking, 'ask slow one: hang');
    await until(async () => (await of(alice).get(`/api/runs?agent_id=${asked}&status=running`)).body.runs.length === 1);
    void say(asking, 'behind the asking one');
    await isIn('behind the asking one', 'pending');
    const [running, queued] = [(await one('ask slow one: hang'))?.id ?? '', (await one('behind the asking one'))?.id ?? ''];
    for (const [id, http] of [
      [running, bob],
      [NOBODY, alice],
      [(await of(alice).get(`/api/runs?agent_id=${asked}`)).body.runs[0].run_id, alice],
    ] as const)
      expect([(await cancel(id, http)).body.code, (await retry(id, http)).body.code]).to.deep.equal(['task_not_found', 'task_not_found']);
    expect([(await cancel(running, viewer)).status, (await retry(running)).body.code]).to.deep.equal([403, 'run_not_ended']);
    for (const id of [queued, queued]) expect((await cancel(id)).body).to.deep.equal({ status: 'cancelled', id });
    expect((await Promise.all([cancel(running), cancel(running)])).map(({ status }) => status)).to.deep.equal([200, 200]);
    expect((await answer).body.finish).to.equal('cancelled');
    await until(async () => (await of(alice).get(`/api/runs?agent_id=${asked}`)).body.runs[0].status === 'cancelled');
    expect(await one('ask slow one: hang')).to.include({ status: 'cancelled' });
    await say(asking, 'done soon');
    expect((await cancel((await one('done soon'))?.id ?? '')).body).to.include({ code: 'task_ended', error: `Task ${(await one('done soon'))?.id} has already ended (completed).` });
  });

  it('are retried once each, with their attachments, however often and by how many it is asked', async () => {
    const id = await spawn();
    const form = new FormData();
    form.set('file', new Blob([PNG], { type: 'image/png' }), 'dot.png');
    const upload = await fetch(`${world.kernel.url}/api/agents/${id}/upload`, { method: 'POST', body: form, headers: { authorization: `Bearer ${keyOf('alice')}` } });
    const { file_id: fileId } = (await upload.json()) as { file_id: string };
    await say(id, 'fail with a picture', { attachments: [{ file_id: fileId }] });
    const failed = (await one('fail with a picture'))?.id ?? '';
    const before = world.model.requests.length;
    const answers = await Promise.all([retry(failed), retry(failed), retry(failed, owner)]);
    expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.task_id)).size).to.equal(1);
    expect(answers.filter(({ body }) => body.replayed === false)).to.have.length(1);
    const first = answers[0]?.body;
    expect(first).to.include({ status: 'retried', id: failed });
    await until(async () => (await list()).find((task) => task.id === first.task_id)?.status === 'failed');
    expect((await retry(failed)).body).to.include({ task_id: first.task_id, replayed: true });
    expect(world.model.requests.length - before).to.equal(1);
    expect(JSON.stringify(world.model.requests.at(-1)?.body.messages.at(-1))).to.contain(PNG.toString('base64'));
    const again = (await retry(first.task_id)).body.task_id;
    expect(again).to.not.equal(first.task_id);
    expect((await list()).find((task) => task.id === again)).to.deep.include({ title: 'fail with a picture', created_by: 'user:alice', channel: 'rest' });
  });

  it('whose message is not stored, or is deleted, are refused by name', async () => {
    const id = await spawn();
    await say(id, 'secret words', { incognito: true });
    const [incognito] = await list('?limit=1');
    expect(incognito?.title).to.equal('');
    expect((await retry(incognito?.id ?? '')).body.code).to.equal('run_input_gone');
    const session = (await say(id, 'hello again')).body.session_id ?? (await list('?limit=1'))[0];
    const task = await one('hello again');
    expect((await of(alice).delete(`/api/sessions/${(task as unknown as { session_id: string }).session_id}`)).status, String(session)).to.equal(200);
    expect((await retry(task?.id ?? '')).body.code).to.equal('task_not_found');
  });

  it('are refused beyond the depth that [queue] allows, exactly, on every channel, with when to try again', async () => {
    const id = await spawn();
    const others = (await of(owner).expect(200, 'GET', '/api/queue/status')).body.depth;
    await set('max_depth_per_agent', 2);
    void say(id, 'hang for the queue');
    await isIn('hang for the queue', 'in_progress');
    let refused = 0;
    const sent = Array.from({ length: 12 }, async (_, i) => {
      if ((await say(id, `in line ${i}`)).status === 429) refused += 1;
    });
    await until(() => refused === 10);
    expect((await of(owner).get('/api/queue/status')).body.depth).to.equal(others + 2);
    const answer = await say(id, 'one more');
    expect([answer.status, answer.body.code, answer.body.details, answer.headers.get('retry-after')]).to.deep.equal([429, 'run_queue_full', { scope: 'agent', limit: 2 }, '5']);
    const stream = await of(alice).raw('POST', `/api/agents/${id}/message/stream`, { message: 'one more' });
    expect([stream.status, ((await stream.json()) as { code: string }).code]).to.deep.equal([429, 'run_queue_full']);
    const ended = await one('hello');
    await set('max_depth_per_agent', 0);
    await set('max_depth_global', others + 2);
    expect((await say(id, 'one more')).body.details).to.deep.equal({ scope: 'all', limit: others + 2 });
    const { body: asking } = await say(await spawn(), `ask ${id}: hello`);
    expect(asking.response).to.contain('which is the limit');
    expect((await retry(ended?.id ?? '')).status, 'one that starts at once needs no room').to.equal(200);
    await set('max_depth_global', 0);
    expect((await of(alice).post(`/api/agents/${id}/stop`)).body.stopped).to.equal(3);
    await Promise.all(sent);
  });

  it('names the settings of [queue] that nothing enforces', async () => {
    for (const [key, value] of [
      ['concurrency.main_lane', 3],
      ['task_queue_retention_days', 7],
    ] as const) {
      const { status, body } = await of(owner).post('/api/config/set', { path: `queue.${key}`, value });
      expect([status, body.code], key).to.deep.equal([400, 'config_setting_waits']);
    }
  });

  it('are shown on the page, filtered, retried and cancelled there', async () => {
    const id = await spawn(owner, 'of the page');
    await say(id, 'fail on the page', {}, owner);
    const { page, mistakes } = await chromium.open(`${world.kernel.url}/`);
    await logInAs(page, 'root');
    await page.setViewportSize({ width: 360, height: 740 });
    mistakes.length = 0;
    await page.goto(`${world.kernel.url}/#/tasks?status=failed`);
    await page.getByRole('heading', { name: 'Tasks', level: 1 }).waitFor();
    await page.getByText('this is refused').first().waitFor();
    await expectWellMade(page, 'tasks at 360 px');
    expect(await page.getByText('hang on').count()).to.equal(0);
    await page.getByRole('button', { name: 'Retry: fail on the page' }).press('Enter');
    await page.getByText('Retried as task').waitFor();
    await page.setViewportSize({ width: 1_200, height: 800 });
    await page.getByLabel('Filter by State').selectOption('in_progress');
    void say(id, 'hang on the page', {}, owner);
    await page.getByRole('button', { name: 'Cancel: hang on the page' }).press('Enter');
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel task' }).click();
    await page.getByText('Task cancelled.').waitFor();
    await page.getByRole('button', { name: 'Cancel: hang on the page' }).waitFor({ state: 'detached' });
    await expectWellMade(page, 'tasks');
    expect(mistakes).to.deep.equal([]);
  });
});

describe('a run in the queue', function () {
  this.timeout(120_000);
  afterEach(stopModelKernels);

  const boot = async (clock: TimerClock) => {
    const svc = await bootWithModel(script, { clock, config: `${OPEN_RATE}[queue]\ntask_ttl_secs = 60\n`, llm: '[llm]\nrequest_timeout_secs = 3600\nidle_timeout_secs = 3600\n' });
    return { ...svc, listed: async () => (await svc.http.expect(200, 'GET', '/api/tasks/list')).body.tasks as Task[] };
  };

  it('is cancelled after task_ttl_secs where the clock was set back and stays so: what was sent before has the time once more, what is sent then has it once', async () => {
    const time = virtualClock(systemClock().now());
    let backMs = 0;
    const now = () => time.now() - backMs;
    const clock = { ...time, now, iso: () => new Date(now()).toISOString() };
    const { http, kernel, agent, listed } = await boot(clock);
    const ended = new Map<string, number>();
    const send = async (message: string): Promise<void> => {
      const count = (await listed()).length;
      void http.post(`/api/agents/${agent.id}/message`, { message }).then(({ body }) => body.code === 'run_waited_too_long' && ended.set(message, time.mono()));
      await until(async () => (await listed()).length === count + 1);
    };
    await send('hang');
    await until(async () => (await listed())[0]?.status === 'in_progress');
    await send('before');
    await time.advance(30_000);
    backMs = 3_600_000;
    await time.advance(10_000);
    const setAt = time.mono();
    await send('after');
    // A beat that comes while the one before it still reads is skipped.
    await until(async () => {
      if (ended.size < 2 && time.mono() < setAt + 200_000) await time.advance(5_000);
      await listed();
      return ended.size === 2 || time.mono() >= setAt + 200_000;
    });
    expect([...ended.keys()].sort()).to.deep.equal(['after', 'before']);
    expect((ended.get('after') ?? 0) - setAt).to.be.within(60_000, 100_000);
    expect((ended.get('before') ?? 0) - setAt).to.be.within(45_000, 100_000);
    await kernel.http.post(`/api/agents/${agent.id}/stop`);
  });

  it('is cancelled after task_ttl_secs, and its sender is told; one that began is not', async () => {
    const clock = virtualClock(systemClock().now());
    const { http, kernel, agent, listed } = await boot(clock);
    const send = (message: string) => http.post(`/api/agents/${agent.id}/message`, { message });
    void send('hang');
    await until(async () => (await listed())[0]?.status === 'in_progress');
    const answers: TestAnswer[] = [];
    void send('too late').then((answer) => answers.push(answer));
    await until(async () => (await listed()).length === 2);
    await clock.advance(55_000);
    expect((await listed()).map(({ status }) => status)).to.deep.equal(['pending', 'in_progress']);
    // A beat that comes while the one before it still reads is skipped, and on a busy machine reads last: then the next one tells.
    await until(async () => {
      if (answers.length === 0) await clock.advance(5_000);
      await listed();
      return answers.length > 0;
    });
    expect(answers.map(({ body, status }) => [status, body.code])).to.deep.equal([[503, 'run_waited_too_long']]);
    expect((await listed()).map(({ status }) => status)).to.deep.equal(['cancelled', 'in_progress']);
    await kernel.http.post(`/api/agents/${agent.id}/stop`);
  });
});
