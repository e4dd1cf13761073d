/** A journal on a real SQLite file under a clock that the test moves. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, LeasedRun, Logger, Write } from '@svc/api';
import { actorOf, type OpenRun } from '@svc/api/internal';
import type { Bus } from '../../src/bus/bus.js';
import type { TestEngine } from '@svc/testing/postgres/engines';
import { type VirtualClock, virtualClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import { createJournal, type PlatformJournal } from '../../src/journal/journal.js';
import { journalMigrations, journalOwner } from '../../src/journal/rows/journal-migrations.js';
import { storageErrors } from '../../src/storage/contract/errors.js';
import { openPostgres } from '../../src/storage/postgres/postgres-connection.js';
import { openSqlite } from '../../src/storage/sqlite/sqlite-connection.js';
import { openStorage } from '../../src/storage/storage.js';

export const alice = actorOf('user:alice');
export const bob = actorOf('user:bob');

export interface JournalRig {
  readonly clock: VirtualClock;
  readonly db: Db;
  readonly journal: PlatformJournal;
  readonly logged: string[];
  /** Reads that fail while this says so. */
  breakReads(when: (sql: string) => boolean): void;
  breakCommits(when: (writes: readonly Write[]) => boolean): void;
  /** Commits that take effect and fail all the same with `storage_io`, as when the connection is lost before the answer. */
  loseAnswers(when: (writes: readonly Write[]) => boolean): void;
  /** The SQL of a write that was built on `db`; '' for one that was built from data. */
  textOf(write: Write): string;
  /** Changes rows as a damaged disk would: past every rule of the tables. */
  spoil(sql: string): Promise<void>;
  /** Another process on the same file. */
  another(options?: { soleWriter?: boolean; clock?: VirtualClock; bus?: Bus }): PlatformJournal;
  held(extra?: Partial<OpenRun>): Promise<LeasedRun>;
  finish(run: LeasedRun): Promise<void>;
  /** Lets what is due, and the reads behind it, happen. */
  settled(): Promise<void>;
  /** Moves the clock in steps, so that what one wait begins is there before the next. */
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Ends everything and gives what stands in all files of the home. */
  closedFiles(): Promise<string>;
  close(): Promise<void>;
}

export const openJournalRig = async (engine: Pick<TestEngine, 'fresh'> = { fresh: async () => ({}) }): Promise<JournalRig> => {
  const { url } = await engine.fresh();
  const home = mkdtempSync(join(tmpdir(), 'svc-journal-'));
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
  const logged: string[] = [];
  const say = (message: string): void => void logged.push(message);
  const log: Logger = { debug: () => undefined, info: () => undefined, warn: say, error: say };
  let isBroken: (sql: string) => boolean = () => false;
  let isFull: (writes: readonly Write[]) => boolean = () => false;
  const storage = await openStorage({ file: join(home, 'svc.db'), url, clock, now: clock.now, log, onEvents: () => undefined });
  let isLost: (writes: readonly Write[]) => boolean = () => false;
  await storage.migrate(journalOwner, journalMigrations);
  const real = storage.dbFor(journalOwner);
  const texts = new WeakMap<Write, string>();
  /** What the journals have asked of the database and not been answered yet. */
  let running = 0;
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    running += 1;
    try {
      return await work();
    } finally {
      running -= 1;
    }
  };
  const db: Db = {
    ...real,
    sql: (text, args, options) => {
      const write = real.sql(text, args, options);
      texts.set(write, text);
      return write;
    },
    system: (why) => {
      const reader = real.system(why);
      return {
        ...reader,
        read: (sql, args) => (isBroken(sql) ? Promise.reject(new Error('the disk is broken')) : counted(() => reader.read(sql, args))),
        readOne: (sql, args) => (isBroken(sql) ? Promise.reject(new Error('the disk is broken')) : counted(() => reader.readOne(sql, args))),
      };
    },
    commit: async (writes) => {
      if (isFull(writes)) throw new Error('the disk is full');
      const done = await counted(() => real.commit(writes));
      if (isLost(writes)) throw storageErrors.io();
      return done;
    },
  };
  const journals: PlatformJournal[] = [];
  const another = (options: { soleWriter?: boolean; clock?: VirtualClock; bus?: Bus } = {}): PlatformJournal => {
    const { soleWriter = true } = options;
    const made = createJournal({
      db,
      nowSql: storage.nowSql,
      clock: options.clock ?? clock,
      ids: systemIds(),
      log,
      instanceId: `life-${journals.length + 1}`,
      leaseMs: 30_000,
      soleWriter,
      ...(options.bus ? { bus: options.bus } : {}),
    });
    journals.push(made);
    return made;
  };
  const journal = another();
  // It looks for waits at its start, and sleeps when it has: what a test changes before that it would still see.
  for (const ticks = clock.pending(); clock.pending() === ticks; ) await real.system('a test').read('SELECT 1');
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 5; i += 1) {
      await real.system('a test').read('SELECT 1');
      await real.commit([real.sql('UPDATE journal__runs SET kind = kind WHERE id = ?', ['none'])]);
      // A busy server answers one connection later than another.
      while (running > 0) await new Promise((resolve) => setImmediate(resolve));
    }
  };
  let ended: Promise<void> | undefined;
  const end = (): Promise<void> => {
    ended ??= (async () => {
      for (const one of journals) await one.close();
      await storage.close();
    })();
    return ended;
  };
  return {
    clock,
    db,
    journal,
    logged,
    breakReads: (when) => {
      isBroken = when;
    },
    breakCommits: (when) => {
      isFull = when;
    },
    loseAnswers: (when) => {
      isLost = when;
    },
    textOf: (write) => texts.get(write) ?? '',
    spoil: (sql) => (url === undefined ? spoilFile(join(home, 'svc.db'), sql) : spoilServer(url, sql)),
    another,
    held: async (extra = {}) => {
      const { leased } = await journal.open({ kind: 'agent', actor: alice, input: { ask: 'hello' }, ...extra });
      if (!leased) throw new Error('The lane was not free.');
      return leased;
    },
    finish: (run) => journal.advance(run, { finish: { status: 'done', result: { said: 'bye' } } }),
    settled,
    pass: async (ms, stepMs = ms) => {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(Math.min(stepMs, ms - passed));
        await settled();
      }
    },
    closedFiles: async () => {
      await end();
      return readdirSync(home, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name, parentPath }) => readFileSync(join(parentPath, name), 'latin1'))
        .join('');
    },
    close: async () => {
      await end();
      rmSync(home, { recursive: true, force: true });
    },
  };
};

const spoilFile = async (file: string, sql: string): Promise<void> => {
  const connection = await openSqlite({ file, readOnly: false, maxStatements: 1 });
  await connection.exec(`PRAGMA ignore_check_constraints=ON; ${sql}`);
  await connection.close();
};

const spoilServer = async (url: string, sql: string): Promise<void> => {
  const connection = await openPostgres(url);
  const rules = (await connection.query("SELECT conrelid::regclass::text AS at, conname AS name FROM pg_constraint WHERE contype = 'c' AND conrelid::regclass::text LIKE 'journal_%'"))[0]?.rows ?? [];
  for (const { at, name } of rules as Array<{ at: string; name: string }>) await connection.query(`ALTER TABLE ${at} DROP CONSTRAINT "${name}"`); // the shape of this SELECT
  await connection.query(sql);
  await connection.close();
};

export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: { code?: string }) => error.code ?? String(error),
  );
