/** A month with a change of the clock in five zones, with restarts: what was due, and what became of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { yearClock } from './year-clock.js';
import { checkAll, goOn, makeJobs, switchedOff, type YearWorld } from './year-jobs.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

describe('a month of jobs', function () {
  this.timeout(180_000);
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-month-'));
  });
  after(async () => {
    await stopModelKernels();
    await rm(home, { recursive: true, force: true });
  });

  it('F1 F3 P1 loses none, doubles none, and says of each skip why', async () => {
    const span = { from: Date.UTC(2027, 2, 8, 12), to: Date.UTC(2027, 3, 6) };
    const clock = yearClock(span.from);
    let world: ModelKernel;
    const start = async (): Promise<void> => {
      world = await bootWithModel(() => ({ text: 'nothing new' }), { home, clock, config: `${OPEN_RATE}[schedules]\nkeep_fires_days = 3650\n` });
    };
    await start();
    const year: YearWorld = { clock, span, kernels: () => [world.kernel], jobs: [], off: [] };
    await makeJobs(year);
    const stop = () => world.kernel.stop();
    for (const [to, offMs] of [
      [Date.UTC(2027, 2, 14, 4), 20_000],
      // Over the change in New York.
      [Date.UTC(2027, 2, 14, 6, 50), HOUR_MS],
      // In the midst of work that overlaps.
      [Date.UTC(2027, 2, 22, 11, 10), 30_000],
      // Over the change in Berlin, longer than some fires may be late.
      [Date.UTC(2027, 2, 27, 20), 9 * HOUR_MS],
      [Date.UTC(2027, 3, 1, 3), 2 * DAY_MS + 5 * HOUR_MS],
    ] as const) {
      await goOn(year, to);
      await switchedOff(year, offMs, stop, start);
    }
    await goOn(year, span.to);
    const { ok = 0, skipped = 0 } = await checkAll(year);
    expect([ok > 200, skipped > 8], `${ok} ended well and ${skipped} were skipped`).to.deep.equal([true, true]);
    clock.close();
  });
});
