/** Who may run next, how often somebody is told so, and what is remembered of those who ran. */
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { type JournalRig, alice, codeOf, openJournalRig } from './journal-rig.js';

describeOnEngines('journal claims', (engine) => {
  let rig: JournalRig;

  beforeEach(async () => {
    rig = await openJournalRig(engine);
  });

  afterEach(() => rig.close());

  const queue = (id: string, lane: string) => rig.journal.open({ id, kind: 'agent', actor: alice, input: 0, lane });
  const claimed = async (limit: number, kind = 'agent'): Promise<string[]> => (await rig.journal.claim(kind, limit)).map(({ id }) => id);

  it('give first what was lost, then waits that are due, then the queue in order of arrival', async () => {
    const busy = await Promise.all(['x', 'y'].map((lane) => rig.held({ lane })));
    await queue('queued-1', 'x');
    await queue('queued-2', 'y');
    const [late, soon] = [await rig.held({ id: 'due-late' }), await rig.held({ id: 'due-soon' })];
    await rig.journal.wait(late, { reason: 'r', wakeKey: 'a', until: '2026-01-01T00:00:20Z' });
    await rig.journal.wait(soon, { reason: 'r', wakeKey: 'b', until: '2026-01-01T00:00:10Z' });
    const notYet = await rig.held({ id: 'not-yet' });
    await rig.journal.wait(notYet, { reason: 'r', wakeKey: 'c', until: '2026-01-01T00:00:31Z' });
    for (const run of busy) await rig.finish(run);
    await rig.journal.release(await rig.held({ id: 'lost' }));
    await rig.clock.advance(20_000);

    expect(await claimed(1)).to.deep.equal(['lost']);
    expect(await claimed(2)).to.deep.equal(['due-late', 'due-soon']);
    expect(await claimed(1)).to.deep.equal(['queued-1']);
    expect(await claimed(5)).to.deep.equal(['queued-2']);
    expect(await claimed(5)).to.deep.equal([]);
    await rig.clock.advance(11_000);
    expect(await claimed(5)).to.deep.equal(['not-yet']);
  });

  it('give no more than were asked for, and none of another kind', async () => {
    for (let n = 0; n < 5; n++) await rig.journal.release(await rig.held({ id: `run-${n}` }));
    await rig.journal.release(await rig.held({ id: 'mail', kind: 'delivery' }));

    expect(await claimed(2)).to.deep.equal(['run-0', 'run-1']);
    expect(await claimed(9)).to.deep.equal(['run-2', 'run-3', 'run-4']);
    expect(await claimed(9, 'delivery')).to.deep.equal(['mail']);
  });

  it('begin another life for what was running, and the same for what waited or was queued', async () => {
    const first = await rig.held({ id: 'first', lane: 's' });
    await queue('second', 's');
    await rig.journal.release(first);
    const [again] = await rig.journal.claim('agent', 1);
    expect(again).to.include({ id: 'first', attempt: 2, token: 2, status: 'running' });
    if (again) await rig.finish(again);
    const [second] = await rig.journal.claim('agent', 1);
    expect(second).to.include({ id: 'second', attempt: 1, token: 1 });
    expect(second?.steps).to.deep.equal([]);
  });

  it('take nothing of a process that is alive, until it was silent for a whole lease', async () => {
    const other = rig.another({ soleWriter: false });
    const run = await rig.held();
    await rig.journal.close();
    await rig.clock.advance(29_999);
    expect(await other.claim('agent', 1)).to.deep.equal([]);
    await rig.clock.advance(1);
    expect((await other.claim('agent', 1)).map(({ id }) => id)).to.deep.equal([run.id]);
  });

  it('take the place in the queue from the database: a clock that was set back lets nobody in first', async () => {
    const busy = await rig.held({ lane: 's' });
    await queue('early', 's');
    const yesterday = rig.another({ clock: virtualClock(Date.parse('2025-12-31T00:00:00Z')) });
    await yesterday.open({ id: 'late', kind: 'agent', actor: alice, input: 0, lane: 's' });
    await rig.finish(busy);

    expect((await yesterday.claim('agent', 1)).map(({ id }) => id)).to.deep.equal(['early']);
  });

  it('keep the order of arrival among many that come in one millisecond', async () => {
    const busy = await rig.held({ lane: 's' });
    const names = Array.from({ length: 20 }, (_, n) => `run-${String(n).padStart(2, '0')}`);
    await Promise.all(names.map((name) => queue(name, 's')));
    await rig.finish(busy);
    const order: string[] = [];
    for (let [run] = await rig.journal.claim('agent', 1); run; [run] = await rig.journal.claim('agent', 1)) {
      order.push(run.id);
      await rig.finish(run);
    }
    expect(order).to.deep.equal(names);
  });

  describe('signals', () => {
    const counted = (kind = 'agent') => {
      const received = { calls: 0, stop: (): void => undefined };
      const handle = rig.journal.onReady(kind, () => {
        received.calls += 1;
      });
      received.stop = () => void handle.dispose();
      return received;
    };

    it('come once to a listener that is new, and once for many causes of one turn', async () => {
      const received = counted();
      await rig.settled();
      expect(received.calls).to.equal(1);
      const runs = await Promise.all(Array.from({ length: 5 }, () => rig.held()));
      await rig.settled();
      expect(received.calls).to.equal(1);
      await Promise.all(runs.map((run) => rig.journal.release(run)));
      await rig.settled();
      expect(received.calls).to.be.within(2, 6);
    });

    it('come when a lane is left with somebody in it, a run is woken or given back, and not otherwise', async () => {
      const received = counted();
      await rig.settled();
      const steps: number[] = [];
      const note = async (work: Promise<unknown>): Promise<void> => {
        const before = received.calls;
        await work;
        await rig.settled();
        steps.push(received.calls - before);
      };
      const run = await rig.held({ lane: 's' });
      await note(queue('next', 's'));
      await note(rig.finish(run));
      const [next] = await rig.journal.claim('agent', 1);
      if (!next) throw new Error('nobody was next');
      await note(rig.journal.wait(next, { reason: 'r', wakeKey: 'w' }));
      await note(rig.journal.wake(alice, 'w', 'yes'));
      const [woken] = await rig.journal.claim('agent', 1);
      if (!woken) throw new Error('nobody was woken');
      await note(rig.journal.release(woken));
      const [last] = await rig.journal.claim('agent', 1);
      if (!last) throw new Error('it was not given back');
      await note(rig.finish(last));

      expect(steps).to.deep.equal([0, 1, 0, 1, 1, 0]);
    });

    it('reach the others when one listener throws, and nobody who stopped listening', async () => {
      rig.journal.onReady('agent', () => {
        throw new Error('no');
      });
      const received = counted();
      const gone = counted();
      await rig.settled();
      expect(rig.logged.join()).to.contain('listener for claimable work failed');
      gone.stop();
      await rig.journal.release(await rig.held());
      await rig.settled();
      expect([received.calls, gone.calls]).to.deep.equal([2, 1]);
    });

    it('are for one kind', async () => {
      const [agents, mails] = [counted('agent'), counted('delivery')];
      await rig.settled();
      await rig.journal.release(await rig.held({ kind: 'delivery' }));
      await rig.settled();
      expect([agents.calls, mails.calls]).to.deep.equal([1, 2]);
    });

    it('come with every beat where others may write too: what they did is not signalled here', async () => {
      const shared = rig.another({ soleWriter: false });
      let calls = 0;
      shared.onReady('agent', () => {
        calls += 1;
      });
      await rig.settled();
      expect(calls).to.equal(1);
      await rig.pass(30_000, 10_000);
      expect(calls).to.equal(4);
      const alone = counted();
      await rig.settled();
      await rig.pass(30_000, 10_000);
      expect(alone.calls).to.equal(1);
    });
  });

  describe('the timer of waits', () => {
    const waiting = async (until: string, wakeKey = 'w'): Promise<void> => {
      const run = await rig.held();
      await rig.journal.wait(run, { reason: 'r', wakeKey, until });
    };
    const counted = () => {
      const received = { calls: 0 };
      rig.journal.onReady('agent', () => {
        received.calls += 1;
      });
      return received;
    };

    it('calls at the moment the earliest is due, whichever was made first', async () => {
      const received = counted();
      await waiting('2026-01-01T00:10:00Z', 'late');
      await waiting('2026-01-01T00:05:00Z', 'soon');
      await rig.settled();
      const before = received.calls;
      await rig.pass(299_999);
      expect(received.calls).to.equal(before);
      await rig.pass(1);
      expect(received.calls).to.equal(before + 1);
      expect(await claimed(1)).to.have.length(1);
      await rig.pass(299_999);
      expect(received.calls).to.equal(before + 1);
      await rig.pass(1);
      expect(received.calls).to.equal(before + 2);
    });

    it('calls at the same time for a wait that is over when it is made', async () => {
      const received = counted();
      await rig.settled();
      const before = received.calls;
      await waiting('2025-12-31T00:00:00Z');
      await rig.pass(1);
      expect(received.calls).to.equal(before + 1);
      expect(await claimed(1)).to.have.length(1);
    });

    it('looks again every minute, so that waits of others and a clock that was set are noticed', async () => {
      const received = counted();
      await waiting('2026-01-01T05:00:00Z');
      await rig.settled();
      await rig.db.commit([rig.db.sql("UPDATE journal__runs SET wait_until = '2026-01-01T00:00:30.000Z'", [])]);
      const before = received.calls;
      await rig.pass(59_999);
      expect(received.calls).to.equal(before);
      await rig.pass(1);
      for (let tries = 0; tries < 100 && received.calls === before; tries++) await rig.settled();
      expect(received.calls).to.equal(before + 1);
    });

    it('calls in time for a wait that is made after the clock was set forwards by hours', async () => {
      let aheadMs = 0;
      const set = { ...rig.clock, now: () => rig.clock.now() + aheadMs, iso: () => new Date(rig.clock.now() + aheadMs).toISOString() };
      const journal = rig.another({ clock: set });
      await rig.settled();
      aheadMs = 7_200_000;
      const received = { calls: 0 };
      journal.onReady('agent', () => {
        received.calls += 1;
      });
      const { leased } = await journal.open({ kind: 'agent', actor: alice, input: {} });
      if (!leased) throw new Error('The run was not opened.');
      await journal.wait(leased, { reason: 'r', wakeKey: 'w', until: new Date(set.now() + 5_000).toISOString() });
      await rig.settled();
      const before = received.calls;
      await rig.pass(5_000);
      expect(received.calls).to.equal(before + 1);
    });

    it('calls in time for a wait whose commit did not say that it took effect', async () => {
      const received = counted();
      const run = await rig.held();
      rig.loseAnswers((writes) => writes.some((write) => rig.textOf(write).includes('wait_reason = ?')));
      const sleeping = rig.journal.wait(run, { reason: 'r', wakeKey: 'w', until: '2026-01-01T00:00:05Z' });
      await rig.settled();
      await rig.pass(1_000);
      await sleeping;
      await rig.settled();
      const before = received.calls;
      await rig.pass(4_000);
      expect(received.calls).to.equal(before + 1);
      expect(await claimed(1)).to.have.length(1);
    });

    it('tries again in a second when the database cannot be read, and says so', async () => {
      const received = counted();
      await waiting('2026-01-01T00:05:00Z');
      await rig.settled();
      const before = received.calls;
      rig.breakReads((sql) => sql.includes('wait_until'));
      await rig.pass(300_000);
      rig.breakReads(() => false);
      expect(rig.logged.join()).to.contain('Waits that are due could not be read');
      await rig.pass(999);
      expect(received.calls).to.equal(before);
      await rig.pass(1);
      // The read itself takes real time.
      for (let tries = 0; tries < 100 && received.calls === before; tries++) await rig.settled();
      expect(received.calls).to.equal(before + 1);
    });

    it('refuses an end that is no time, and leaves the run running', async () => {
      const run = await rig.held();
      expect(await codeOf(rig.journal.wait(run, { reason: 'r', wakeKey: 'w', until: 'soon' }))).to.equal('journal_bad_time');
      expect((await rig.journal.get(alice, run.id))?.status).to.equal('running');
    });

    it('is over with the journal', async () => {
      await waiting('2026-01-01T00:05:00Z');
      await rig.settled();
      await rig.journal.close();
      expect(rig.clock.pending()).to.equal(0);
    });
  });

  describe('an interruption', () => {
    it('reaches a run that was given back and claimed again, by its row where it is the oldest of a thousand', async () => {
      const oldest = await rig.held({ id: 'oldest' });
      const second = await rig.held({ id: 'second' });
      await rig.journal.release(oldest);
      await rig.journal.release(second);
      const others = await Promise.all(Array.from({ length: 999 }, () => rig.held()));
      await Promise.all(others.map((run) => rig.journal.release(run)));

      expect(await rig.journal.interrupt('oldest', new Error('stop'))).to.equal(true);
      expect(await rig.journal.interrupt('second', new Error('stop'))).to.equal(true);
      expect([oldest.signal.aborted, second.signal.aborted]).to.deep.equal([false, true]);
      const again = await rig.journal.claim('agent', 2);
      expect(again.map(({ id, signal }) => [id, signal.aborted])).to.deep.equal([
        ['oldest', true],
        ['second', true],
      ]);
    });

    it('finds nothing in a run that waits, is over or was never there', async () => {
      const [waits, over] = [await rig.held(), await rig.held()];
      await rig.journal.wait(waits, { reason: 'r', wakeKey: 'w' });
      await rig.finish(over);
      expect(await Promise.all([waits.id, over.id, 'nobody'].map((id) => rig.journal.interrupt(id, new Error('stop'))))).to.deep.equal([false, false, false]);
    });
  });
});
