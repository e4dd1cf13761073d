import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { backUpUnderLoad } from './under-load.js';

const BACKUPS = Number(process.env.BACKUPS ?? 8);

describeOnEngines(`${BACKUPS} backups under load`, function (engine) {
  this.timeout(60_000 + BACKUPS * 30_000);
  it('C1 G1 are each an exact prefix of what was acknowledged', async () => {
    expect(await backUpUnderLoad(BACKUPS, (await engine.fresh()).url)).to.be.greaterThan(BACKUPS * 10);
  });
});
