import { expect } from 'chai';
import { backUpUnderLoad } from './under-load.js';

describe('a hundred backups under load', function () {
  this.timeout(600_000);
  it('C1 are each an exact prefix of what was acknowledged', async () => {
    expect(await backUpUnderLoad(100)).to.be.greaterThan(1_000);
  });
});
