/** Jobs over HTTP, with a clock that the test moves, a model on its wire and a receiver of webhooks. */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { openSqlite } from '@svc/platform/storage/sqlite/sqlite-connection';
import { systemClock } from '@svc/platform/clock/clock';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

const KEYS = { owner: 'schedules-root-key', alice: 'schedules-alice-key', bob: 'schedules-bob-key' };
const person = (name: 'alice' | 'bob'): string => `[[users]]\nname = "${name}"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const MISSING = '00000000-0000-4000-8000-000000000000';
const MINUTE = 60_000;

interface FireBody {
  id: string;
  status: string;
  kind: string;
  reason: string | null;
  output: string | null;
  delivered: string | null;
  run_id: string;
  session_id: string;
}

describe('schedules and cron jobs', function () {
  this.timeout(120_000);
  let world: ModelKernel;
  let alice: TestHttp;
  let bob: TestHttp;
  let agent: string;
  let ahead = 0;
  let receiver: Server;
  const received: Array<{ body: string; id: string | undefined }> = [];
  let answers: number[] = [];
  let hook = '';
  before(async () => {
    receiver = createServer((req, res) => {
      let body = '';
      req.on('data', (piece) => {
        body += piece;
      });
      req.on('end', () => {
        received.push({ body, id: req.headers['webhook-id']?.toString() });
        res.statusCode = answers.shift() ?? 200;
        res.end('ok');
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
    const real = systemClock();
    const clock = { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() };
    world = await bootWithModel(undefined, {
      config: `api_key = "${KEYS.owner}"\nmax_cron_jobs = 400\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n[schedules]\nmax_jobs_per_agent = 20\n${person('alice')}${person('bob')}`,
      key: KEYS.owner,
      clock,
    });
    [alice, bob] = [world.kernel.as(KEYS.alice), world.kernel.as(KEYS.bob)];
    agent = await spawn('planner');
  });
  beforeEach(() => {
    received.length = 0;
    answers = [];
  });
  after(async () => {
    await stopModelKernels();
    receiver.close();
  });

  const spawn = async (name: string, http = alice): Promise<string> =>
    (await http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['schedule_create', 'schedule_list', 'cron_create', 'cron_cancel'] } } })).body.agent_id;
  const code = async (status: number, method: string, path: string, body?: unknown, http = alice): Promise<string> => (await http.expect(status, method, path, body)).body.code;
  const job = async (fields: object = {}): Promise<string> =>
    (await alice.expect(200, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: { kind: 'every', every_secs: 3_600 }, prompt: 'what is new?', ...fields })).body.job_id;
  const read = async (id: string) => (await alice.expect(200, 'GET', `/api/cron/jobs/${id}`)).body;
  const fires = async (id: string): Promise<FireBody[]> => (await alice.expect(200, 'GET', `/api/cron/jobs/${id}/fires`)).body.fires;
  const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
    for (let tries = 0; tries < 1_600; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const ended = (id: string, count: number): Promise<FireBody[]> =>
    until(async () => {
      const all = await fires(id);
      return all.length >= count && all.every(({ status }) => status !== 'running') ? all : undefined;
    }, `${count} ended fires of ${id}`);

  it('J1 are one store with two views, and nobody else’s', async () => {
    const made = (await alice.expect(200, 'POST', '/api/schedules', { agent_id: 'planner', cron: '0 9 * * 1-5', tz: 'Europe/Berlin', prompt: 'good morning', name: 'Morning' })).body;
    expect(made).to.deep.include({ name: 'Morning', cron: '0 9 * * 1-5', tz: 'Europe/Berlin', agent_id: agent, message: 'good morning', enabled: true, last_run: null, session_mode: 'persistent' });
    expect(await read(made.id)).to.deep.include({
      schedule: { kind: 'cron', expr: '0 9 * * 1-5', tz: 'Europe/Berlin' },
      action: { kind: 'agent_turn', message: 'good morning' },
      next_run: made.next_run,
    });
    const id = await job({ name: 'Hourly' });
    expect((await alice.expect(200, 'GET', `/api/schedules/${id}`)).body.cron).to.equal('every 3600s');
    const { body } = await alice.expect(200, 'GET', `/api/schedules?agent_id=${agent}`);
    expect([body.total, body.items.map(({ name }: { name: string }) => name)]).to.deep.equal([2, ['Hourly', 'Morning']]);
    for (const [method, path, said] of [
      ['GET', `/api/cron/jobs/${id}`],
      ['GET', `/api/schedules/${id}`],
      ['PUT', `/api/cron/jobs/${id}`, { name: 'mine' }],
      ['PUT', `/api/cron/jobs/${id}/enable`, { enabled: false }],
      ['GET', `/api/cron/jobs/${id}/fires`],
      ['GET', `/api/cron/jobs/${id}/status`],
      ['POST', `/api/schedules/${id}/run`],
      ['DELETE', `/api/schedules/${id}`],
    ] as const)
      expect(await code(404, method, path, said, bob), path).to.equal('schedules_job_not_found');
    expect((await bob.expect(200, 'GET', '/api/cron/jobs')).body.total).to.equal(0);
    expect(await code(404, 'POST', '/api/schedules', { agent_id: agent, cron: 'every 5m' }, bob)).to.equal('schedules_agent_not_found');
    expect((await alice.expect(200, 'DELETE', `/api/schedules/${made.id}`)).body).to.deep.equal({ status: 'removed', schedule_id: made.id });
    expect((await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`)).body).to.deep.equal({ status: 'deleted', job_id: id });
    await alice.expect(404, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('J3 refuse what cannot fire or cannot be done, by name', async () => {
    const cases: Array<[object, string]> = [
      [{ schedule: '0 9 * *' }, 'schedules_bad_plan'],
      [{ schedule: '0 0 30 2 *' }, 'schedules_bad_plan'],
      [{ schedule: 'every 5s' }, 'schedules_bad_plan'],
      [{ schedule: 'each morning' }, 'schedules_bad_plan'],
      [{ schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'Mars/Olympus' } }, 'schedules_bad_plan'],
      [{ schedule: { kind: 'at', at: '2020-01-01T00:00:00Z' } }, 'schedules_bad_plan'],
      [{ schedule: { kind: 'at', at: '2099-01-01T00:00:00Z' } }, 'schedules_bad_plan'],
      [{ schedule: '0 9 * * *', one_shot: true }, 'schedules_unsupported'],
      [{ name: '\u0007' }, 'schedules_bad_name'],
      [{ prompt: 'a', action: { kind: 'agent_turn', message: 'b' } }, 'schedules_two_values'],
      [{ delivery: { kind: 'webhook', url: 'http://10.0.0.8/x' } }, 'schedules_unsafe_url'],
      [{ delivery: { kind: 'webhook', url: 'http://169.254.169.254/latest' } }, 'schedules_unsafe_url'],
      [{ delivery_targets: [{ kind: 'webhook', url: 'file:///etc/passwd' }] }, 'schedules_unsafe_url'],
    ];
    for (const [fields, wanted] of cases) expect(await code(400, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h', prompt: 'x', ...fields }), JSON.stringify(fields)).to.equal(wanted);
    for (const [fields, wanted] of [
      [{ cron: 'every 1h', prompt: 'x' }, 'schedules_no_target'],
      [{ cron: 'every 1h', agent_id: agent, workflow_id: 'w' }, 'schedules_two_targets'],
    ] as const)
      expect(await code(400, 'POST', '/api/schedules', fields)).to.equal(wanted);
    expect(await code(400, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h' })).to.equal('schedules_no_words');
    for (const kind of ['channel', 'last_channel', 'email', 'local_file'])
      await alice.expect(400, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h', prompt: 'x', delivery: { kind, to: 'x' } });
    const id = await job();
    expect(await code(400, 'PUT', `/api/cron/jobs/${id}`, { session_mode: 'new' })).to.equal('schedules_fixed');
    await alice.expect(400, 'GET', '/api/cron/jobs/no-uuid');
    expect(await code(404, 'GET', `/api/cron/jobs/${MISSING}`)).to.equal('schedules_job_not_found');
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('F1 F2 fire once when they are due, in a conversation of their own, and deliver the answer', async () => {
    world.model.script([{ text: 'all quiet' }]);
    const from = world.model.requests.length;
    const id = await job({ delivery: { kind: 'webhook', url: hook } });
    const due = Date.parse((await read(id)).next_run);
    ahead += 61 * MINUTE;
    const [fire] = await ended(id, 1);
    expect(fire).to.include({ status: 'ok', output: 'all quiet' });
    expect(world.model.requests.length - from).to.equal(1);
    const after = await read(id);
    expect(after).to.include({ last_status: 'ok', fire_count: 1, consecutive_errors: 0 });
    expect(Date.parse(after.next_run)).to.be.greaterThan(due);
    const own = (await alice.expect(200, 'GET', `/api/agents/${agent}`)).body.session_id;
    expect(fire?.session_id).to.be.a('string').and.not.equal(own);
    await until(async () => ((await fires(id))[0]?.delivered === '1/1' ? true : undefined), 'the delivery');
    expect(JSON.parse(received[0]?.body ?? '{}')).to.include({ agent_id: agent, response: 'all quiet' });
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('E1 E2 E3 deliver again with the same id until the target takes it', async () => {
    world.model.script([{ text: 'news' }]);
    answers = [500, 503];
    const id = await job({ enabled: false, delivery: { kind: 'webhook', url: hook }, delivery_targets: [] });
    await alice.expect(200, 'POST', `/api/schedules/${id}/run`);
    await until(async () => (received.length === 1 ? true : undefined), 'the first attempt');
    expect((await fires(id))[0]?.delivered).to.equal('0/1');
    // The next attempt is due at the earliest once the one before is settled: time goes on until it comes.
    for (const count of [2, 3])
      await until(async () => {
        if (received.length >= count) return true;
        ahead += MINUTE;
        return undefined;
      }, `attempt ${count}`);
    await until(async () => ((await fires(id))[0]?.delivered === '1/1' ? true : undefined), 'the delivery');
    expect(new Set(received.map((one) => one.id)).size).to.equal(1);
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('F3 say why they did not fire: missed, still running, suspended', async () => {
    const late = await job({ missed: 'skip', schedule: { kind: 'every', every_secs: 600 } });
    const once = await job({ missed: 'once', schedule: { kind: 'every', every_secs: 600 } });
    const all = await job({ missed: 'all', schedule: { kind: 'every', every_secs: 600 }, overlap: 'queue' });
    world.model.script(() => ({ text: 'done' }));
    ahead += 35 * MINUTE;
    expect((await ended(late, 1))[0]).to.include({ status: 'skipped' });
    expect((await fires(late))[0]?.reason).to.match(/^missed/);
    expect((await ended(once, 1)).map(({ kind, status }) => [kind, status])).to.deep.equal([['late', 'ok']]);
    expect((await ended(all, 3)).map(({ status }) => status)).to.deep.equal(['ok', 'ok', 'ok']);
    for (const id of [late, once, all]) await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);

    await alice.expect(200, 'POST', '/api/agents/bulk/stop', { agent_ids: [agent] });
    const asleep = await job();
    const state = (await alice.expect(200, 'GET', `/api/agents/${agent}`)).body.state;
    ahead += 61 * MINUTE;
    const [fire] = await ended(asleep, 1);
    expect([state, fire?.status, fire?.reason]).to.deep.equal(['Suspended', 'skipped', 'planner is suspended']);
    await alice.expect(200, 'POST', '/api/agents/bulk/start', { agent_ids: [agent] });
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${asleep}`);
  });

  it('F5 are disabled after five failures in a row, and enabled again they begin anew', async () => {
    const id = await job();
    world.model.script(() => ({ status: 400, error: 'no' }));
    for (let count = 1; count <= 5; count += 1) {
      ahead += 61 * MINUTE;
      await ended(id, count);
    }
    expect(await read(id)).to.include({ enabled: false, auto_disabled: true, consecutive_errors: 5, next_run: null });
    const { body: status } = await alice.expect(200, 'GET', `/api/cron/jobs/${id}/status`);
    expect(status).to.deep.include({ auto_disabled: true, consecutive_errors: 5 });
    expect(status.why)
      .to.contain('It is disabled, because it failed 5 times in a row.')
      .and.match(/It fired last at \S+ and failed \(run \S+\): /);
    const { body: noted } = await alice.expect(200, 'GET', '/api/notices');
    expect(JSON.stringify(noted)).to.contain('failed five times in a row and was disabled').and.contain(id);
    expect((await alice.expect(200, 'PUT', `/api/cron/jobs/${id}/enable`, {})).body).to.include({ id, enabled: true });
    expect(await read(id)).to.include({ auto_disabled: false, consecutive_errors: 0 });
    world.model.script(() => ({ text: 'fine' }));
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('F5 without an agent send their notice by the first agent of their owner', async () => {
    const steps = [{ name: 'gate', mode: 'gate', gate: { op: 'eq', value: 'never' } }];
    const workflow = (await alice.expect(201, 'POST', '/api/workflows', { name: 'always fails', steps })).body.workflow_id;
    const id = await job({ agent_id: undefined, prompt: undefined, action: { kind: 'workflow', workflow_id: workflow } });
    for (let count = 1; count <= 5; count += 1) {
      ahead += 61 * MINUTE;
      await ended(id, count);
    }
    expect(await read(id)).to.include({ enabled: false, auto_disabled: true });
    expect(JSON.stringify((await alice.expect(200, 'GET', '/api/notices')).body)).to.contain(`svc cron enable ${id}`);
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('F3 after a long time off make up for what is not too late, and say what was skipped', async () => {
    world.model.script(() => ({ text: 'done' }));
    const fields = { schedule: { kind: 'every', every_secs: 3_600 }, max_late_secs: 9_000, overlap: 'allow' };
    const [once, all] = [await job({ ...fields, missed: 'once' }), await job({ ...fields, missed: 'all' })];
    ahead += 5 * 60 * MINUTE + 30 * MINUTE;
    const shown = (list: FireBody[]) => list.map(({ kind, status }) => `${kind} ${status}`).reverse();
    expect(shown(await ended(once, 2))).to.deep.equal(['scheduled skipped', 'late ok']);
    expect((await fires(once))[1]?.reason).to.match(/^missed: it was due 1\d{4} s ago, more than max_late_secs \(9000\); so are all times before 20/);
    expect(shown(await ended(all, 3)).sort()).to.deep.equal(['late ok', 'late ok', 'scheduled skipped']);
    for (const id of [once, all]) await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('F3 are replaced by their next fire where they say so, workflows too', async () => {
    const workflow = (await alice.expect(201, 'POST', '/api/workflows', { name: 'long', steps: [{ name: 'sleep', mode: 'wait', duration_secs: 86_400 }] })).body.workflow_id;
    const id = await job({ agent_id: undefined, prompt: undefined, overlap: 'cancel', action: { kind: 'workflow', workflow_id: workflow } });
    ahead += 61 * MINUTE;
    await until(async () => ((await fires(id))[0]?.run_id ? true : undefined), 'the first fire');
    ahead += 61 * MINUTE;
    const [second, first] = await until(async () => ((list) => (list.length === 2 && list[1]?.status === 'error' && list[0]?.run_id ? list : undefined))(await fires(id)), 'the second fire');
    expect([second?.status, first?.status]).to.deep.equal(['running', 'error']);
    expect((await alice.expect(200, 'GET', `/api/workflows/runs/${first?.run_id}`)).body.state).to.equal('cancelled');
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('are stopped by their root, with the runs of agents below, and by nobody else', async () => {
    world.model.script(() => ({ hang: true }));
    const id = await job();
    ahead += 61 * MINUTE;
    const runId = await until(async () => (await fires(id))[0]?.run_id ?? undefined, 'the run');
    const { root_id: root } = (await alice.expect(200, 'GET', `/api/runs/${runId}`)).body;
    expect(root).not.to.equal(runId);
    expect(await code(404, 'POST', `/api/runs/${root}/stop`, undefined, bob)).to.equal('run_not_found');
    expect((await alice.expect(200, 'POST', `/api/runs/${root}/stop`)).body).to.deep.equal({ status: 'ok', run_id: root, stopped: 1 });
    expect((await ended(id, 1))[0]?.status).to.equal('error');
    expect((await alice.expect(200, 'GET', `/api/runs/${runId}`)).body.status).to.equal('cancelled');
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('P3 with a date fire once, and stay readable', async () => {
    world.model.script(() => ({ text: 'fine' }));
    const at = new Date(Date.now() + ahead + 5 * MINUTE).toISOString();
    const id = await job({ schedule: { kind: 'at', at }, one_shot: true });
    ahead += 6 * MINUTE;
    await ended(id, 1);
    expect(await read(id)).to.include({ enabled: false, next_run: null, one_shot: true, last_status: 'ok' });
    expect(await code(400, 'PUT', `/api/cron/jobs/${id}/enable`, {})).to.equal('schedules_bad_plan');
    await alice.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('run now with their answer, whether they are enabled or not, and keep their next time', async () => {
    world.model.script(() => ({ text: 'at once' }));
    const id = await job({ enabled: false });
    const { body } = await alice.expect(200, 'POST', `/api/schedules/${id}/run`);
    expect(body).to.include({ status: 'completed', schedule_id: id, agent_id: agent, response: 'at once' });
    expect(await read(id)).to.include({ enabled: false, next_run: null, fire_count: 1 });
    world.model.script(() => ({ status: 400, error: 'no' }));
    expect(await code(500, 'POST', `/api/schedules/${id}/run`)).to.equal('schedules_fire_failed');
    world.model.script(() => ({ text: 'fine' }));
    const event = await job({ action: { kind: 'system_event', text: 'tick' }, prompt: undefined });
    expect((await alice.expect(200, 'POST', `/api/schedules/${event}/run`)).body).to.include({ status: 'completed', type: 'system_event' });
    for (const one of [id, event]) await alice.expect(200, 'DELETE', `/api/cron/jobs/${one}`);
  });

  it('P2 say the next times of an expression in its zone', async () => {
    const { times } = (await alice.expect(200, 'GET', '/api/cron/next?expr=0+9+*+*+*&tz=Europe/Berlin&count=3')).body;
    expect(times).to.have.length(3);
    for (const { local } of times) expect(local).to.match(/ 09:00$/);
    await alice.expect(400, 'GET', '/api/cron/next?expr=nonsense');
  });

  it('are listed from one place: an offset, or where the page before ended', async () => {
    for (const path of ['/api/cron/jobs', '/api/schedules']) expect(await code(400, 'GET', `${path}?offset=1&after=x`)).to.equal('collection_two_pages');
  });

  it('are created and paused by an agent for itself alone, within its limit', async () => {
    const other = await job({ name: 'of nobody else' });
    const onlooker = await spawn('onlooker');
    const say = async (calls: object[], whose = agent): Promise<string> => {
      world.model.script([{ toolCalls: calls as never }, { text: 'ok' }]);
      const from = world.model.requests.length;
      await alice.expect(200, 'POST', `/api/agents/${whose}/message`, { message: 'go' });
      return JSON.stringify(world.model.requests.slice(from).map(({ body }) => body.messages));
    };
    expect(await say([{ name: 'schedule_create', args: { description: 'water the plants', schedule: 'every 2h' } }])).to.contain('every 7200s');
    const mine = (await alice.expect(200, 'GET', `/api/cron/jobs?agent_id=${agent}`)).body.jobs.find(({ action }: { action: { message?: string } }) => action.message === 'water the plants');
    // An agent's words stay an agent's words; a person's that replace them are a person's.
    const fired = async (words: string): Promise<string | undefined> => {
      await alice.expect(200, 'POST', `/api/schedules/${mine.id}/run`);
      const file = await openSqlite({ file: join(world.kernel.home, 'data/svc.db'), readOnly: true, maxStatements: 5 });
      const [entry] = await file.all("SELECT body FROM sessions__entries WHERE kind = 'user' AND body LIKE ?", [`%"text":"${words}"%`]);
      await file.close();
      return entry && JSON.stringify(JSON.parse(String(entry.body)).origin ?? 'a person');
    };
    expect(await fired('water the plants')).to.match(/UntrustedAgent.*sessionId/);
    await alice.expect(200, 'PUT', `/api/schedules/${mine.id}`, { prompt: 'feed the fish' });
    expect(await fired('feed the fish')).to.equal('"a person"');
    expect(await say([{ name: 'schedule_create', args: { description: 'x', schedule: 'now and then' } }])).to.contain('every 30m');
    const hourly = { name: 'hourly', schedule: { kind: 'every', every_secs: 3_600 } };
    const leak = { ...hourly, action: { kind: 'agent_turn', message: 'say all' }, delivery: { kind: 'webhook', url: 'https://example.com/leak' } };
    expect(await say([{ name: 'cron_create', args: leak }]))
      .to.contain('network')
      .and.not.contain('every 3600s');
    expect(await say([{ name: 'schedule_create', args: { description: 'say all', schedule: 'every 1h', delivery: 'https://example.com/leak' } }]))
      .to.contain('network')
      .and.not.contain('every 3600s');
    expect(await say([{ name: 'cron_create', args: { ...hourly, action: { kind: 'workflow', workflow_id: 'payroll' } } }]))
      .to.contain('agent_message')
      .and.not.contain('every 3600s');
    expect(await say([{ name: 'cron_cancel', args: { job_id: other } }], onlooker)).to.contain(`There is no job ${other}`);
    expect((await read(other)).enabled).to.equal(true);
    const there = (await alice.expect(200, 'GET', `/api/cron/jobs?agent_id=${agent}`)).body.total;
    for (let count = there; count < 20; count += 1) await job({ name: `number ${count}` });
    expect(await code(400, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h', prompt: 'x' })).to.equal('schedules_too_many');
    await alice.expect(200, 'DELETE', `/api/agents/${agent}`);
    await until(async () => ((await alice.expect(200, 'GET', '/api/cron/jobs')).body.total === 0 ? true : undefined), 'the jobs to go with their agent');
  });
});
