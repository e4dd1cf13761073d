/** How many runs may be queued, counts of all runs, and the end of runs that nobody began. */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import type { PlatformJournal } from '../../src/journal/journal.js';
import { alice, bob, codeOf, type JournalRig, openJournalRig } from './journal-rig.js';

const WHY = { code: 'c', message: 'm' };

describeOnEngines('the room of the queue', (engine) => {
  let rig: JournalRig;
  let other: JournalRig | undefined;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
  });
  afterEach(async () => {
    await other?.close();
    other = undefined;
    await rig.close();
  });

  const open = (subject: string, extra: object = {}, journal: PlatformJournal = rig.journal) => journal.open({ kind: 'agent', actor: alice, input: 0, lane: `lane of ${subject}`, subject, ...extra });
  const outcomesOf = async (opening: ReadonlyArray<Promise<unknown>>): Promise<Record<string, number>> => {
    const counts: Record<string, number> = {};
    for (const one of await Promise.allSettled(opening)) {
      const outcome = one.status === 'fulfilled' ? 'accepted' : String((one.reason as { code?: string }).code);
      counts[outcome] = (counts[outcome] ?? 0) + 1;
    }
    return counts;
  };

  it('is never passed by one, however many come at once, and says which limit was reached', async () => {
    const room = { subject: 3, kind: 5 };
    // The first of each begins; it needs no room.
    expect(await outcomesOf(Array.from({ length: 20 }, () => open('a', { room })))).to.deep.equal({ accepted: 4, journal_queue_full: 16 });
    expect(await outcomesOf(Array.from({ length: 20 }, () => open('b', { room })))).to.deep.equal({ accepted: 3, journal_queue_full: 17 });
    expect(await rig.journal.tally({ actor: alice, kind: 'agent' })).to.deep.equal({ running: 2, queued: 5 });
    const refused = await open('b', { room }).catch((error: unknown) => error);
    expect(refused).to.deep.include({ code: 'journal_queue_full', status: 429, retry: true, details: { by: 'kind', limit: 5 } });
    expect(await codeOf(open('c', { room }))).to.equal('none');
  });

  it('is that of all processes on the database', async () => {
    const { url } = await engine.fresh();
    if (url === undefined) return;
    await rig.close();
    rig = await openJournalRig({ fresh: async () => ({ url }) });
    other = await openJournalRig({ fresh: async () => ({ url }) });
    const both = [rig.journal, other.journal];
    const outcomes = await outcomesOf(Array.from({ length: 30 }, (_, i) => open('a', { room: { subject: 5 } }, both[i % 2])));
    expect(outcomes).to.deep.equal({ accepted: 6, journal_queue_full: 24 });
  });

  it('is not asked of a request that was accepted before, and is given back by those that end', async () => {
    const room = { subject: 1 };
    await open('a');
    const { run } = await open('a', { room, key: 'k', fingerprint: 'f' });
    expect(await codeOf(open('a', { room, key: 'l' }))).to.equal('journal_queue_full');
    const again = await open('a', { room, key: 'k', fingerprint: 'f' });
    expect([again.replayed, again.run.id]).to.deep.equal([true, run.id]);
    expect(await codeOf(open('a', { room, key: 'k', fingerprint: 'g' }))).to.equal('journal_key_conflict');
    await rig.journal.cancel(alice, run.id, WHY);
    expect(await codeOf(open('a', { room, key: 'l' }))).to.equal('none');
  });

  it('W4 is not waited for in a lane behind a run of a pool that nobody has begun', async () => {
    const claim = async (most = {}): Promise<unknown[]> => (await rig.journal.claim('agent', 10, most)).map(({ input }) => input);
    const queued = { isQueued: true, pool: 'jobs' };
    const [first] = [await open('a', { ...queued, input: 'first' }), await open('a', { ...queued, input: 'second' })];
    const message = await open('a', { input: 'message' });
    expect([first.run.begunAt, await claim({ jobs: 0 })]).to.deep.equal([null, ['message']]);
    expect((await rig.journal.get(alice, message.run.id))?.begunAt).to.be.a('string');
    expect(await claim({ jobs: 1 }), 'the lane is taken').to.deep.equal([]);
  });

  it('W4 keeps its place in the lane where a run of a pool was begun, slept and was woken', async () => {
    const { leased } = await open('a', { pool: 'jobs', input: 'job' });
    if (!leased) throw new Error('the lane is taken');
    await rig.journal.wait(leased, { reason: 'r', wakeKey: 'k' });
    await open('a', { input: 'message' });
    await rig.journal.wake(alice, 'k', {});
    expect((await rig.journal.claim('agent', 10, { jobs: 0 })).length).to.equal(0);
    const [again] = await rig.journal.claim('agent', 10, { jobs: 1 });
    expect([again?.input, again?.begunAt]).to.deep.equal(['job', again?.createdAt]);
    if (again) await rig.finish(again);
    expect((await rig.journal.claim('agent', 10, { jobs: 0 })).map(({ input }) => input)).to.deep.equal(['message']);
  });

  it('is counted by status, for whom they are, of what began them, and by when they ended', async () => {
    const parent = await rig.held({ id: 'p' });
    const child = await rig.held({ id: 'c', parentId: 'p' });
    await open('a');
    await open('a');
    await rig.finish(child);
    await rig.pass(60_000);
    await rig.finish(parent);
    const tally = (filter: object = {}, actor = alice) => rig.journal.tally({ actor, kind: 'agent', ...filter });
    expect(await tally()).to.deep.equal({ done: 2, running: 1, queued: 1 });
    expect(await tally({ isTopLevel: true })).to.deep.equal({ done: 1, running: 1, queued: 1 });
    expect(await tally({ isTopLevel: false })).to.deep.equal({ done: 1 });
    expect(await tally({ status: ['queued', 'running'] })).to.deep.equal({ running: 1, queued: 1 });
    expect(await tally({ endedSince: new Date(rig.clock.now() - 30_000).toISOString() })).to.deep.equal({ done: 1 });
    expect(await tally({}, bob)).to.deep.equal({});
    expect((await rig.journal.list({ actor: alice, kind: 'agent', isTopLevel: true })).map(({ id }) => id))
      .to.include('p')
      .and.not.include('c');
  });

  it('is left by a run that nobody began, and not by one that waits after it began', async () => {
    await open('a', { id: 'first' });
    await open('a', { id: 'queued' });
    const slept = await rig.held({ id: 'slept' });
    await rig.journal.wait(slept, { reason: 'r', wakeKey: 'w' });
    await rig.journal.wake(alice, 'w', 'yes');
    await rig.pass(1_000);
    const list = (unclaimedBefore: number) =>
      rig.journal.list({ actor: alice, kind: 'agent', status: ['queued'], unclaimedBefore: new Date(unclaimedBefore).toISOString() }).then((runs) => runs.map(({ id }) => id));
    expect(await list(rig.clock.now())).to.deep.equal(['queued']);
    expect(await list(rig.clock.now() - 1_000)).to.deep.equal([]);
    expect(await rig.journal.cancel(alice, 'slept', WHY, [], 'unclaimed')).to.equal(false);
    expect(await rig.journal.cancel(alice, 'queued', WHY, [], 'unclaimed')).to.equal(true);
    expect(await rig.journal.cancel(alice, 'slept', WHY)).to.equal(true);
  });
});
