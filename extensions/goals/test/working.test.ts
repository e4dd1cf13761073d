/** Agents that work at goals, over HTTP, with a model on its wire. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';

interface Work {
  readonly run_id: string;
  readonly phase: string;
  readonly iteration: number;
  readonly last_progress: number | null;
  readonly last_error: string | null;
}

describe('work at a goal', function () {
  this.timeout(60_000);
  let home: string;
  let world: ModelKernel;
  const boot = async (): Promise<void> => {
    world = await bootWithModel(undefined, { home });
  };
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-goals-'));
    await boot();
  });
  after(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  const add = async (fields: object = {}): Promise<string> => (await world.http.expect(200, 'POST', '/api/goals', { title: 'Launch the site', agent_id: world.agent.id, ...fields })).body.id;
  const goal = async (id: string) => (await world.http.expect(200, 'GET', `/api/goals/${id}`)).body;
  const start = async (id: string, body?: object): Promise<Work> => (await world.http.expect(200, 'POST', `/api/goals/${id}/start`, body)).body.run;
  const look = async (id: string): Promise<{ running: boolean; run?: Work }> => (await world.http.expect(200, 'GET', `/api/goals/${id}/run`)).body;
  const until = async (id: string, isReady: (found: { running: boolean; run?: Work }) => boolean): Promise<Work> => {
    for (let tries = 0; ; tries += 1) {
      const found = await look(id);
      if (found.run && isReady(found)) return found.run;
      if (tries > 800) throw new Error(`it never came: ${JSON.stringify(found)}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const over = (id: string): Promise<Work> => until(id, ({ running }) => !running);
  const says = (...texts: string[]): void => {
    const left = [...texts];
    world.model.script(() => ({ text: left.length > 1 ? (left.shift() ?? '') : (left[0] ?? '') }));
  };

  it('N1 N2 goes turn by turn until it is done', async () => {
    says('The first half.\nGOAL_PROGRESS: 50', '**GOAL_DONE**');
    const id = await add({ description: 'With a map' });
    expect(await look(id)).to.deep.equal({ running: false });
    expect(await start(id)).to.deep.include({ phase: 'running', iteration: 0, max_iterations: 25, goal_id: id, agent_id: world.agent.id });
    expect((await until(id, ({ run }) => run?.iteration === 1)).last_progress).to.equal(50);
    expect(await goal(id)).to.include({ status: 'in_progress', progress: 50 });
    expect(await over(id)).to.deep.include({ phase: 'finished', iteration: 2, last_progress: 100, last_error: null });
    expect(await goal(id)).to.include({ status: 'completed', progress: 100 });
    const said = JSON.stringify(world.model.requests.at(-1)?.body);
    expect(said).to.contain('turn 2 of 25').and.contain('With a map').and.contain('The first half.');
    const runs = (await world.http.expect(200, 'GET', '/api/tasks/list')).body.tasks;
    expect(
      runs.some((one: { id: string }) => one.id === ''),
      'turns are below the work',
    ).to.equal(false);
  });

  it('N2 ends where it is blocked, and says why', async () => {
    says('I lack the password.\nGOAL_BLOCKED: I need the password of the host');
    const id = await add();
    await start(id);
    expect(await over(id)).to.deep.include({ phase: 'blocked', iteration: 1, last_error: 'I need the password of the host' });
    expect((await goal(id)).status).to.equal('in_progress');
  });

  it('N2 ends after its turns', async () => {
    says('GOAL_PROGRESS: 10');
    const id = await add();
    await start(id, { max_iterations: 1 });
    expect(await over(id)).to.deep.include({ phase: 'max_iterations_reached', iteration: 1, last_progress: 10 });
    for (const max_iterations of [0, 501, 'many']) await world.http.expect(400, 'POST', `/api/goals/${id}/start`, { max_iterations });
    const nobody = await add({ agent_id: null });
    expect((await world.http.expect(400, 'POST', `/api/goals/${nobody}/start`, {})).body.code).to.equal('goals_no_agent');
  });

  it('N2 ends after three turns that met a rate limit', async () => {
    world.model.script(() => ({ status: 429, error: 'slow down' }));
    const id = await add();
    await start(id);
    const { phase, iteration, last_error: why } = await over(id);
    expect([phase, iteration]).to.deep.equal(['rate_limited', 0]);
    expect(why).to.match(/rate/);
  });

  it('N3 is stopped, and replaced by another start', async () => {
    let asked = 0;
    world.model.script(() => {
      asked += 1;
      return { text: 'GOAL_PROGRESS: 20' };
    });
    const id = await add();
    const first = await start(id);
    const second = await start(id);
    expect(second.run_id).not.to.equal(first.run_id);
    await until(id, ({ run }) => (run?.iteration ?? 0) > 0);
    expect((await world.http.expect(200, 'POST', `/api/goals/${id}/stop`)).body).to.deep.equal({ ok: true, stopped: true });
    expect(await over(id)).to.deep.include({ run_id: second.run_id, phase: 'stopped', last_error: 'a person stopped it' });
    const before = asked;
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect(asked, 'no turn after the stop').to.equal(before);
    expect((await world.http.expect(200, 'POST', `/api/goals/${id}/stop`)).body).to.deep.equal({ ok: true, stopped: false });
    expect((await world.http.expect(200, 'DELETE', `/api/goals/${id}`)).status).to.equal(200);
    await world.http.expect(404, 'GET', `/api/goals/${id}/run`);
  });

  it('N1 goes on after a restart, where it was', async () => {
    says('GOAL_PROGRESS: 30');
    const id = await add();
    const { run_id: work } = await start(id, { max_iterations: 3 });
    await until(id, ({ run }) => run?.iteration === 1);
    await stopModelKernels();
    await boot();
    says('GOAL_PROGRESS: 60');
    expect(await over(id)).to.deep.include({ run_id: work, phase: 'max_iterations_reached', iteration: 3, last_progress: 60 });
  });
});
