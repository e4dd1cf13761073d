/** Two processes with a journal each on one database: what they tell each other at once, and find again when it was lost. */
import { SvcError } from '@svc/api';
import { createRoughBus } from '@svc/testing';
import { expect } from 'chai';
import { createLocalBusHub, type LocalBusHub } from '../../src/bus/local-bus.js';
import type { PlatformJournal } from '../../src/journal/journal.js';
import { alice, bob, type JournalRig, openJournalRig } from './journal-rig.js';

const WHY = new SvcError('run_stopped', 'A person stopped it.', { status: 409, retry: false, hint: 'Ask again.' });
const TICK_MS = 10_000;

describe('journals of two processes', () => {
  let rig: JournalRig;
  let hub: LocalBusHub;
  let a: PlatformJournal;
  let b: PlatformJournal;

  beforeEach(async () => {
    rig = await openJournalRig();
    hub = createLocalBusHub();
    [a, b] = ['a', 'b'].map((name) => rig.another({ soleWriter: false, bus: hub.join(name, (error) => expect.fail(String(error))) })) as [PlatformJournal, PlatformJournal];
  });
  afterEach(() => rig.close());

  /** On a bus that brings nothing. */
  const deaf = (): PlatformJournal => rig.another({ soleWriter: false, bus: createRoughBus({ random: () => 0, lost: 1, maxDelayMs: 1 }).join('deaf') });
  const heldBy = async (journal: PlatformJournal, lane?: string) => {
    const { leased } = await journal.open({ kind: 'agent', actor: alice, input: {}, ...(lane === undefined ? {} : { lane }) });
    if (!leased) throw new Error('The lane was not free.');
    return leased;
  };

  describe('an interruption', () => {
    it('reaches the process that holds the run at once, with its reason', async () => {
      const run = await heldBy(a);
      expect(await b.interrupt(run.id, WHY)).to.equal(true);
      await rig.settled();
      expect(run.signal.aborted).to.equal(true);
      expect(run.signal.reason).to.include({ code: 'run_stopped', message: 'A person stopped it.', status: 409, hint: 'Ask again.' });
    });

    it('that was lost on its way is read with the next beat', async () => {
      const silent = deaf();
      const run = await heldBy(silent);
      expect(await b.interrupt(run.id, WHY)).to.equal(true);
      await rig.settled();
      expect(run.signal.aborted).to.equal(false);
      await rig.pass(TICK_MS);
      expect(run.signal.aborted).to.equal(true);
    });

    it('is known to whoever takes the run over', async () => {
      const silent = deaf();
      const run = await heldBy(silent);
      await b.interrupt(run.id, WHY);
      await silent.release(run);
      const [taken] = await b.claim('agent', 1);
      expect([taken?.id, taken?.signal.aborted]).to.deep.equal([run.id, true]);
    });

    it('keeps the run from falling asleep with it', async () => {
      const silent = deaf();
      const run = await heldBy(silent);
      await b.interrupt(run.id, WHY);
      await silent.wait(run, { reason: 'a person', wakeKey: 'w' });
      expect((await b.get(alice, run.id))?.status).to.equal('queued');
      const [taken] = await b.claim('agent', 1);
      expect(taken?.signal.aborted).to.equal(true);
    });

    it('finds nothing in a run that nobody holds', async () => {
      const run = await heldBy(a);
      await a.advance(run, { finish: { status: 'done' } });
      expect(await b.interrupt(run.id, WHY)).to.equal(false);
      expect(await b.interrupt('nobody', WHY)).to.equal(false);
    });
  });

  describe('a beat', () => {
    it('takes no run from whoever is just opening it', async () => {
      const { leased } = await a.open({ kind: 'agent', actor: alice, input: {} }, [], async () => {
        await rig.pass(TICK_MS);
        return undefined;
      });
      expect(leased?.signal.aborted).to.equal(false);
    });

    it('tells whoever lost a run to another process', async () => {
      const run = await heldBy(a);
      await rig.db.commit([rig.db.sql("UPDATE journal__runs SET lease_token = lease_token + 1, lease_owner = 'another' WHERE id = ?", [run.id])]);
      await rig.pass(TICK_MS);
      expect(run.signal.reason).to.include({ code: 'journal_lease_lost' });
    });
  });

  describe('work', () => {
    it('that is given back or woken in one is heard of in the other', async () => {
      let ready = 0;
      b.onReady('agent', () => {
        ready += 1;
      });
      await rig.settled();
      const before = ready;
      const run = await heldBy(a);
      await a.release(run);
      await rig.settled();
      expect(ready).to.equal(before + 1);
      const [again] = await a.claim('agent', 1);
      if (!again) throw new Error('it was not there');
      await a.wait(again, { reason: 'r', wakeKey: 'w' });
      await a.wake(alice, 'w', 'yes');
      await rig.settled();
      expect(ready).to.equal(before + 2);
    });

    it('waits its turn in a lane that another process holds, and hears at once when that is free', async () => {
      let ready = 0;
      b.onReady('agent', () => {
        ready += 1;
      });
      const first = await heldBy(a, 'lane');
      const { leased, run } = await b.open({ kind: 'agent', actor: alice, input: {}, lane: 'lane' });
      expect(leased).to.equal(undefined);
      expect(await b.claim('agent', 10)).to.deep.equal([]);
      await rig.settled();
      const before = ready;
      await a.advance(first, { finish: { status: 'done' } });
      await rig.settled();
      expect(ready).to.equal(before + 1);
      expect((await b.claim('agent', 10)).map(({ id }) => id)).to.deep.equal([run.id]);
    });

    it('that was not heard of is looked for with each beat', async () => {
      const silent = deaf();
      let ready = 0;
      silent.onReady('agent', () => {
        ready += 1;
      });
      await rig.settled();
      const before = ready;
      await rig.pass(TICK_MS);
      expect(ready).to.equal(before + 1);
    });

    it('of another process that has ended blocks no lane here, though nobody said so', async () => {
      const silent = deaf();
      await silent.claim('agent', 1);
      const first = await heldBy(a, 'lane');
      await silent.open({ kind: 'agent', actor: alice, input: {}, lane: 'lane' });
      await a.advance(first, { finish: { status: 'done' } });
      const [second] = await a.claim('agent', 1);
      if (!second) throw new Error('it was not there');
      await a.advance(second, { finish: { status: 'done' } });
      await rig.pass(TICK_MS);
      expect((await heldBy(silent, 'lane')).status).to.equal('running');
    });
  });

  it('show, cancel and wake a run for whoever may see it, and for nobody else', async () => {
    const run = await heldBy(a);
    await a.advance(run, { intents: [{ seq: 1, kind: 'model', key: 'k', replay: 'safe', intent: {} }] });
    expect([await b.get(bob, run.id), (await b.steps(bob, run.id)).length]).to.deep.equal([undefined, 0]);
    expect([(await b.get(alice, run.id))?.id, (await b.steps(alice, run.id)).length]).to.deep.equal([run.id, 1]);
    await a.wait(run, { reason: 'r', wakeKey: 'w' });
    expect([await b.cancel(bob, run.id, { code: 'c', message: 'm' }), await b.wake(bob, 'w', 'yes')]).to.deep.equal([false, false]);
    expect(await b.wake(alice, 'w', 'yes')).to.equal(true);
    expect(await b.cancel(alice, run.id, { code: 'c', message: 'm' })).to.equal(true);
  });
});
