/** All times that cronsim gave, not only those at the changes of the clock. */
import { cronAnswers } from '@svc/fixtures/cron/answers';
import { expect } from 'chai';
import { differing } from './cron-differing.js';

describe('cron expressions beside cronsim, all of them', function () {
  this.timeout(300_000);
  it('N1 N2 are due when it says so', async () => {
    const each = Array.from({ length: 19 }, (_, index) => index + 1);
    expect(await differing(cronAnswers(), each)).to.deep.equal([]);
  });
});
