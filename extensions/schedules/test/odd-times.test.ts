/** Jobs when a clock is set, and when their agent goes. */
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { systemClock } from '@svc/platform/clock/clock';
import { OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';

const MINUTE = 60_000;

describe('jobs at odd times', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let agent: string;
  let ahead = 0;
  before(async () => {
    const real = systemClock();
    world = await bootWithModel(undefined, { config: OPEN_RATE, clock: { ...real, now: () => real.now() + ahead, iso: () => new Date(real.now() + ahead).toISOString() } });
    agent = (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'clockwork' } })).body.agent_id;
  });
  after(() => stopModelKernels());

  const job = async (): Promise<string> =>
    (await world.http.expect(200, 'POST', '/api/cron/jobs', { agent_id: agent, schedule: { kind: 'every', every_secs: 3_600 }, prompt: 'what is new?' })).body.job_id;
  const fires = async (id: string): Promise<Array<{ due_at: string; status: string }>> => (await world.http.expect(200, 'GET', `/api/cron/jobs/${id}/fires`)).body.fires;
  const settled = async (id: string, count: number): Promise<Array<{ due_at: string; status: string }>> => {
    for (let tries = 0; tries < 600; tries += 1) {
      const all = await fires(id);
      if (all.length >= count && all.every(({ status }) => status !== 'running')) return all;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`${count} fires never came`);
  };
  /** Longer than a look at what is due takes. */
  const pass = () => new Promise((resolve) => setTimeout(resolve, 1_500));

  it('a clock that is set forward and back fires no time twice, and goes on', async () => {
    const id = await job();
    ahead += 61 * MINUTE;
    await settled(id, 1);
    ahead -= 120 * MINUTE;
    await pass();
    ahead += 120 * MINUTE;
    await pass();
    expect((await fires(id)).length, 'the same hour again').to.equal(1);
    ahead += 61 * MINUTE;
    const all = await settled(id, 2);
    expect(new Set(all.map(({ due_at: due }) => due)).size).to.equal(2);
    await world.http.expect(200, 'DELETE', `/api/cron/jobs/${id}`);
  });

  it('an agent that goes takes its jobs with it, and what they were asking', async () => {
    const id = await job();
    world.model.script(() => ({ text: 'slow', delayMs: 3_000 }));
    ahead += 61 * MINUTE;
    while ((await fires(id)).length === 0) await new Promise((resolve) => setTimeout(resolve, 25));
    await world.http.expect(200, 'DELETE', `/api/agents/${agent}?confirm=true`);
    await world.http.expect(404, 'GET', `/api/cron/jobs/${id}`);
    expect((await world.http.expect(200, 'GET', '/api/cron/jobs')).body.total).to.equal(0);
    const active = (await world.http.expect(200, 'GET', '/api/runs?status=running')).body.runs.filter(({ agent_id: of }: { agent_id: string }) => of === agent);
    expect(active).to.deep.equal([]);
  });
});
