import { expect } from 'chai';
import { backUpUnderLoad } from './under-load.js';

const BACKUPS = Number(process.env.BACKUPS ?? 40);

describe(`${BACKUPS} backups under load`, function () {
  this.timeout(600_000);
  it('C1 are each an exact prefix of what was acknowledged', async () => {
    expect(await backUpUnderLoad(BACKUPS)).to.be.greaterThan(BACKUPS * 10);
  });
});
