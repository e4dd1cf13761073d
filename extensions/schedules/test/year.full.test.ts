/** A whole year of jobs on two daemons over one PostgreSQL, with restarts. */
import { stopTestKernels } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { bootTwo, type TwoDaemons } from '@svc/test/replicas/two-daemons';
import { expect } from 'chai';
import { yearClock } from './year-clock.js';
import { checkAll, goOn, makeJobs, MONTHLY, switchedOff, type YearWorld } from './year-jobs.js';

const HOUR_MS = 3_600_000;
const MONTHS = 12;

describe('a year of jobs on two daemons', function () {
  this.timeout(3_600_000);
  after(() => stopTestKernels());

  it('F1 F3 P1 loses none, doubles none, and says of each skip why', async () => {
    const span = { from: Date.UTC(2027, 0, 1, 3), to: Date.UTC(2027, 11, 31) };
    const clock = yearClock(span.from);
    const url = await (await sharedCluster()).fresh();
    const boot = (): Promise<TwoDaemons> => bootTwo({ url, clock, script: () => ({ text: 'nothing new' }), config: '[schedules]\nkeep_fires_days = 3650\n' });
    let two = await boot();
    const start = async (): Promise<void> => {
      two = await boot();
    };
    const year: YearWorld = { clock, span, kernels: () => [two.a.kernel, two.b.kernel], jobs: [], off: [] };
    await makeJobs(year, MONTHLY);
    for (let month = 0; month < MONTHS; month += 1) {
      await goOn(year, Date.UTC(2027, month, 13, 22));
      await switchedOff(year, (1 + month * 5) * HOUR_MS, () => two.stop(), start);
    }
    await goOn(year, span.to);
    const { ok = 0, skipped = 0 } = await checkAll(year);
    expect([ok > 1_200, skipped > 15], `${ok} ended well and ${skipped} were skipped`).to.deep.equal([true, true]);
    await two.stop();
    clock.close();
  });
});
