/** Many fires at once: how many are begun, and what a restart in their midst does to them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import type { FireRow } from '../src/contract.js';
import { type YearClock, yearClock } from './year-clock.js';

const HOUR_MS = 3_600_000;

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
      { home, clock, config: `${OPEN_RATE}${config}` },
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
    for (let index = 0; index < 12; index += 1) await job(`job ${index}`, index % 2 === 0 ? { action: { kind: 'workflow', workflow_id: workflow } } : {});
    for (let round = 1; round <= 3; round += 1) {
      clock.setAhead(HOUR_MS + 1_000);
      await until(async () => (await fires()).length > 12 * (round - 1));
      for (let step = 0; step < round; step += 1) {
        await new Promise((resolve) => setTimeout(resolve, 12));
        clock.setAhead(1_000);
      }
      await world.kernel.stop();
      await start('[schedules]\nconcurrency = 4\n');
      const running = setInterval(() => clock.setAhead(1_000), 20);
      await ended(12 * round).finally(() => clearInterval(running));
    }
    const all = await fires();
    expect(all.map(({ status, reason }) => `${status} ${reason}`)).to.deep.equal(all.map(() => 'ok null'));
    expect(new Set(all.map(({ run_id: run }) => run)).size).to.equal(all.length);
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
});
