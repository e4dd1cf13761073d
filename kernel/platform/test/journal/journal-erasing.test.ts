/** What the journal holds of a person, an agent or a conversation goes with them. */
import type { PurgeSubject } from '@svc/api';
import type { OpenRun } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { type JournalRig, alice, bob, codeOf, openJournalRig } from './journal-rig.js';

const CANARY = 'kingfisher';
const OTHER = 'cormorant';
const LONG = 'x'.repeat(20_000);
const TEXTS: Readonly<Record<'runs' | 'steps', readonly string[]>> = {
  runs: ['id', 'owner_id', 'request_key', 'fingerprint', 'lane', 'parent_id', 'subject', 'session_id', 'input', 'result', 'error', 'wait_reason', 'wake_key', 'wait_data', 'interrupt'],
  steps: ['run_id', 'key', 'intent', 'outcome'],
};

describeOnEngines('a purge of the journal', (engine) => {
  let rig: JournalRig;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
  });

  afterEach(() => rig.close());

  /** How many rows hold the word, in any column of text. */
  const rowsWith = async (word: string): Promise<number> => {
    const counts = Object.entries(TEXTS).map(async ([table, columns]) => {
      const where = columns.map((column) => `CAST(${column} AS TEXT) LIKE ?`).join(' OR ');
      const found = await rig.db.system('a test').readOne<{ n: number | string }>(
        `SELECT COUNT(*) AS n FROM journal__${table} WHERE ${where}`,
        columns.map(() => `%${word}%`),
      );
      return Number(found?.n);
    });
    return (await Promise.all(counts)).reduce((sum, n) => sum + n, 0);
  };

  /** A run in each state that nobody holds, a stored answer, steps, a wait: all say the word. */
  const fill = async (word: string, extra: Pick<OpenRun, 'actor' | 'subject' | 'session'>): Promise<void> => {
    const input = { said: `${word} ${LONG}` };
    const ended = await rig.held({ ...extra, id: `ended-${word}`, input, key: `key of ${word}`, fingerprint: word });
    await rig.journal.step(ended, { seq: 1, kind: 'tool', key: word, replay: 'safe', intent: { word } }, async () => ({ value: `${word} ${LONG}` }));
    await rig.journal.advance(ended, { finish: { status: 'failed', result: { word }, error: { code: 'x', message: word } } });
    const waiting = await rig.held({ ...extra, input, lane: `lane of ${word}` });
    await rig.journal.wait(waiting, { reason: word, wakeKey: word, data: input });
    await rig.journal.open({ ...extra, kind: 'agent', input, lane: `lane of ${word}` });
    const { actor, ...about } = extra;
    await rig.journal.once({ actor, kind: 'answers', key: word, fingerprint: word }, async (receipt) => {
      await rig.db.commit(receipt({ answer: word }, about));
    });
  };

  const subjects: ReadonlyArray<readonly [name: string, subject: PurgeSubject]> = [
    ['an owner', { ownerId: alice.ownerId }],
    ['an agent', { agentId: 'a1' }],
    ['a conversation', { sessionId: 's1' }],
  ];
  for (const [name, subject] of subjects)
    it(`of ${name} leaves no text of it in any row or file, and all of others`, async () => {
      await fill(CANARY, { actor: alice, subject: 'a1', session: 's1' });
      await fill(OTHER, { actor: bob, subject: 'a2', session: 's2' });
      expect(await rowsWith(CANARY)).to.equal(5);

      expect(await rig.journal.erase(subject)).to.equal(0);

      expect(await rowsWith(CANARY)).to.equal(0);
      expect(await rowsWith(OTHER)).to.equal(5);
      const files = await rig.closedFiles();
      expect(files).not.to.contain(CANARY);
      if (engine.name === 'SQLite') expect(files).to.contain(OTHER);
    });

  /** Time passes until it is over: how long the database takes meanwhile is its own affair. */
  const inTime = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false;
    const done = work.finally(() => {
      isOver = true;
    });
    while (!isOver) await rig.pass(25, 25);
    return done;
  };

  it('takes the runs of a conversation that an older daemon wrote: it is their lane', async () => {
    await rig.finish(await rig.held({ lane: 's1', input: CANARY }));
    await rig.journal.erase({ sessionId: 's1' });
    expect(await rowsWith(CANARY)).to.equal(0);
  });

  it('interrupts a run that somebody works on, and takes it when it has ended', async () => {
    const run = await rig.held({ input: CANARY });
    const erasing = rig.journal.erase({ ownerId: alice.ownerId });
    while (!run.signal.aborted) await rig.settled();
    expect(run.signal.reason).to.have.property('code', 'journal_erased');
    expect(await inTime(erasing)).to.equal(1);
    expect(await rig.journal.get(alice, run.id)).to.have.property('status', 'running');

    await rig.finish(run);
    expect(await rig.journal.erase({ ownerId: alice.ownerId })).to.equal(0);
    expect(await rowsWith(CANARY)).to.equal(0);
  });

  it('waits a moment for a run that ends when it is interrupted', async () => {
    const run = await rig.held({ input: CANARY });
    run.signal.addEventListener('abort', () => void rig.finish(run));
    const erasing = rig.journal.erase({ ownerId: alice.ownerId });
    while (!run.signal.aborted) await rig.settled();
    expect(await inTime(erasing)).to.equal(0);
  });

  it('takes a run whose lease was given back: nobody works on it, and its holder of before writes nothing', async () => {
    const run = await rig.held({ input: CANARY });
    await rig.journal.release(run);
    expect(await rig.journal.erase({ ownerId: alice.ownerId })).to.equal(0);
    expect(await codeOf(rig.journal.advance(run, { outcomes: [{ seq: 1, status: 'done', outcome: CANARY }] }))).to.equal('journal_lease_lost');
    expect(await rowsWith(CANARY)).to.equal(0);
  });

  it('leaves runs that another process works on to it, and takes those of a process that is dead', async () => {
    const others = rig.another({ soleWriter: false });
    const mine = rig.another({ soleWriter: false });
    await others.open({ kind: 'agent', actor: alice, input: CANARY });
    expect(await inTime(mine.erase({ ownerId: alice.ownerId }))).to.equal(1);
    await others.close();
    await rig.spoil("UPDATE journal__runs SET lease_until = 0 WHERE status = 'running'");
    expect(await mine.erase({ ownerId: alice.ownerId })).to.equal(0);
  });

  it('lets the next run of a lane begin at once', async () => {
    const first = await rig.held({ lane: 'l', subject: 'a1' });
    await rig.journal.wait(first, { reason: 'r', wakeKey: 'w' });
    await rig.journal.erase({ agentId: 'a1' });
    expect(await rig.journal.open({ kind: 'agent', actor: alice, lane: 'l', input: null })).to.have.property('leased');
  });

  it('goes in pieces, so that others write between', async () => {
    for (let n = 0; n < 501; n += 1) await rig.journal.once({ actor: alice, kind: 'answers', key: `k${n}`, fingerprint: 'f' }, async (receipt) => void (await rig.db.commit(receipt(n))));
    const pieces: number[] = [];
    rig.breakCommits((writes) => {
      if (writes[0] && rig.textOf(writes[0]).startsWith('DELETE')) pieces.push(writes.length);
      return false;
    });
    expect(await rig.journal.erase({ ownerId: alice.ownerId })).to.equal(0);
    expect(pieces).to.deep.equal([2, 2]);
    expect(await rig.journal.list({ actor: alice })).to.deep.equal([]);
  });
});
