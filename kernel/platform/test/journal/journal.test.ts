import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, LeasedRun, Logger } from '@svc/api';
import { actorOf, type OpenRun } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { systemIds } from '../../src/clock/ids.js';
import { virtualClock, type VirtualClock } from '../../src/clock/clock.js';
import { createJournal, type PlatformJournal } from '../../src/journal/journal.js';
import { journalMigrations, journalOwner } from '../../src/journal/rows/journal-migrations.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const alice = actorOf('user:alice');
const notesOwner = { id: 'notes', tables: ['notes'] };

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work;
    return 'none';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

describeOnEngines('journal', (engine) => {
  let home: string;
  let clock: VirtualClock;
  let storage: Storage;
  let db: Db;
  let journal: PlatformJournal;
  let lives: number;

  /** A new process on the same file: what the one before held in memory is gone. */
  const start = async (soleWriter = true): Promise<PlatformJournal> => {
    lives += 1;
    return createJournal({ db, nowSql: storage.nowSql, clock, ids: systemIds(), log: silent, instanceId: `life-${lives}`, leaseMs: 30_000, soleWriter });
  };

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-journal-'));
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, now: clock.now, log: silent, onEvents: () => undefined });
    await storage.migrate(journalOwner, journalMigrations);
    await storage.migrate(notesOwner, [{ name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'text', primaryKey: true } }) }]);
    db = storage.dbFor(journalOwner);
    lives = 0;
    journal = await start();
  });

  afterEach(async () => {
    await journal.close();
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const request = (extra: Partial<OpenRun> = {}): OpenRun => ({ kind: 'agent', actor: alice, input: { ask: 'hello' }, ...extra });
  const held = async (extra: Partial<OpenRun> = {}): Promise<LeasedRun> => {
    const { leased } = await journal.open(request(extra));
    if (!leased) throw new Error('The lane was not free.');
    return leased;
  };
  const finish = (run: LeasedRun) => journal.advance(run, { finish: { status: 'done', result: { said: 'bye' } } });
  const note = (id: string) => storage.dbFor(notesOwner).insert('notes', [{ id }]);
  const notes = async () => (await db.system('a test').read<{ id: string }>('SELECT id FROM notes__notes ORDER BY id')).map(({ id }) => id);
  const intent = (seq: number, replay: 'safe' | 'keyed' | 'never' = 'safe') => ({ seq, kind: 'tool', key: `call-${seq}`, replay, intent: { n: seq } });
  /** Lets due signals and the reads behind them happen. */
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 5; i += 1) {
      await db.system('a test').read('SELECT 1');
      // The queue is in order: what was written before this is committed when this is.
      await db.commit([db.sql('UPDATE journal__runs SET kind = kind WHERE id = ?', ['none'])]);
    }
  };

  describe('J1 accepts', () => {
    it('a run with what must be written beside it in one commit', async () => {
      const before = storage.stats().batches;

      const { run, leased, replayed } = await journal.open(request({ id: 'r1', lane: 's1' }), [note('question')]);

      expect(storage.stats().batches - before).to.equal(1);
      expect({ id: run.id, status: run.status, replayed, token: leased?.token, attempt: run.attempt }).to.deep.equal({ id: 'r1', status: 'running', replayed: false, token: 1, attempt: 1 });
      expect(await journal.get(alice, 'r1')).to.deep.equal(run);
      expect(await notes()).to.deep.equal(['question']);
    });

    it('a resent request as the same run, writing nothing again', async () => {
      const first = await journal.open(request({ key: 'k', fingerprint: 'f', lane: 's1' }), [note('one')]);

      const second = await journal.open(request({ key: 'k', fingerprint: 'f', lane: 's1' }), [note('two')]);

      expect(second).to.deep.equal({ run: first.run, replayed: true });
      expect(await notes()).to.deep.equal(['one']);
      expect((await journal.byKey(alice, 'agent', 'k'))?.id).to.equal(first.run.id);
    });

    it('one of many that arrive at once with the same key', async () => {
      const opened = await Promise.all(Array.from({ length: 20 }, () => journal.open(request({ key: 'k', fingerprint: 'f' }))));

      expect(opened.filter(({ replayed }) => !replayed)).to.have.length(1);
      expect(new Set(opened.map(({ run }) => run.id)).size).to.equal(1);
    });

    it('no other request under a used key, but the same key of another owner', async () => {
      await journal.open(request({ key: 'k', fingerprint: 'f' }));

      expect(await codeOf(journal.open(request({ key: 'k', fingerprint: 'g' })))).to.equal('journal_key_conflict');
      expect((await journal.open(request({ key: 'k', fingerprint: 'g', actor: actorOf('user:bob') }))).replayed).to.equal(false);
    });

    it('nothing when what stands beside it cannot be written, and leaves the lane free', async () => {
      await journal.open(request(), [note('taken')]);

      expect(await codeOf(journal.open(request({ id: 'r2', lane: 's1' }), [note('taken')]))).to.equal('storage_conflict');

      expect(await journal.get(alice, 'r2')).to.equal(undefined);
      expect((await journal.open(request({ lane: 's1' }))).leased).to.not.equal(undefined);
    });
  });

  describe('J2 steps', () => {
    it('are written before their effect and closed after it', async () => {
      const run = await held();

      const value = await journal.step(run, intent(1), async () => {
        const [step] = await journal.steps(alice, run.id);
        return { value: step?.status, outcome: { took: 1 }, also: [note('effect')] };
      });

      expect(value).to.equal('intent');
      const [step] = await journal.steps(alice, run.id);
      expect({ status: step?.status, outcome: step?.outcome, intent: step?.intent }).to.deep.equal({ status: 'done', outcome: { took: 1 }, intent: { n: 1 } });
      expect(await notes()).to.deep.equal(['effect']);
    });

    it('that fail say so without internals, and the error goes on', async () => {
      const run = await held();

      const code = await codeOf(journal.step(run, intent(1), () => Promise.reject(new Error('secret detail'))));

      expect(code).to.equal('Error: secret detail');
      expect((await journal.steps(alice, run.id))[0]?.outcome).to.deep.equal({ code: 'failed', message: 'The step failed.' });
    });

    it('cannot get a second outcome', async () => {
      const run = await held();
      await journal.advance(run, { intents: [intent(1)] });
      await journal.advance(run, { outcomes: [{ seq: 1, status: 'done', outcome: 1 }], intents: [intent(2)], input: null });

      expect(await codeOf(journal.advance(run, { outcomes: [{ seq: 1, status: 'done', outcome: 2 }] }))).to.equal('journal_step_conflict');
      expect(await codeOf(journal.advance(run, { intents: [intent(1)] }))).to.equal('journal_step_conflict');
      expect((await journal.get(alice, run.id))?.input).to.equal(null);
      expect((await journal.steps(alice, run.id)).map(({ outcome, status }) => [status, outcome])).to.deep.equal([
        ['done', 1],
        ['intent', null],
      ]);
    });
  });

  describe('J3 a lane', () => {
    it('lets one run go at a time, the others in order of arrival', async () => {
      const opened = await Promise.all(['a', 'b', 'c'].map((id) => journal.open(request({ id, lane: 's1' }))));
      expect(opened.map(({ run }) => run.status)).to.deep.equal(['running', 'queued', 'queued']);
      const order: string[] = [];

      for (let run = opened[0]?.leased; run; [run] = await journal.claim('agent', 5)) {
        expect(await journal.claim('agent', 5)).to.deep.equal([]);
        order.push(run.id);
        await finish(run);
      }

      expect(order).to.deep.equal(['a', 'b', 'c']);
    });

    it('calls for the next when it becomes free', async () => {
      const run = await held({ lane: 's1' });
      let calls = 0;
      journal.onReady('agent', () => (calls += 1));
      await journal.open(request({ lane: 's1' }));
      const before = calls;
      await settled();

      await finish(run);
      await settled();

      expect(calls - before).to.be.at.least(1);
    });

    it('is not jumped by a newcomer after a restart', async () => {
      const first = await held({ lane: 's1' });
      await journal.open(request({ id: 'second', lane: 's1' }));
      await finish(first);
      await journal.close();
      journal = await start();

      const third = await journal.open(request({ id: 'third', lane: 's1' }));

      expect(third.run.status).to.equal('queued');
      expect((await journal.claim('agent', 5)).map(({ id }) => id)).to.deep.equal(['second']);
    });

    it('is validated by the database when two processes open it at once', async () => {
      const other = await start(false);
      await Promise.all([journal.claim('agent', 1), other.claim('agent', 1)]);

      const opened = await Promise.all([journal.open(request({ lane: 's1' })), other.open(request({ lane: 's1' }))]);

      expect(opened.map(({ run }) => run.status).sort()).to.deep.equal(['queued', 'running']);
      await other.close();
    });

    it('stays taken while its run waits', async () => {
      const run = await held({ lane: 's1' });
      await journal.open(request({ id: 'next', lane: 's1' }));
      await journal.wait(run, { reason: 'approval', wakeKey: 'w' });

      expect(await journal.claim('agent', 5)).to.deep.equal([]);
      expect(await journal.cancel(alice, run.id, { code: 'stopped', message: 'Enough.' }, [note('cancelled')])).to.equal(true);
      expect((await journal.claim('agent', 5)).map(({ id }) => id)).to.deep.equal(['next']);
      expect(await journal.cancel(alice, 'next', { code: 'stopped', message: 'Enough.' })).to.equal(false);
    });
  });

  describe('J4 a lost lease', () => {
    it('writes nothing, and tells the one who lost it', async () => {
      const run = await held();
      await journal.close();
      journal = await start();
      const [mine] = await journal.claim('agent', 1);
      const old = await start();

      expect(mine).to.include({ id: run.id, token: 2, attempt: 2 });
      for (const work of [old.advance(run, { also: [note('ghost')] }), old.advance(run, { finish: { status: 'done' } }), old.wait(run, { reason: 'x', wakeKey: 'y' })]) {
        expect(await codeOf(work)).to.equal('journal_lease_lost');
      }
      await old.release(run);
      expect(await notes()).to.deep.equal([]);
      if (mine) await finish(mine);
      expect(await codeOf(old.advance({ ...run, token: 2 }, {}))).to.equal('journal_lease_lost');
      await old.close();
    });

    it('is renewed while its process lives, and taken when it is silent', async () => {
      const run = await held();
      const other = await start(false);
      for (let i = 0; i < 6; i += 1) {
        await clock.advance(10_000);
        await settled();
      }
      expect(await other.claim('agent', 1)).to.deep.equal([]);

      await journal.close();
      await clock.advance(31_000);

      expect((await other.claim('agent', 1)).map(({ id, attempt }) => [id, attempt])).to.deep.equal([[run.id, 2]]);
      await other.close();
    });

    it('aborts the signal of its run', async () => {
      const slow = await start(false);
      const { leased } = await slow.open(request());
      const [taken] = await journal.claim('agent', 1);
      expect(taken?.id).to.equal(leased?.id);

      await clock.advance(10_000);
      if (!leased?.signal.aborted) await new Promise((resolve) => leased?.signal.addEventListener('abort', resolve));

      expect(leased?.signal.aborted).to.equal(true);
      expect(taken?.signal.aborted).to.equal(false);
      await slow.close();
    });
  });

  it('interrupts a run that is held here, across a release too', async () => {
    const run = await held();
    await journal.release(run);
    expect(await journal.interrupt(run.id, new Error('stop pressed'))).to.equal(true);

    const [again] = await journal.claim('agent', 1);

    expect([run.signal.aborted, again?.signal.aborted]).to.deep.equal([true, true]);
    expect(String(again?.signal.reason)).to.contain('stop pressed');
    if (again) await finish(again);
    expect(await journal.interrupt(run.id, new Error('again'))).to.equal(false);
  });

  describe('J5 a restart', () => {
    it('goes on with the steps that were kept, and does none of them again', async () => {
      const run = await held({ lane: 's1' });
      await journal.step(run, intent(1), async () => ({ value: 'first' }));
      await journal.advance(run, { intents: [intent(2, 'never'), intent(3, 'keyed')] });
      await journal.close();
      journal = await start();

      const [again] = await journal.claim('agent', 1);
      if (!again) throw new Error('It was not claimed.');

      expect(again).to.include({ status: 'running', attempt: 2, lane: 's1' });
      expect(again.steps.map(({ seq, status }) => [seq, status])).to.deep.equal([
        [1, 'done'],
        [2, 'intent'],
        [3, 'intent'],
      ]);
      expect(await journal.step(again, intent(1), () => Promise.reject(new Error('done twice')))).to.equal('first');
      expect(await codeOf(journal.step(again, intent(2, 'never'), async () => ({ value: 1 })))).to.equal('journal_outcome_unknown');
      expect(await journal.step(again, intent(3, 'keyed'), async () => ({ value: 'again' }))).to.equal('again');
      expect((await journal.steps(alice, again.id)).map(({ attempt }) => attempt)).to.deep.equal([1, 1, 2]);
    });

    it('finds a wait as it was left', async () => {
      const run = await held({ lane: 's1' });
      await journal.wait(run, { reason: 'approval', wakeKey: 'w1', data: { asked: 1 } }, { intents: [intent(1)], also: [note('asked')] });
      await journal.close();
      journal = await start();

      expect((await journal.get(alice, run.id))?.wait).to.deep.equal({ reason: 'approval', wakeKey: 'w1', until: null, data: { asked: 1 } });
      expect(await journal.wake(alice, 'w2', 'no')).to.equal(false);
      expect(await journal.wake(alice, 'w1', { yes: true }, [note('answered')])).to.equal(true);
      expect(await journal.wake(alice, 'w1', 'twice')).to.equal(false);
      const [again] = await journal.claim('agent', 1);
      expect(again).to.include({ id: run.id, attempt: 1 });
      expect(again?.wait?.data).to.deep.equal({ yes: true });
      expect(again?.steps).to.have.length(1);
      expect(await notes()).to.deep.equal(['answered', 'asked']);
    });

    it('calls when a wait is due, however long ago it was made', async () => {
      const run = await held();
      await journal.wait(run, { reason: 'later', wakeKey: 'w', until: '2026-01-01T02:30:00Z' });
      await journal.close();
      journal = await start();
      await settled();
      expect(await journal.claim('agent', 1)).to.deep.equal([]);
      let calls = 0;
      journal.onReady('agent', () => (calls += 1));
      await settled();
      const before = calls;

      for (let i = 0; i < 31; i += 1) {
        await clock.advance(5 * 60_000);
        await settled();
      }

      expect(calls).to.be.greaterThan(before);
      expect((await journal.claim('agent', 1)).map(({ id, attempt }) => [id, attempt])).to.deep.equal([[run.id, 1]]);
    });
  });

  it('gives each run to one claimer only', async () => {
    await journal.close();
    journal = await start(false);
    const runs = await Promise.all(Array.from({ length: 30 }, () => held()));
    await Promise.all(runs.map((run) => journal.release(run)));
    const other = await start(false);

    const claimed = (await Promise.all([journal.claim('agent', 20), other.claim('agent', 20), journal.claim('agent', 20)])).flat().map(({ id }) => id);

    expect(new Set(claimed).size).to.equal(claimed.length);
    await other.close();
  });

  it('shows a principal its own runs only', async () => {
    await journal.open(request({ id: 'hers', lane: 'x' }));
    await journal.open(request({ id: 'his', actor: actorOf('user:bob') }));

    const ids = async (actor: typeof alice, extra = {}) => (await journal.list({ actor, ...extra })).map(({ id }) => id);

    expect(await ids(alice)).to.deep.equal(['hers']);
    expect(await ids(actorOf('owner'))).to.deep.equal(['his', 'hers']);
    expect(await ids(alice, { lane: 'x', status: ['running'], kind: 'agent' })).to.deep.equal(['hers']);
    expect(await ids(alice, { status: [] })).to.deep.equal([]);
  });

  it('forgets old runs with their steps, and no unfinished one', async () => {
    const run = await held();
    await journal.step(run, intent(1), async () => ({ value: 1 }));
    await finish(run);
    await held();
    await clock.advance(1_000);

    expect(await journal.prune(clock.iso(), 10)).to.equal(1);
    expect([await journal.get(alice, run.id), (await journal.steps(alice, run.id)).length, (await journal.list({ actor: alice })).length]).to.deep.equal([undefined, 0, 1]);
  });
});
