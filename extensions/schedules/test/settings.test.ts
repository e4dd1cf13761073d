/** Settings of what runs by itself that take days or an answer to act: each does what it says. */
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { type YearClock, yearClock } from './year-clock.js';

const DAY_MS = 86_400_000;
const SETTINGS = `cron_session_max_tokens = 1
${OPEN_RATE}
[schedules]
keep_fires_days = 2
[triggers]
keep_history_days = 4
[task_board]
claim_ttl_secs = 3600
sweep_interval_secs = 5
[web.fetch]
ssrf_allowed_hosts = ["127.0.0.1"]
`;

describe('settings of jobs, triggers and claims', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let clock: YearClock;
  let agent: string;
  before(async () => {
    clock = yearClock(Date.UTC(2027, 4, 3, 12));
    world = await bootWithModel(() => ({ text: 'done' }), { clock, config: SETTINGS });
    const manifest = { name: 'worker', capabilities: { tools: ['task_claim'] }, assignee_wake: false };
    agent = (await world.http.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;
  });
  after(async () => {
    await stopModelKernels();
    clock.close();
  });

  const job = async (fields: object = {}): Promise<string> =>
    (await world.http.expect(200, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h', enabled: false, ...('action' in fields ? {} : { prompt: 'what is new?' }), ...fields })).body
      .job_id;
  const run = async (id: string) => (await world.http.expect(200, 'POST', `/api/schedules/${id}/run`)).body;
  const fires = async (id: string) => (await world.http.expect(200, 'GET', `/api/cron/jobs/${id}/fires`)).body.fires;

  it('cron_session_max_tokens begins a new conversation', async () => {
    const id = await job();
    const sessions = [];
    for (let index = 0; index < 2; index += 1) sessions.push((await world.http.expect(200, 'GET', `/api/runs/${(await run(id)).run_id}`)).body.session_id);
    expect(new Set(sessions).size).to.equal(2);
  });

  it('silent_marker keeps an answer that ends with it from being delivered', async () => {
    const delivery = { kind: 'webhook', url: 'http://127.0.0.1:9/nobody' };
    const [quiet, plain] = [await job({ delivery, action: { kind: 'agent_turn', message: 'x', silent_marker: 'QUIET' } }), await job({ delivery, action: { kind: 'agent_turn', message: 'x' } })];
    const delivered = async (id: string, text: string): Promise<unknown> => {
      world.model.script(() => ({ text }));
      await run(id);
      return (await fires(id))[0].delivered;
    };
    expect([await delivered(quiet, 'nothing\nQUIET'), await delivered(quiet, 'QUIET\nnews'), await delivered(plain, 'nothing\nQUIET'), await delivered(plain, '[SILENT]')]).to.deep.equal([
      null,
      '0/1',
      '0/1',
      null,
    ]);
  });

  it('claim_ttl_secs returns a claim whose run has ended to the board', async () => {
    const { task_id: id } = (await world.http.expect(200, 'POST', '/api/comms/task', { title: 'count the doors' })).body;
    world.model.script(({ body }) => (body.messages.at(-1)?.role === 'tool' ? { text: 'mine' } : { toolCalls: [{ id: 'c', name: 'task_claim', args: { task_id: id } }] }));
    await world.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'take it' });
    const status = async (): Promise<string> => (await world.http.expect(200, 'GET', '/api/tasks/list')).body.tasks.find((task: { id: string }) => task.id === id).status;
    expect(await status()).to.equal('in_progress');
    clock.setAhead(1_800_000);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await status(), 'half of the time').to.equal('in_progress');
    clock.setAhead(1_900_000);
    await until(async () => (await status()) === 'pending');
  });

  it('keep_fires_days and keep_history_days delete what is older', async () => {
    const id = await job();
    await run(id);
    const body = { agent_id: agent, pattern: { task_posted: { assignee_match: 'self' } }, prompt_template: 'look' };
    const { trigger_id: trigger } = (await world.http.expect(201, 'POST', '/api/triggers', body)).body;
    await world.http.expect(200, 'POST', '/api/comms/task', { title: 'look here', assigned_to: agent });
    const history = async (): Promise<number> =>
      (await world.http.expect(200, 'GET', `/api/triggers/${trigger}/history`)).body.history.filter(({ status }: { status: string }) => status !== 'running').length;
    await until(async () => (await history()) === 1);
    clock.setAhead(1.5 * DAY_MS);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([(await fires(id)).length, await history()]).to.deep.equal([1, 1]);
    clock.setAhead(DAY_MS);
    await until(async () => (await fires(id)).length === 0);
    expect(await history()).to.equal(1);
    clock.setAhead(2 * DAY_MS);
    await until(async () => (await history()) === 0);
  });
});
