/** The next time of a cron expression at the changes of the clock, as another program reckons it: 30 expressions in 12 zones. */
import { cronAnswers, cronDifferences } from '@svc/fixtures/cron/answers';
import { expect } from 'chai';
import { differing } from './cron-differing.js';

/** The first time at or after the change. */
const AT_CHANGE = 7;

describe('cron expressions beside cronsim', function () {
  this.timeout(60_000);
  it('N1 N2 are due at each change of the clock when it says so', async () => {
    const answers = cronAnswers();
    expect([new Set(answers.map(({ expression }) => expression)).size, new Set(answers.map(({ zone }) => zone)).size]).to.deep.equal([30, 12]);
    expect(await differing(answers, [AT_CHANGE])).to.deep.equal([]);
  });

  it('N2 mean something else only where the fixture says why', async () => {
    for (const { expression, cronsim, ours, reason } of cronDifferences()) {
      expect(ours, reason).not.to.deep.equal(cronsim);
      expect(await differing([{ expression, zone: 'UTC', times: ours }], [1, 2, 3, 4, 5])).to.deep.equal([]);
    }
    expect(cronDifferences()).to.have.length(2);
  });
});
