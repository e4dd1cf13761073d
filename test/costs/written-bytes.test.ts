/**
 * What one plain message writes, counted by the system in the real daemon: pages of the -wal, their checkpoints, the log, the answer.
 * One client, so that no two messages share a commit; many conversations, so that their rows are far apart.
 */
import { expect } from 'chai';
import { type CountedDaemon, startCounted } from './counted-daemon.js';

const KILOBYTES = 180;
/** Trees that a message touches, once with each commit that changes them. */
const PAGES = 36;
const CONVERSATIONS = 20;
const MOST = 1_000;
const WINDOWS = 4;

describe('the bytes of a plain message', function () {
  this.timeout(120_000);
  let daemon: CountedDaemon | undefined;

  before(async function () {
    if (process.platform !== 'linux') {
      for (const test of this.test?.parent?.tests ?? []) Object.assign(test, { skipReason: 'only Linux counts what a process writes' });
      this.skip();
    }
    daemon = await startCounted();
  });
  after(() => daemon?.stop());

  it(`are at most ${KILOBYTES} kB, in at most ${PAGES} pages of the database`, async () => {
    const { send, walPages, written } = daemon as CountedDaemon;
    const { agent_id } = await send('POST', '/api/agents', { name: 'counted' });
    const conversations: unknown[] = [];
    for (let n = 0; n < CONVERSATIONS; n++) conversations.push((await send('POST', `/api/agents/${agent_id}/sessions`, {})).session_id);
    /** What each message adds, until a checkpoint lets the -wal begin anew. */
    const untilCheckpoint = async (): Promise<number[]> => {
      const pages: number[] = [];
      for (let stood = walPages(); pages.length < MOST; ) {
        await send('POST', `/api/agents/${agent_id}/message`, { message: 'How much is this?', session_id: conversations[pages.length % CONVERSATIONS] });
        const stands = walPages();
        if (stands < stood) return pages;
        pages.push(stands - stood);
        stood = stands;
      }
      throw new Error('no checkpoint came');
    };
    await untilCheckpoint();

    // A slow machine has checkpoints by the clock, too, which few messages share: then it is counted again.
    let kilobytes = Number.POSITIVE_INFINITY;
    let pages: number[] = [];
    for (let windows = 0; windows < WINDOWS && kilobytes > KILOBYTES; windows++) {
      const before = written();
      pages = await untilCheckpoint();
      kilobytes = (written() - before) / pages.length / 1_000;
    }

    expect(kilobytes).to.be.within(50, KILOBYTES);
    expect(pages.sort((one, other) => one - other)[Math.floor(pages.length / 2)]).to.be.within(10, PAGES);
  });
});
