/** What a statement may take of everybody's time and memory, and who pays when it takes more. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { Db, Logger, Migration } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import type { SlowStatement, StorageLimits } from '../../src/storage/contract/statement-limits.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const MIB = 1_048_576;
/** Each endless statement of the claims takes as long of a processor. */
const LIMIT_MS = 200;
/** For claims about statements that end, and move megabytes. */
const ENOUGH_MS = 5_000;
const limitsOf = (ms: number): StorageLimits => ({
  own: { statementMs: 20_000, migrationMs: 20_000, readBytes: 8 * MIB },
  thirdParty: { statementMs: ms, migrationMs: ms, readBytes: 4 * MIB },
});
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const shipped = { id: 'notes', tables: ['rows'] };
const acme = { id: 'acme', tables: ['rows', 'more'], isThirdParty: true };
const other = { id: 'other', tables: ['rows'], isThirdParty: true };
const init: Migration = { name: '0001_init', up: (m) => m.createTable('rows', { id: { kind: 'text', primaryKey: true }, body: { kind: 'text' }, extra: { kind: 'integer' } }) };

const ENDLESS = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)';
const endlessRead = `${ENDLESS} SELECT COUNT(*) AS n FROM n`;
const endlessWrite = (table: string): string => `INSERT INTO ${table} (id) SELECT 'x' FROM (${ENDLESS} SELECT i FROM n WHERE i < 0) AS e`;

interface Failure {
  readonly code: string;
  readonly message: string;
  readonly retry: boolean;
}

const failure = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => {
      throw new Error('It should have failed.');
    },
    (error: Failure) => error,
  );

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    ({ code }: Failure) => code,
  );

const msOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
};

