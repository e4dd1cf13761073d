/**
 * What one plain message costs, counted in the real daemon: one client, one session, the answer of a model at hand.
 * The numbers are fixed. Whoever moves one does it on purpose, here, and says in the commit what it bought.
 */
import { expect } from 'chai';
import type { Counts } from './count-calls.program.js';
import { type CountedDaemon, startCounted } from './counted-daemon.js';

const COSTS = {
  /** Trips of the writer to the disk: the message with its first step, the answer with the end of the run. */
  commits: 2,
  /** The run, its step, the entry and what the call may cost; then the end of the run and of the step, the entry, the usage in place of what was reserved. */
  statements: 9,
  /** Where the session stands is known. */
  reads: 0,
  /** The body, and what the model said. */
  parsed: 5,
  /** One of them, and a dozen promises, is that memory is asked what fits the message. */
  serialised: 16,
  /** Four of them are that skills and plugins are asked what they add. */
  promises: 316,
  /** On a file, nothing that speaks to a server has been loaded, and no package that few messages need. */
  drivers: 0,
} satisfies Partial<Counts>;

describe('a plain message', function () {
  this.timeout(60_000);
  let daemon: CountedDaemon;

  before(async () => {
    daemon = await startCounted();
  });
  after(() => daemon.stop());

  it('costs these commits, statements, reads, JSON calls and promises, however long its conversation is', async () => {
    const { agent_id } = await daemon.send('POST', '/api/agents', { name: 'counted' });
    const { session_id } = await daemon.send('POST', `/api/agents/${agent_id}/sessions`, {});
    const say = () => daemon.send('POST', `/api/agents/${agent_id}/message`, { message: 'How much is this?', session_id });

    expect(await daemon.costsOf(say, Object.keys(COSTS) as Array<keyof typeof COSTS>)).to.deep.equal(COSTS);
  });
});
