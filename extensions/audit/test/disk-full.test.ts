import { engines, mountSmall } from '@svc/testing';
import { expect } from 'chai';
import { facts, openTrail } from './trail-kit.js';

describe('the audit chain on a full disk', () => {
  it('enters nothing, and all of it once there is room', async function () {
    const disk = await mountSmall();
    const sqlite = engines.find(({ name }) => name === 'SQLite');
    if (!disk || !sqlite) return this.skip(); // not root, or not Linux
    const trail = await openTrail(sqlite, disk.dir);
    try {
      await trail.chain.enter(facts(10));
      await disk.fill();
      const late = facts(200, 11);
      let failure: unknown;
      // Some pages may still have room in the file.
      for (let tries = 0; tries < 50 && failure === undefined; tries += 1) await trail.chain.enter(facts(200, 1_000)).catch((error: unknown) => (failure = error));
      expect(failure).to.have.property('code');
      await disk.empty();
      await trail.chain.enter(late);
      await trail.chain.enter(late);
      const verdict = await trail.verify(trail.chain);
      expect([verdict.broken, verdict.problems, verdict.chain_length % 200]).to.deep.equal([[], [], 10]);
    } finally {
      await trail.close();
      await disk.unmount();
    }
  });
});
