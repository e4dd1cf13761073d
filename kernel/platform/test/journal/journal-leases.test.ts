/** Windows in which a lease could end up with nobody: late answers, a full disk, a broken one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, LeasedRun, Logger, Scalar, Write } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { type VirtualClock, virtualClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import { createJournal, type PlatformJournal } from '../../src/journal/journal.js';
import { journalMigrations, journalOwner } from '../../src/journal/rows/journal-migrations.js';
import { storageErrors } from '../../src/storage/contract/errors.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const alice = actorOf('user:alice');

describeOnEngines('journal leases', (engine) => {
  let home: string;
  let clock: VirtualClock;
  let storage: Storage;
  let db: Db;
  let journal: PlatformJournal;
  /** Makes the database refuse a commit. */
  let refuses: (writes: readonly Write[]) => boolean;
  /** Makes it refuse to read steps. */
  let cannotRead: boolean;
  /** Commits of such writes take effect and fail all the same. */
  let losesAnswer: RegExp | undefined;
  const textOf = new WeakMap<Write, string>();
  const argsOf = new WeakMap<Write, readonly Scalar[]>();

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-leases-'));
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    refuses = () => false;
    cannotRead = false;
    losesAnswer = undefined;
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock, now: clock.now, log: silent, onEvents: () => undefined });
    await storage.migrate(journalOwner, journalMigrations);
    const real = storage.dbFor(journalOwner);
    db = {
      ...real,
      sql: (text, args, options) => {
        const write = real.sql(text, args, options);
        argsOf.set(write, args);
        textOf.set(write, text);
        return write;
      },
      commit: async (writes) => {
        if (refuses(writes)) throw new Error('the disk is full');
        const done = await real.commit(writes);
        if (writes.some((write) => losesAnswer?.test(textOf.get(write) ?? ''))) throw storageErrors.io();
        return done;
      },
      system: (why) => {
        const reader = real.system(why);
        return { ...reader, read: (sql, args) => (cannotRead && sql.includes('journal__steps') ? Promise.reject(new Error('the disk is broken')) : reader.read(sql, args)) };
      },
    };
    journal = createJournal({ db, nowSql: storage.nowSql, clock, ids: systemIds(), log: silent, instanceId: 'life-1', soleWriter: true });
  });

  afterEach(async () => {
    await journal.close();
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const held = async (lane?: string): Promise<LeasedRun> => {
    const { leased } = await journal.open({ kind: 'agent', actor: alice, input: {}, ...(lane === undefined ? {} : { lane }) });
    if (!leased) throw new Error('The lane was not free.');
    return leased;
  };
  const claimOne = async (): Promise<LeasedRun> => {
    const [run] = await journal.claim('agent', 1);
    if (!run) throw new Error('Nothing could be claimed.');
    return run;
  };
  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { code?: string }) => error.code ?? 'without a code',
    );

  it('that the database does not take back are given back with the next beat', async () => {
    const run = await held();
    refuses = () => true;
    await journal.release(run);
    expect(await journal.claim('agent', 1)).to.deep.equal([]);

    refuses = () => false;
    // The first call is for whoever has just begun to listen.
    const offered = new Promise<void>((resolve) => {
      let calls = 0;
      journal.onReady('agent', () => {
        calls += 1;
        if (calls === 2) resolve();
      });
    });
    await clock.advance(10_000);
    await offered;
    await db.commit([db.sql('UPDATE journal__runs SET kind = kind WHERE id = ?', ['none'])]);

    expect((await claimOne()).id).to.equal(run.id);
  });

  describe('of a commit that took effect without saying so', () => {
    const GAINS = /INSERT INTO journal__runs|lease_token = lease_token \+ 1/;
    const oneBeat = async (): Promise<void> => {
      await clock.advance(10_000);
      // The beat's own commits come first.
      for (let turn = 0; turn < 5; turn += 1) await db.commit([db.sql('UPDATE journal__runs SET kind = kind WHERE id = ?', ['none'])]);
    };

    it('are given back with the next beat: a run that was accepted is not held for ever by nobody', async () => {
      losesAnswer = GAINS;
      expect(await codeOf(held())).to.equal('storage_io');
      losesAnswer = undefined;
      expect(await journal.claim('agent', 1)).to.deep.equal([]);

      await oneBeat();

      expect((await claimOne()).attempt).to.equal(2);
    });

    it('are given back when a claim gained them', async () => {
      const run = await held();
      await journal.release(run);
      losesAnswer = GAINS;
      expect(await codeOf(journal.claim('agent', 1))).to.equal('storage_io');
      losesAnswer = undefined;
      expect(await journal.claim('agent', 1)).to.deep.equal([]);

      await oneBeat();

      expect((await claimOne()).id).to.equal(run.id);
    });
  });

  it('count by their holder too: on an older copy of the database a token may be given a second time', async () => {
    const run = await held();
    await db.commit([db.sql("UPDATE journal__runs SET lease_owner = 'another' WHERE id = ?", [run.id])]);
    expect(await codeOf(journal.advance(run, {}))).to.equal('journal_lease_lost');
    expect(run.signal.aborted).to.equal(true);
  });

  it('are not touched by whoever held the run before', async () => {
    const old = await held();
    await journal.release(old);
    const now = await claimOne();

    await journal.release(old);
    expect(await codeOf(journal.advance(old, {}))).to.equal('journal_lease_lost');

    expect(now.signal.aborted).to.equal(false);
    expect(await journal.interrupt(now.id, new Error('stop pressed'))).to.equal(true);
    expect(now.signal.aborted).to.equal(true);
    await journal.advance(now, { finish: { status: 'cancelled' } });
    expect(await journal.interrupt(now.id, new Error('again'))).to.equal(false);
  });

  it('that were gained are handed over when others of the same claim could not be', async () => {
    const [one, other] = [await held(), await held()];
    await journal.release(one);
    await journal.release(other);
    refuses = (writes) => writes.some((write) => argsOf.get(write)?.includes(other.id));

    expect((await journal.claim('agent', 10)).map(({ id }) => id)).to.deep.equal([one.id]);

    refuses = () => false;
    expect((await journal.claim('agent', 10)).map(({ id }) => id)).to.deep.equal([other.id]);
  });

  it('are given back when the steps of the claimed runs cannot be read', async () => {
    const run = await held();
    await journal.release(run);
    cannotRead = true;
    expect(await codeOf(journal.claim('agent', 10))).to.equal('without a code');

    cannotRead = false;

    expect((await claimOne()).id).to.equal(run.id);
  });
});
