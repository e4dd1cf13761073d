/** Settings and keys of agent.toml for what runs by itself: each does what it says. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const SETTINGS = `cron_session_max_messages = 2
${OPEN_RATE}
[triggers]
cooldown_secs = 0
max_per_event = 2
max_per_agent = 4
[workflows]
max_run_secs = 1
[inbox]
enabled = true
poll_interval_secs = 1
default_agent = "assistant"
`;
const POSTS = 6;

interface Fire {
  readonly status: string;
  readonly reason: string | null;
  readonly run_id: string | null;
}

describe('settings of what runs by itself', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  before(async () => {
    world = await bootWithModel(undefined, { config: SETTINGS });
  });
  after(() => stopModelKernels());
  /** No question is answered until it is opened. */
  const closedModel = (): (() => void) => {
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    world.model.script(async () => {
      await gate;
      return { text: 'done' };
    });
    return open;
  };
  beforeEach(() => world.model.script(() => ({ text: 'done' })));

  const spawn = async (name: string, manifest: object = {}): Promise<string> =>
    (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name, capabilities: { tools: ['*'] }, assignee_wake: false, ...manifest } })).body.agent_id;
  const trigger = async (agent: string, prompt: string, more: object = {}): Promise<string> =>
    (await world.http.expect(201, 'POST', '/api/triggers', { agent_id: agent, pattern: { task_posted: { assignee_match: 'self' } }, prompt_template: prompt, ...more })).body.trigger_id;
  const post = (title: string, agent: string) => world.http.expect(200, 'POST', '/api/comms/task', { title, assigned_to: agent });
  const history = async (id: string): Promise<Fire[]> => (await world.http.expect(200, 'GET', `/api/triggers/${id}/history`)).body.history;
  const until = async <T>(look: () => T | undefined | Promise<T | undefined>, what: string): Promise<T> => {
    for (let tries = 0; tries < 400; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const asked = (words: string): number => world.model.requests.filter(({ body }) => JSON.stringify(body).includes(words)).length;
  const sessionOf = async (run: string | null): Promise<string> => (await world.http.expect(200, 'GET', `/api/runs/${run}`)).body.session_id;

  it('[triggers] max_per_event and max_per_agent, and one conversation unless session_mode says more', async () => {
    const agent = await spawn('limited');
    const ids = [await trigger(agent, 'first'), await trigger(agent, 'second'), await trigger(agent, 'third')];
    await post('one for all three', agent);
    const fires = await until(async () => {
      const all = (await Promise.all(ids.map(history))).flat();
      return all.length === 3 && all.every(({ status }) => status !== 'running') ? all : undefined;
    }, 'three fires');
    expect(fires.map(({ status, reason }) => reason ?? status).sort()).to.deep.equal(['limit: 2 triggers fired for this event already ([triggers] max_per_event)', 'ok', 'ok']);
    const sessions = await Promise.all(fires.flatMap(({ run_id: run }) => (run === null ? [] : [sessionOf(run)])));
    expect([sessions.length, new Set(sessions).size]).to.deep.equal([2, 1]);
    await trigger(agent, 'fourth', { enabled: false });
    expect((await world.http.expect(400, 'POST', '/api/triggers', { agent_id: agent, pattern: 'all' })).body.code).to.equal('triggers_too_many');
  });

  it('max_concurrent_invocations, session_mode and assignee_wake of agent.toml', async () => {
    const open = closedModel();
    const [many, single] = [await spawn('many', { max_concurrent_invocations: 64, session_mode: 'new' }), await spawn('single', { session_mode: 'new' })];
    const [ofMany, ofSingle] = [await trigger(many, 'work of many'), await trigger(single, 'work of single')];
    for (let index = 0; index < POSTS; index += 1) {
      await post(`for single ${index}`, single);
      await post(`for many ${index}`, many);
    }
    await until(() => (asked('work of many') > 1 && asked('work of single') > 0 ? true : undefined), 'two at the same time');
    const runs = await until(async () => ((begun) => (begun.length > 1 ? begun : undefined))((await history(ofMany)).flatMap(({ run_id: run }) => run ?? [])), 'two runs');
    const sessions = await Promise.all(runs.map(sessionOf));
    expect(new Set(sessions).size).to.equal(runs.length);
    expect(asked('work of single'), 'one place').to.equal(1);
    // Each task wakes its agent, unless its manifest says no.
    expect((await world.http.expect(200, 'GET', `/api/runs?agent_id=${single}`)).body.runs).to.have.length(1);
    open();
    await until(async () => ((await Promise.all([ofMany, ofSingle].map(history))).flat().every(({ status }) => status === 'ok') ? true : undefined), 'the end of all fires');
    expect(asked('work of single')).to.be.at.least(POSTS);
  });

  it('cron_session_max_messages begins a new conversation', async () => {
    const agent = await spawn('daily');
    const { job_id: job } = (await world.http.expect(200, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: 'every 1h', prompt: 'what is new?' })).body;
    const runs: string[] = [];
    for (let index = 0; index < 2; index += 1) runs.push((await world.http.expect(200, 'POST', `/api/schedules/${job}/run`)).body.run_id);
    expect(new Set(await Promise.all(runs.map(sessionOf))).size).to.equal(2);
  });

  it('[workflows] max_run_secs ends a run, whatever the workflow says', async () => {
    const open = closedModel();
    const begun = Date.now();
    await spawn('slow');
    const { workflow_id: id } = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'slow', steps: [{ name: 'a', agent: 'slow', input: 'x' }], total_timeout_secs: 600 })).body;
    const { body, status } = await world.http.post(`/api/workflows/${id}/run`, { input: 'x' });
    expect([status >= 400, JSON.stringify(body)].join()).to.match(/^true,.*may work 1 s/);
    expect(Date.now() - begun, 'it is looked at when the time is over').to.be.below(20_000);
    open();
  });

  it('[inbox] default_agent gets files that name nobody', async () => {
    const { directory } = (await world.http.expect(200, 'GET', '/api/inbox/status')).body;
    await mkdir(directory, { recursive: true });
    await writeFile(join(directory, 'note.txt'), 'a note for nobody in particular');
    await until(() => (asked('a note for nobody in particular') > 0 ? true : undefined), 'the question');
    const [run] = (await world.http.expect(200, 'GET', '/api/tasks/list')).body.tasks;
    expect(run).to.include({ channel: 'inbox', agent_name: 'assistant' });
  });
});
