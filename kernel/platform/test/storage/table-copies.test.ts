/** What a new version does to its tables can be taken back whole, on both engines, also by a later life of the daemon. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSvcError, type Logger, type Migration, wordList, wordsAsked, wordsOf } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const owner = { id: 'acme-notes', tables: ['notes', 'tags', 'more'] };
const neighbour = { id: 'acme-notes-two', tables: ['notes'] };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

const first: Migration = {
  name: '0001_init',
  up: (m) => {
    m.createTable('notes', { id: { kind: 'integer', primaryKey: true }, text: { kind: 'text', notNull: true }, size: { kind: 'real' }, words: { kind: 'words' } });
    m.createTable('tags', { note: { kind: 'integer' }, tag: { kind: 'text', default: 'none' } }, { primaryKey: ['note', 'tag'], unique: [['tag']] });
    m.createIndex('notes', ['text'], { unique: true });
  },
};
const second: Migration = {
  name: '0002_worse',
  up: (m) => {
    m.sql('DELETE FROM {notes} WHERE id < 3');
    m.sql("UPDATE {tags} SET tag = 'gone' WHERE note = 1");
    m.addColumn('notes', 'late', { kind: 'text' });
    m.createTable('more', { id: { kind: 'integer', primaryKey: true } });
  },
};

describeOnEngines('the tables of an owner', (engine) => {
  let home: string;
  let where: { url?: string };
  let storage: Storage;
  const open = async (): Promise<Storage> => openStorage({ file: join(home, 'svc.db'), ...where, clock: virtualClock(0), log: silent, onEvents: () => undefined });
  const notes = () =>
    storage
      .dbFor(owner)
      .system('a test')
      .select<{ id: number; text: string; size: number }>({ from: 'notes', columns: ['id', 'text', 'size'], order: [{ column: 'id' }] });
  const tags = () =>
    storage
      .dbFor(owner)
      .system('a test')
      .select({ from: 'tags', columns: ['note', 'tag'] });
  const found = async (text: string) =>
    (
      await storage
        .dbFor(owner)
        .system('a test')
        .select<{ id: number }>({ from: 'notes', columns: ['id'], where: { words: { has: [wordsAsked(text)] } }, order: [{ column: 'id' }] })
    ).map(({ id }) => id);
  const failure = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'done',
      (error: unknown) => (isSvcError(error) ? error.code : String(error)),
    );

  beforeEach(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-kept-'));
    where = await engine.fresh();
    storage = await open();
    await storage.migrate(owner, [first]);
    await storage.migrate(neighbour, [{ name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'integer', primaryKey: true } }) }]);
    const db = storage.dbFor(owner);
    const note = (id: number, text: string) => db.insert('notes', [{ id, text, size: id + 0.25, words: wordList(wordsOf(text, 100)) }]);
    await db.commit([note(1, "it's one"), note(2, 'two words'), note(3, 'three'), db.insert('tags', [{ note: 1, tag: 'a' }])]);
    await storage.dbFor(neighbour).commit([storage.dbFor(neighbour).insert('notes', [{ id: 7 }])]);
  });
  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  it('are put back with rows, keys, indexes, words and the list of migrations', async () => {
    const before = await notes();
    expect(storage.isPending(owner, ['0001_init', '0002_worse'])).to.equal(true);
    await storage.copyTables(owner, 'try-1');
    await storage.migrate(owner, [first, second]);
    expect((await notes()).map(({ id }) => id)).to.deep.equal([3]);

    expect(await storage.restoreTables(owner, 'try-1')).to.equal(true);

    expect(await notes()).to.deep.equal(before);
    expect(await tags()).to.deep.equal([{ note: 1, tag: 'a' }]);
    expect([await found('words'), await found("it's"), await found('three')]).to.deep.equal([[2], [1], [3]]);
    expect(storage.isPending(owner, ['0001_init'])).to.equal(false);
    expect(storage.isPending(owner, ['0002_worse'])).to.equal(true);
    const db = storage.dbFor(owner);
    expect(await failure(db.commit([db.insert('notes', [{ id: 1, text: 'x' }])])), 'the key').to.equal('storage_conflict');
    expect(await failure(db.commit([db.insert('notes', [{ id: 9, text: 'three' }])])), 'the unique index').to.equal('storage_conflict');
    expect(await failure(db.commit([db.insert('tags', [{ note: 5, tag: 'a' }])])), 'the unique columns').to.equal('storage_conflict');
    await db.commit([db.insert('tags', [{ note: 6 }]), db.insert('notes', [{ id: 4, text: 'words anew', words: 'words anew' }]), db.remove('notes', { id: 2 })]);
    expect(await found('words'), 'the triggers').to.deep.equal([4]);
    expect(await storage.dbFor(neighbour).system('a test').select({ from: 'notes' })).to.have.length(1);
    expect(await storage.tableCopies()).to.deep.equal([]);
    await storage.migrate(owner, [first, second]);
    expect(
      (await notes()).map(({ id }) => id),
      'a second attempt migrates anew',
    ).to.deep.equal([3, 4]);
  });

  it('are put back by the next life of the daemon, where this one ended in the midst', async () => {
    const before = await notes();
    await storage.copyTables(owner, 'try-1');
    await storage.migrate(owner, [first, second]);
    await storage.close();

    storage = await open();
    expect(await storage.tableCopies()).to.deep.equal([{ owner: owner.id, token: 'try-1' }]);
    expect(await storage.restoreTables(owner, 'another'), 'of another attempt').to.equal(false);
    expect(await storage.restoreTables(owner, 'try-1')).to.equal(true);
    await storage.migrate(owner, [first]);
    expect(await notes()).to.deep.equal(before);
    expect(await found('two')).to.deep.equal([2]);
    expect(await storage.restoreTables(owner, 'try-1'), 'once').to.equal(false);
  });

  it('keep what was done where the copy is forgotten, and lose the copy with the owner', async () => {
    await storage.copyTables(owner, 'try-1');
    await storage.copyTables(owner, 'try-2');
    await storage.migrate(owner, [first, second]);
    expect(await storage.tableCopies()).to.deep.equal([{ owner: owner.id, token: 'try-2' }]);
    await storage.forgetTables(owner.id);
    expect(await storage.restoreTables(owner, 'try-2')).to.equal(false);
    expect((await notes()).map(({ id }) => id)).to.deep.equal([3]);
    await storage.copyTables(owner, 'try-3');
    await storage.drop(owner);
    expect(await storage.tableCopies()).to.deep.equal([]);
  });

  it('that did not exist are gone again', async () => {
    const fresh = { id: 'acme-fresh', tables: ['notes'] };
    const make: Migration = { name: '0001_init', up: (m) => m.createTable('notes', { id: { kind: 'integer', primaryKey: true } }) };
    await storage.copyTables(fresh, 'try-1');
    await storage.migrate(fresh, [make]);
    expect(await storage.restoreTables(fresh, 'try-1')).to.equal(true);
    expect((await storage.migrate(fresh, [make])).applied).to.deep.equal(['0001_init']);
  });
});
