/** The long test makes 100 of them (under-load.long.test.ts). */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { backUpUnderLoad } from './under-load.js';

describeOnEngines('backups under load', function (engine) {
  this.timeout(60_000);
  it('C1 G1 are an exact prefix of what was acknowledged', async () => {
    expect(await backUpUnderLoad(2, (await engine.fresh()).url)).to.be.greaterThan(0);
  });
});
