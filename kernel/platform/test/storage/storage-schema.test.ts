/** What migrations make of tables, and what is kept of events. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const owner = { id: 'note-book', tables: ['notes', 'tags'] };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnEngines('tables in storage', (engine) => {
  let home: string;
  let where: { url?: string };
  let storage: Storage;
  let db: Db;
  const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));

  const open = async (stored: readonly string[] = []): Promise<void> => {
    storage = await openStorage({ file: join(home, 'svc.db'), ...where, clock, log: silent, onEvents: () => undefined, storeEvent: (event) => stored.includes(event) });
    db = storage.dbFor(owner);
  };

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-schema-'));
    where = await engine.fresh();
    await open();
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const codeOf = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'ok',
      (error: { code: string }) => error.code,
    );
  const platform = (): Db => storage.dbFor({ id: 'kernel', tables: [], isPlatform: true });
  const put = (row: Record<string, string | number | null>) => codeOf(db.commit([db.insert('notes', [row])]));
  const one = (name: string, up: Migration['up']): Migration => ({ name, up });

  const indexes = async (): Promise<string[]> => {
    const names = await platform()
      .system('a test')
      .read<{ name: string }>(
        engine.name === 'SQLite'
          ? "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'note_book__notes' AND sql IS NOT NULL ORDER BY name"
          : "SELECT indexname AS name FROM pg_indexes WHERE tablename = 'note_book__notes' AND indexname NOT LIKE '%pkey' ORDER BY indexname",
      );
    return names.map(({ name }) => name);
  };

  it('keep the rules of each column: keys, no nulls, JSON, booleans, one of a kind', async () => {
    await storage.migrate(owner, [
      one('0001_init', (m) =>
        m.createTable('notes', {
          id: { kind: 'text', primaryKey: true },
          must: { kind: 'integer', notNull: true, default: 7 },
          meta: { kind: 'json' },
          flag: { kind: 'boolean' },
          name: { kind: 'text', unique: true },
        }),
      ),
    ]);
    expect(await put({ id: 'a', meta: '{"x":1}', flag: 1, name: 'one' })).to.equal('ok');
    expect(await db.system('a test').readOne('SELECT must FROM note_book__notes')).to.deep.equal({ must: 7 });
    expect(await put({ id: 'a' })).to.equal('storage_conflict');
    expect(await put({ id: 'b', name: 'one' })).to.equal('storage_conflict');
    for (const bad of [{ id: null }, { id: 'c', must: null }, { id: 'd', meta: '{x' }, { id: 'e', flag: 2 }]) expect(await put(bad), JSON.stringify(bad)).to.equal('storage_invalid_row');
  });

  it('have keys of several columns, and indexes that hold for some rows only', async () => {
    await storage.migrate(owner, [
      one('0001_init', (m) => {
        m.createTable('notes', { a: { kind: 'text' }, b: { kind: 'text' }, n: { kind: 'integer' } }, { primaryKey: ['a', 'b'] });
        m.createIndex('notes', ['n'], { unique: true, where: 'n > 0' });
        m.createIndex('notes', ['b', 'n']);
      }),
    ]);
    expect([await put({ a: 'x', b: '1', n: 0 }), await put({ a: 'x', b: '2', n: 0 }), await put({ a: 'x', b: '1', n: 0 })]).to.deep.equal(['ok', 'ok', 'storage_conflict']);
    expect([await put({ a: 'y', b: '1', n: 5 }), await put({ a: 'y', b: '2', n: 5 })]).to.deep.equal(['ok', 'storage_conflict']);
    expect(await indexes()).to.deep.equal(['note_book__notes_b_n_idx', 'note_book__notes_n_key']);
  });

  it('lose an index that a later migration drops, and none that is a rule', async () => {
    const init = one('0001_init', (m) => {
      m.createTable('notes', { a: { kind: 'text', primaryKey: true }, n: { kind: 'integer' } });
      m.createIndex('notes', ['n']);
      m.createIndex('notes', ['a', 'n'], { unique: true });
    });
    await storage.migrate(owner, [init]);
    expect(await codeOf(storage.migrate(owner, [init, one('0002_lean', (m) => m.dropIndex('notes', ['a', 'n']))]))).to.equal('storage_migration_failed');
    expect(await codeOf(storage.migrate(owner, [init, one('0002_lean', (m) => m.dropIndex('others', ['n']))]))).to.equal('storage_unknown_table');
    await storage.migrate(owner, [init, one('0002_lean', (m) => m.dropIndex('notes', ['n']))]);
    expect(await indexes()).to.deep.equal(['note_book__notes_a_n_key']);
  });

  it('belong to their owner in migrations as well', async () => {
    const failure = await storage.migrate(owner, [one('0001_init', (m) => m.createTable('others', { id: { kind: 'text' } }))]).catch((error: Error) => error.message);
    expect(failure).to.equal('note-book has no table "others".');
    expect(await codeOf(storage.migrate(owner, [one('0001_init', (m) => m.sql('DELETE FROM {others}'))]))).to.equal('storage_unknown_table');
    expect(() => storage.dbFor({ id: 'x', tables: ['migrations'] })).to.throw('the name is reserved');
  });

  it('refuse a migration that comes before one that was applied', async () => {
    const first = one('0002_init', (m) => m.createTable('notes', { id: { kind: 'text' } }));
    await storage.migrate(owner, [first]);
    expect(await codeOf(storage.migrate(owner, [first, one('0001_late', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]))).to.equal('storage_migration_missing');
    expect(await codeOf(storage.migrate(owner, [first, one('0003_next', (m) => m.addColumn('notes', 'x', { kind: 'text' }))]))).to.equal('ok');
  });

  describe('that one migration joins', () => {
    const parts = [one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } })), one('0002_x', (m) => m.addColumn('notes', 'x', { kind: 'text' }))];
    const whole = { ...one('0001_tables', (m) => m.createTable('notes', { id: { kind: 'text' }, x: { kind: 'text' } })), replaces: ['0001_init', '0002_x'] };
    const next = one('0002_next', (m) => m.addColumn('notes', 'y', { kind: 'text' }));
    const books = () => [...(storage.appliedMigrations().get('note_book__migrations')?.keys() ?? [])];

    it('count as applied where all of them are, and the next one follows', async () => {
      await storage.migrate(owner, parts);
      await storage.migrate(owner, [whole, next]);
      expect(books()).to.deep.equal(['0001_tables', '0002_next']);
      await storage.close();
      await open();
      expect(books().sort()).to.deep.equal(['0001_tables', '0002_next']);
      expect(await storage.migrate(owner, [whole, next])).to.deep.equal({ applied: [] });
    });

    it('are refused where some are missing, and left as they are', async () => {
      await storage.migrate(owner, parts.slice(0, 1));
      expect(await codeOf(storage.migrate(owner, [whole]))).to.equal('storage_migration_joined');
      expect(books()).to.deep.equal(['0001_init']);
    });

    it('are the whole in a new database', async () => {
      expect(await storage.migrate(owner, [whole, next])).to.deep.equal({ applied: ['0001_tables', '0002_next'] });
    });
  });

  it('remember what was applied and when, across a restart', async () => {
    const first = one('0001_init', (m) => m.createTable('notes', { id: { kind: 'text' } }));
    await storage.migrate(owner, [first]);
    await storage.close();
    await open();
    expect([...(storage.appliedMigrations().get('note_book__migrations')?.keys() ?? [])]).to.deep.equal(['0001_init']);
    expect(await platform().system('a test').readOne('SELECT name, applied_at FROM note_book__migrations')).to.deep.equal({ name: '0001_init', applied_at: '2026-01-01T00:00:00.000Z' });
  });

  describe('events that are kept', () => {
    it('carry what JSON can hold, and refuse what it cannot', async () => {
      await storage.close();
      await open(['noted']);
      expect(await codeOf(db.commit([storage.event('notes', 'noted', undefined)]))).to.equal('storage_bad_write');
      await db.commit([storage.event('notes', 'noted', null)]);
      expect(await platform().system('a test').readOne('SELECT name, data, at FROM kernel__events')).to.deep.equal({ name: 'noted', data: 'null', at: '2026-01-01T00:00:00.000Z' });
    });
  });
});
