/** Many fires at once: how many are begun, what their time limits count, and what a restart in their midst does to them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import type { FireRow } from '../src/contract.js';
import { type YearClock, yearClock } from './year-clock.js';

const HOUR_MS = 3_600_000;
/** An answer may take as long as the clock is set ahead. */
const PATIENT = '[llm]\nrequest_timeout_secs = 3600\nidle_timeout_secs = 3600\nturn_timeout_secs = 3600\n';
const MINUTE_MS = 60_000;

describe('fires of many jobs at once', function () {
  this.timeout(60_000);
  let home: string;
  let clock: YearClock;
  let world: ModelKernel;
  let agent: string;
  /** Prompts whose answers wait. */
  let waiting: Map<string, () => void>;
  let isHeld: (prompt: string) => boolean;
  const promptOf = (content: unknown): string => String(content).split('\n').at(-1) ?? '';
  const start = async (config = ''): Promise<void> => {
    world = await bootWithModel(
      async ({ body }) => {
        const prompt = promptOf(body.messages.at(-1)?.content);
        if (isHeld(prompt)) await new Promise<void>((resolve) => waiting.set(prompt, resolve));
        return { text: 'done' };
      },
      { home, clock, config: `${OPEN_RATE}${config}`, llm: PATIENT },
    );
  };
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-fires-'));
    clock = yearClock(Date.UTC(2027, 4, 3, 12));
    [waiting, isHeld] = [new Map(), () => false];
  });
  afterEach(async () => {
    for (const release of waiting.values()) release();
    await stopModelKernels();
    clock.close();
    await rm(home, { recursive: true, force: true });
  });

  const spawn = async (): Promise<void> => {
    agent = (await world.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'worker' } })).body.agent_id;
  };
  const job = async (prompt: string, fields: object = {}): Promise<string> => {
    const body = { name: prompt, schedule: { kind: 'every', every_secs: 3_600 }, action: { kind: 'agent_turn', message: prompt, timeout_secs: 120 }, agent_id: agent, session_mode: 'new', ...fields };
    return (await world.http.expect(200, 'POST', '/api/cron/jobs', body)).body.job_id;
  };
  const fires = (): Promise<FireRow[]> =>
    world.kernel.daemon.parts.storage
      .dbFor({ id: 'schedules', tables: ['jobs', 'fires'], isPlatform: true })
      .system('a test')
      .select<FireRow>({ from: 'fires', order: [{ column: 'fired_at' }], limit: 1_000 });
  const ended = (count: number): Promise<void> => until(async () => (await fires()).filter(({ status }) => status !== 'running').length === count);

  it('F2 F3 go on after a restart in their midst, each with one run', async () => {
    await start('[schedules]\nconcurrency = 4\n');
    await spawn();
    const steps = [{ name: 'rest', mode: 'wait', duration_secs: 3 }];
    const { workflow_id: workflow } = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'rest', steps })).body;
    for (let index = 0; index < 6; index += 1) await job(`job ${index}`, index % 2 === 0 ? { action: { kind: 'workflow', workflow_id: workflow } } : {});
    for (let round = 1; round <= 1; round += 1) {
      clock.setAhead(HOUR_MS + 1_000);
      await until(async () => (await fires()).length > 6 * (round - 1));
      for (let step = 0; step < round; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, 12));
        clock.setAhead(1_000);
      }
      await world.kernel.stop();
      await start('[schedules]\nconcurrency = 4\n');
      const running = setInterval(() => clock.setAhead(1_000), 20);
      await ended(6 * round).finally(() => clearInterval(running));
    }
    const all = await fires();
    expect(all.map(({ status, reason }) => `${status} ${reason}`)).to.deep.equal(all.map(() => 'ok null'));
    expect(new Set(all.map(({ run_id: run }) => run)).size).to.equal(all.length);
  });

  it('F4 count working time alone, in jobs and steps of workflows, however long they wait for room', async () => {
    await start('[queue.concurrency]\ncron_lane = 1\n');
    await spawn();
    isHeld = () => true;
    const first = await job('first', { schedule: { kind: 'every', every_secs: 1_800 }, action: { kind: 'agent_turn', message: 'first' } });
    clock.setAhead(HOUR_MS / 2 + 1_000);
    await until(() => waiting.has('first'));
    await world.http.expect(200, 'PUT', `/api/cron/jobs/${first}/enable`, { enabled: false });
    const steps = [{ name: 'only', agent: 'worker', input: 'step', timeout_secs: 120 }];
    const { workflow_id: workflow } = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'one step', steps, total_timeout_secs: 120 })).body;
    const soon = { schedule: { kind: 'at', at: new Date(clock.now() + MINUTE_MS).toISOString() } };
    await job('second', soon);
    await job('third', { ...soon, action: { kind: 'workflow', workflow_id: workflow } });
    clock.setAhead(MINUTE_MS + 1_000);
    const runs = async (status: string): Promise<number> => (await world.http.expect(200, 'GET', `/api/runs?status=${status}`)).body.runs.length;
    await until(async () => (await runs('queued')) === 2);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      clock.setAhead(MINUTE_MS);
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
    expect([await runs('running'), await runs('queued')]).to.deep.equal([1, 2]);
    waiting.get('first')?.();
    for (const next of [1, 2]) {
      await until(() => waiting.size === next + 1);
      const prompt = [...waiting.keys()].at(-1) ?? '';
      for (let looks = 0; looks < 3; looks += 1) {
        clock.setAhead(MINUTE_MS / 2);
        await new Promise((resolve) => setTimeout(resolve, 30));
      }
      waiting.get(prompt)?.();
      await ended(next + 1);
    }
    expect((await fires()).map(({ status, reason }) => `${status} ${reason}`)).to.deep.equal(['ok null', 'ok null', 'ok null']);
  });

  it('F4 begin no more at once than [schedules] concurrency says', async () => {
    await start('[schedules]\nconcurrency = 2\n');
    for (let index = 0; index < 12; index += 1) await job(`word ${index}`, { action: { kind: 'system_event', text: 'now' }, agent_id: undefined, session_mode: undefined });
    clock.setAhead(HOUR_MS + 1_000);
    await ended(12);
    const journal = world.kernel.daemon.parts.storage.dbFor({ id: 'journal', tables: ['runs'], isPlatform: true }).system('a test');
    const runs = await journal.select<{ created_at: string; begun_at: string }>({ from: 'runs', where: { kind: 'cron-fire' }, limit: 100 });
    expect([runs.length, runs.filter(({ created_at: created, begun_at: begun }) => created === begun).length]).to.deep.equal([12, 2]);
  });

  it('F6 go on where the area that they need was off for a moment', async () => {
    await start();
    await spawn();
    const { workflow_id: workflow } = (await world.http.expect(201, 'POST', '/api/workflows', { name: 'rest', steps: [{ name: 'rest', mode: 'wait', duration_secs: 1 }] })).body;
    await job('by a workflow', { action: { kind: 'workflow', workflow_id: workflow } });
    await world.http.expect(200, 'POST', '/api/extensions/workflows/disable');
    clock.setAhead(HOUR_MS + 1_000);
    const journal = world.kernel.daemon.parts.storage.dbFor({ id: 'journal', tables: ['runs'], isPlatform: true }).system('a test');
    await until(async () => (await journal.count('runs', { kind: 'cron-fire', wait_reason: 'retry' })) === 1);
    expect((await fires())[0]?.status).to.equal('running');
    await world.http.expect(200, 'POST', '/api/extensions/workflows/enable');
    const going = setInterval(() => clock.setAhead(1_000), 20);
    await ended(1).finally(() => clearInterval(going));
    expect((await fires()).map(({ status, reason }) => `${status} ${reason}`)).to.deep.equal(['ok null']);
  });
});
