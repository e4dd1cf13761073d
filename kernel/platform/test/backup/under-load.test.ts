/** The long test makes 100 of them (under-load.long.test.ts). */
import { expect } from 'chai';
import { backUpUnderLoad } from './under-load.js';

describe('backups under load', function () {
  this.timeout(60_000);
  it('C1 are an exact prefix of what was acknowledged', async () => {
    expect(await backUpUnderLoad(2)).to.be.greaterThan(0);
  });
});
