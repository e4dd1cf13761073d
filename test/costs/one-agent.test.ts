/**
 * What a GET of one agent costs, counted in the real daemon: a key, a rate limit, everything that is shown at hand.
 * The numbers are fixed. Whoever moves one does it on purpose, here, and says in the commit what it bought.
 */
import { expect } from 'chai';
import type { Counts } from './count-calls.program.js';
import { type CountedDaemon, startCounted } from './counted-daemon.js';

const COSTS = {
  reads: 0,
  commits: 0,
  parsed: 0,
  serialised: 1,
  /** Koa's own: nothing that is asked on the way has to be waited for. */
  promises: 3,
} satisfies Partial<Counts>;

describe('a GET of an agent', function () {
  this.timeout(60_000);
  let daemon: CountedDaemon;

  before(async () => {
    daemon = await startCounted('sk-costs-reader');
  });
  after(() => daemon.stop());

  it('costs these promises and nothing of the database, with a key and the rate limit on', async () => {
    const { agent_id } = await daemon.send('POST', '/api/agents', { name: 'counted' });
    const look = () => daemon.send('GET', `/api/agents/${agent_id}`);

    expect(await daemon.costsOf(look, Object.keys(COSTS) as Array<keyof typeof COSTS>)).to.deep.equal(COSTS);
  });
});