describeOnEngines('the limits of statements', (engine) => {
  let home: string;
  let storage: Storage;
  let notes: Db;
  let db: Db;
  let late: SlowStatement[];
  let limits: StorageLimits;

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-limits-'));
    late = [];
    limits = limitsOf(LIMIT_MS);
    storage = await openStorage({
      file: join(home, 'svc.db'),
      ...(await engine.fresh()),
      clock: systemClock(),
      log: silent,
      onEvents: () => undefined,
      limits: () => limits,
      onSlow: (slow) => late.push(slow),
    });
    for (const owner of [shipped, acme, other]) await storage.migrate(owner, [init]);
    notes = storage.dbFor(shipped);
    db = storage.dbFor(acme);
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const write = (to: Db, id: string, body = '') => to.commit([to.insert('rows', [{ id, body }])]);
  const idsOf = async (of: Db): Promise<string[]> => (await of.system('a test').select<{ id: string }>({ from: 'rows', order: [{ column: 'id' }] })).map(({ id }) => id);

  describe('a third-party extension', () => {
    it('is told when a read of its own never ends, and its next one is answered', async () => {
      const error = await failure(db.system('a test').read(endlessRead));
      expect(error).to.include({ code: 'storage_too_slow', retry: false, message: 'A read of acme took more than 0.2 s and was interrupted; nothing was written.' });
      expect(await db.system('a test').count('rows')).to.equal(0);
      expect(late).to.have.length(1);
      expect(late[0]).to.include({ ownerId: 'acme', kind: 'read' });
      expect(late[0]?.ms).to.be.within(LIMIT_MS - 5, 5_000);
    });

    it('does not delay what others read with three endless reads', async () => {
      const hogs = [1, 2, 3].map(() => codeOf(db.system('a test').read(endlessRead)));
      await new Promise((resolve) => setTimeout(resolve, 50));
      // Five, so that one slow turn of a busy machine is not taken for a queue.
      const took = await Promise.all([1, 2, 3, 4, 5].map(() => msOf(() => notes.system('a test').count('rows'))));
      expect(Math.min(...took)).to.be.lessThan(LIMIT_MS);
      expect(await codeOf(storage.dbFor(other).system('a test').count('rows'))).to.equal('ok');
      expect(await Promise.all(hogs)).to.deep.equal(['storage_too_slow', 'storage_too_slow', 'storage_too_slow']);
    });

    it('has one read at a time and a bounded line of those that wait', async () => {
      const many = await Promise.all(Array.from({ length: 150 }, () => codeOf(db.system('a test').count('rows'))));
      expect(many.filter((code) => code === 'ok')).to.have.length(101);
      expect(many.filter((code) => code === 'storage_reads_waiting')).to.have.length(49);
    });

    it('loses its endless commit and no other of the same batch', async () => {
      const ended = await Promise.all([
        codeOf(write(notes, 'before')),
        codeOf(db.commit([db.sql(endlessWrite(db.table('rows')), [])])),
        codeOf(write(notes, 'after')),
        codeOf(write(storage.dbFor(other), 'too')),
      ]);
      expect(ended).to.deep.equal(['ok', 'storage_too_slow', 'ok', 'ok']);
      expect(await idsOf(notes)).to.deep.equal(['after', 'before']);
      expect(await idsOf(storage.dbFor(other))).to.deep.equal(['too']);
      expect(late.map(({ ownerId, kind }) => `${ownerId} ${kind}`)).to.deep.equal(['acme write']);
    });

    it('does not hold the writer with a hundred endless commits: after the first the others are refused', async () => {
      const hogs = Array.from({ length: 100 }, () => failure(db.commit([db.sql(endlessWrite(db.table('rows')), [])])));
      const took = await msOf(() => write(notes, 'a message'));
      expect(took).to.be.lessThan(LIMIT_MS * 2 + 3_000);
      const codes = (await Promise.all(hogs)).map(({ code }) => code);
      expect(codes.filter((code) => code === 'storage_too_slow')).to.have.length(1);
      expect(codes.filter((code) => code === 'storage_late_owner')).to.have.length(99);
      await new Promise((resolve) => setTimeout(resolve, LIMIT_MS + 50));
      expect(await codeOf(write(db, 'later'))).to.equal('ok');
    });

    it('is blamed for its own part of a commit, and not who else has a part in it', async () => {
      const second = storage.dbFor(other);
      const mixed = await failure(notes.commit([notes.insert('rows', [{ id: 'm' }]), second.insert('rows', [{ id: 's' }]), db.sql(endlessWrite(db.table('rows')), [])]));
      expect(mixed).to.include({ code: 'storage_too_slow', message: 'A commit of acme took more than 0.2 s and was interrupted; nothing was written.' });
      expect(await idsOf(notes)).to.deep.equal([]);
      expect(await codeOf(write(second, 'free'))).to.equal('ok');
      expect(await codeOf(write(db, 'not yet'))).to.equal('storage_late_owner');
    });

    it('has no commit of others refused for what they hold beside one of its own', async () => {
      limits = limitsOf(ENOUGH_MS);
      const large = 'x'.repeat(6 * MIB);
      expect(await Promise.all([codeOf(write(db, 'mine')), codeOf(write(notes, 'large', large)), codeOf(write(storage.dbFor(other), 'too'))])).to.deep.equal(['ok', 'ok', 'ok']);
      // Its row, which is written anew, is larger than what an extension of others may write.
      expect(await Promise.all([codeOf(write(db, 'again')), codeOf(notes.commit([notes.update('rows', ['id'], [{ id: 'large', extra: 1 }], { expect: 'each' })]))])).to.deep.equal(['ok', 'ok']);
      expect((await notes.system('a test').first<{ body: string }>({ from: 'rows', where: { id: 'large' } }))?.body.length).to.equal(large.length);
      if (engine.name === 'SQLite') expect(await codeOf(write(db, 'huge', large))).to.equal('storage_too_large');
    });

    it('has an endless migration undone whole, and the writer is free', async () => {
      const hang: Migration = {
        name: '0002_hang',
        up: (m) => {
          m.createTable('more', { id: { kind: 'text', primaryKey: true } });
          m.sql(endlessWrite('{rows}'));
        },
      };
      const [migrated] = await Promise.all([failure(storage.migrate(acme, [init, hang])), write(notes, 'meanwhile')]);
      expect(migrated).to.include({ code: 'storage_migration_too_slow', retry: false, message: 'Migration 0002_hang of acme took more than 0.2 s; it was interrupted and undone.' });
      expect(late.map(({ kind }) => kind)).to.deep.equal(['migration']);
      // The same name again: nothing of it is known, and its table is not there.
      const good: Migration = { name: '0002_hang', up: (m) => m.createTable('more', { id: { kind: 'text', primaryKey: true } }) };
      expect(await storage.migrate(acme, [init, good])).to.deep.equal({ applied: ['0002_hang'] });
      expect(await codeOf(write(db, 'goes on'))).to.equal('ok');
    });

    it('may not read more than its bytes at once, and is told how to page', async () => {
      limits = limitsOf(ENOUGH_MS);
      for (let id = 0; id < 6; id += 1) await write(db, `r${id}`, 'x'.repeat(MIB));
      const error = await failure(db.system('a test').select({ from: 'rows' }));
      expect(error).to.include({ code: 'storage_read_too_large', retry: false, message: 'A read of acme found more than 4 MiB, which is the limit of one read.' });
      const ids: string[] = [];
      let after: string | undefined;
      do {
        const page = await db.system('a test').page<{ id: string }>({ from: 'rows', limit: 2, ...(after === undefined ? {} : { after }) });
        ids.push(...page.rows.map(({ id }) => id));
        after = page.next ?? undefined;
      } while (after !== undefined);
      expect(ids).to.deep.equal(['r0', 'r1', 'r2', 'r3', 'r4', 'r5']);
    });
  });

  it('commits that stay just below the limit are counted too, against who makes them', async () => {
    const counted = (rows: number) => db.sql(`INSERT INTO ${db.table('rows')} (id) SELECT 'x' FROM (${ENDLESS.replace('FROM n)', `FROM n WHERE i < ${rows})`)} SELECT i FROM n WHERE i < 0) AS e`, []);
    // Longer than the way there and back on a busy machine, which is measured too.
    const limitMs = 400;
    limits = limitsOf(limitMs);
    // As many as take about three quarters of the limit on this machine.
    let rows = 20_000;
    for (let ms = 0; ms < limitMs * 0.6 && rows < 50_000_000; ) {
      if (ms > 0 || rows > 20_000) rows = Math.round(rows * Math.min(2, Math.max(1.1, (limitMs * 0.75) / Math.max(ms, 1))));
      ms = await msOf(() => codeOf(db.commit([counted(rows)])));
      rows += 1;
    }
    let writes = 0;
    late.length = 0;
    // A machine that has become faster meanwhile gets more rows, a slower one fewer.
    for (let rounds = 0; rounds < 12 && late.length === 0; rounds += 1) {
      // Who was late before may write again.
      await new Promise((resolve) => setTimeout(resolve, limitMs + 50));
      const codes: string[] = [];
      for (let times = 0; times < 3; times += 1) codes.push(await codeOf(Promise.all([write(notes, `w${writes++}`), db.commit([counted(rows)])])));
      const isTooLong = codes.some((code) => code !== 'ok' && code !== 'storage_late_owner');
      if (isTooLong) late.length = 0;
      rows = Math.round(rows * (isTooLong ? 0.8 : 1.15));
    }
    expect(late.length).to.be.at.least(1);
    expect([...new Set(late.map(({ ownerId, kind }) => `${ownerId} ${kind}`))]).to.deep.equal(['acme write']);
    expect((await idsOf(notes)).length).to.equal(writes);
  });

  it('60 rows of 1 MiB, read twelve times at once by an area, take a bounded part of the memory', async function () {
    this.timeout(120_000);
    const body = 'x'.repeat(MIB);
    for (let at = 0; at < 60; at += 10)
      await notes.commit([
        notes.insert(
          'rows',
          Array.from({ length: 10 }, (_, id) => ({ id: `r${at + id}`, body })),
        ),
      ]);
    globalThis.gc?.();
    const before = process.memoryUsage.rss();
    let highest = before;
    const watch = setInterval(() => {
      highest = Math.max(highest, process.memoryUsage.rss());
    }, 5);
    const codes = await Promise.all(Array.from({ length: 12 }, () => codeOf(notes.system('a test').select({ from: 'rows' }))));
    clearInterval(watch);
    expect([...new Set(codes)]).to.deep.equal(['storage_read_too_large']);
    const grownMib = Math.round((Math.max(highest, process.memoryUsage.rss()) - before) / MIB);
    if (process.env.SVC_SHOW) console.log(`      ${engine.name}: memory grew by ${grownMib} MiB`);
    // 700 MiB without a bound.
    expect(grownMib).to.be.lessThan(150);
    expect(await notes.system('a test').select({ from: 'rows', limit: 4 })).to.have.length(4);
  });

  it('ends in time while endless statements run, also those of its own that may take a minute', async () => {
    const second = await openStorage({ file: join(home, 'second.db'), ...(await engine.fresh()), clock: systemClock(), log: silent, onEvents: () => undefined, closingMs: LIMIT_MS });
    await second.migrate(shipped, [init]);
    const own = second.dbFor(shipped);
    const running = [codeOf(own.system('a test').read(endlessRead)), codeOf(own.commit([own.sql(endlessWrite(own.table('rows')), [])]))];
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await msOf(() => second.close())).to.be.lessThan(8_000);
    expect((await Promise.all(running)).filter((code) => code === 'ok')).to.deep.equal([]);
  });

  it('gives a statement no more time when it is closed than the statement had', async () => {
    const second = await openStorage({
      file: join(home, 'second.db'),
      ...(await engine.fresh()),
      clock: systemClock(),
      log: silent,
      onEvents: () => undefined,
      limits: () => limits,
      closingMs: 20_000,
    });
    await second.migrate(acme, [init]);
    const reading = codeOf(second.dbFor(acme).system('a test').read(endlessRead));
    expect(await msOf(() => second.close())).to.be.lessThan(8_000);
    expect(await reading).not.to.equal('ok');
  });
});
