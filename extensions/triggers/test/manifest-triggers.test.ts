/** `[[triggers]]` and `schedule` of agent.toml over HTTP: triggers and jobs come and go with the manifest. */
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

interface Shown {
  readonly id: string;
  readonly pattern: unknown;
  readonly prompt_template: string;
  readonly fire_count: number;
  readonly target_agent_id: string | null;
}

describe('a manifest that has its agent work without being asked', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  before(async () => {
    world = await bootWithModel();
  });
  after(() => stopModelKernels());

  const spawn = async (manifest: object): Promise<string> => (await world.http.expect(201, 'POST', '/api/agents', { manifest })).body.agent_id;
  const change = (id: string, manifest_toml: string) => world.http.expect(200, 'PATCH', `/api/agents/${id}`, { manifest_toml });
  const triggersOf = async (id: string): Promise<Shown[]> => (await world.http.expect(200, 'GET', `/api/triggers?agent_id=${id}`)).body.triggers;
  const jobsOf = async (id: string) => (await world.http.expect(200, 'GET', `/api/cron/jobs?agent_id=${id}`)).body.jobs;
  const until = async <T>(look: () => Promise<T>, isReady: (found: T) => boolean): Promise<T> => {
    for (let tries = 0; ; tries += 1) {
      const found = await look();
      if (isReady(found)) return found;
      if (tries > 400) throw new Error(`it never came: ${JSON.stringify(found)}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const refused = async (manifest: object): Promise<[string, string]> => {
    const { body } = await world.http.expect(400, 'POST', '/api/agents', { manifest: { name: 'never', ...manifest } });
    return [body.code, body.error];
  };

  it('M1 makes its triggers, keeps what stays the same and deletes what it lists no more', async () => {
    const id = await spawn({
      name: 'watcher',
      triggers: [
        { pattern: 'task_posted', prompt_template: 'A task: {{event}}', max_fires: 9 },
        { pattern: { content_match: { substring: 'deploy' } }, target_agent: world.agent.name, enabled: false },
      ],
    });
    const first = await until(
      () => triggersOf(id),
      (found) => found.length === 2,
    );
    const task = first.find(({ pattern }) => pattern === 'task_posted');
    expect(task).to.deep.include({ prompt_template: 'A task: {{event}}', max_fires: 9, enabled: true });
    expect(first.find(({ pattern }) => pattern !== 'task_posted')).to.deep.include({ target_agent_id: world.agent.id, enabled: false });
    await change(id, '[[triggers]]\npattern = "task_posted"\nprompt_template = "A task: {{event}}"\nmax_fires = 9\n[[triggers]]\npattern = "lifecycle"\n');
    const second = await until(
      () => triggersOf(id),
      (found) => found.some(({ pattern }) => pattern === 'lifecycle'),
    );
    expect(second.map(({ pattern }) => JSON.stringify(pattern)).sort()).to.deep.equal(['"lifecycle"', '"task_posted"']);
    expect(second.find(({ pattern }) => pattern === 'task_posted')?.id).to.equal(task?.id);
    expect((await world.http.expect(200, 'GET', `/api/agents/${id}`)).body.manifest_toml).to.contain('[[triggers]]');
    await world.http.expect(200, 'DELETE', `/api/agents/${id}?confirm=true`);
    await until(
      () => triggersOf(id),
      (found) => found.length === 0,
    );
  });

  it('M2 refuses what no trigger can be, by name', async () => {
    expect(await refused({ triggers: [{ pattern: 'moon_rose' }] })).to.satisfy(([code, words]: [string, string]) => code === 'agents_invalid_manifest' && words.includes('triggers.0.pattern'));
    expect((await refused({ triggers: [{ pattern: 'all', target_agent: 'nobody-here' }] }))[1])
      .to.contain('triggers.0.target_agent')
      .and.contain('nobody-here');
    expect((await refused({ triggers: [{ pattern: 'all', workflow_id: 'no-flow' }] }))[1]).to.contain('no-flow');
    const odd = { name: 'odd', triggers: [{ pattern: 'task_claimed', colour: 'red' }], schedule: { proactive: { conditions: [], shape: 1 } } };
    const { body } = await world.http.expect(201, 'POST', '/api/agents', { manifest: odd });
    expect(body.warnings.join()).to.contain('colour').and.contain('shape');
    await world.http.expect(200, 'DELETE', `/api/agents/${body.agent_id}?confirm=true`);
  });

  it('M3 deletes triggers that it does not list where reconcile_orphans says so', async () => {
    const id = await spawn({ name: 'tidy' });
    await world.http.expect(201, 'POST', '/api/triggers', { agent_id: id, pattern: 'lifecycle' });
    await change(id, 'description = "kept"\n');
    await change(id, 'reconcile_orphans = "delete"\n[[triggers]]\npattern = "task_posted"\n');
    const left = await until(
      () => triggersOf(id),
      (found) => found.length === 1 && found[0]?.pattern === 'task_posted',
    );
    expect(left).to.have.length(1);
    await world.http.expect(200, 'DELETE', `/api/agents/${id}?confirm=true`);
  });

  it('M1 makes the job of its schedule, moves it and deletes it', async () => {
    const id = await spawn({ name: 'clocked', schedule: { periodic: { cron: '0 9 * * 1-5', tz: 'Europe/Berlin', message: 'Good morning' } } });
    const [job] = await until(
      () => jobsOf(id),
      (found) => found.length === 1,
    );
    expect(job).to.deep.include({ name: 'Schedule of clocked', enabled: true });
    expect(job.action).to.deep.include({ kind: 'agent_turn', message: 'Good morning' });
    expect(job.schedule).to.deep.include({ expr: '0 9 * * 1-5', tz: 'Europe/Berlin' });
    await world.http.expect(200, 'PUT', `/api/cron/jobs/${job.id}`, { missed: 'skip' });
    await change(id, 'schedule = { continuous = { check_interval_secs = 20 } }\n');
    const [moved] = await until(
      () => jobsOf(id),
      ([one]) => one?.schedule.kind === 'every',
    );
    expect(moved).to.deep.include({ id: job.id, missed: 'skip' });
    expect(moved.schedule.every_secs).to.equal(60);
    expect((await world.http.expect(200, 'GET', '/api/agents')).body.agents.find((one: { id: string }) => one.id === id).schedule).to.equal('continuous · 60s');
    await change(id, 'schedule = "reactive"\n');
    await until(
      () => jobsOf(id),
      (found) => found.length === 0,
    );
    expect((await refused({ schedule: { periodic: { cron: 'every blue moon' } } }))[1]).to.contain('schedule.periodic.cron');
    expect((await refused({ schedule: { periodic: { cron: '0 0 30 2 *' } } }))[1]).to.contain('schedule.periodic.cron');
    await world.http.expect(200, 'DELETE', `/api/agents/${id}?confirm=true`);
  });

  it('M1 asks it about what its schedule names', async () => {
    const id = await spawn({ name: 'auditor', schedule: { proactive: { conditions: ['event:agent_spawned', 'content:deploy'] } } });
    const made = await until(
      () => triggersOf(id),
      (found) => found.length === 2,
    );
    expect(made.map(({ pattern }) => JSON.stringify(pattern)).sort()).to.deep.equal(['{"agent_spawned":{"name_pattern":"*"}}', '{"content_match":{"substring":"deploy"}}']);
    const other = await spawn({ name: 'newcomer' });
    const fired = await until(
      () => triggersOf(id),
      (found) => found.some(({ fire_count: fires }) => fires > 0),
    );
    expect(fired.find(({ fire_count: fires }) => fires > 0)?.prompt_template).to.contain('{{event}}');
    for (const one of [id, other]) await world.http.expect(200, 'DELETE', `/api/agents/${one}?confirm=true`);
  });
});
