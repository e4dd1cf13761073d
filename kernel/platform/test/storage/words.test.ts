/** Rows that are found by the words they hold, the same on both engines. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Db, type Logger, type Migration, wordList, wordsAsked, wordsOf } from '@svc/api';
import { actorOf } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { createForgetting } from '../../src/storage/sqlite/forget-words.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const owner = { id: 'note-book', tables: ['notes'] };
const init: Migration = {
  name: '0001_init',
  up: (m) => m.createTable('notes', { id: { kind: 'integer', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, words: { kind: 'words' } }),
};
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const MANY = 1_000;

describeOnEngines('a column of words', (engine) => {
  let home: string;
  let storage: Storage;
  let db: Db;

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-words-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock: virtualClock(0), log: silent, onEvents: () => undefined });
    await storage.migrate(owner, [init]);
    db = storage.dbFor(owner);
  });
  after(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });
  beforeEach(() => db.commit([db.remove('notes', { id: { gte: 0 } })]));

  const note = (id: number, text: string, owner_id = 'user:alice') => ({ id, owner_id, words: wordList(wordsOf(text, MANY)) });
  const keep = (...texts: string[]) =>
    db.commit([
      db.insert(
        'notes',
        texts.map((text, index) => note(index + 1, text)),
      ),
    ]);
  const found = async (has: readonly (readonly string[])[], where = {}): Promise<number[]> =>
    (await db.system('a test').select<{ id: number }>({ from: 'notes', columns: ['id'], where: { ...where, words: { has } }, order: [{ column: 'id' }] })).map(({ id }) => id);
  const asked = (text: string) => found([wordsAsked(text)]);
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { code: string }) => error.code,
    );

  it('finds rows that hold every word of one of the groups', async () => {
    await keep('the spare key is under the blue pot', 'a blue door', 'Nothing here');
    expect(await asked('blue')).to.deep.equal([1, 2]);
    expect(await asked('BLUE key')).to.deep.equal([1]);
    expect(await asked('blue nothing')).to.deep.equal([]);
    expect(await found([['key', 'pot'], ['nothing']])).to.deep.equal([1, 3]);
    expect(await found([['blue']], { id: { gt: 1 } })).to.deep.equal([2]);
  });

  it('finds words whatever their case, accents and width, and only whole ones', async () => {
    await keep('Le CAFÉ est fermé', 'cafeteria', 'ｃａｆｅ');
    expect(await asked('café')).to.deep.equal([1, 3]);
    expect(await asked('cafe')).to.deep.equal([1, 3]);
    expect(await asked('caf')).to.deep.equal([]);
  });

  it('finds a part of any length in scripts without spaces, and pictographs', async () => {
    await keep('我们明天在北京见面', '東京タワーに行きます', '회의는 내일입니다', 'พบกันพรุ่งนี้', 'well done 🎉👍🏽');
    expect(await asked('北京')).to.deep.equal([1]);
    expect(await asked('京')).to.deep.equal([1, 2]);
    expect(await asked('明天在北京')).to.deep.equal([1]);
    expect(await asked('タワー')).to.deep.equal([2]);
    expect(await asked('내일')).to.deep.equal([3]);
    expect(await asked('พรุ่งนี้')).to.deep.equal([4]);
    expect(await asked('🎉 done')).to.deep.equal([5]);
    expect(await asked('北京 done')).to.deep.equal([]);
  });

  it('finds none that was removed, and an old word no more once others took its place', async () => {
    await keep('one apple', 'two apples', 'apple three');
    await db.commit([db.remove('notes', { id: 1 })]);
    expect(await asked('apple')).to.deep.equal([3]);
    await db.commit([db.update('notes', ['id'], [note(3, 'pear')], { expect: 'each' })]);
    expect(await asked('apple')).to.deep.equal([]);
    expect(await asked('pear')).to.deep.equal([3]);
  });

  it('takes nothing of a commit that is refused, and counts rows as any table does', async () => {
    await keep('kept');
    expect(await refusal(db.commit([db.insert('notes', [note(2, 'refused')]), db.remove('notes', { id: 99 }, { expect: 1 })]))).to.equal('storage_conflict');
    expect(await asked('refused')).to.deep.equal([]);
    const { changes } = await db.commit([
      db.insert('notes', [note(1, 'again')], { ifAbsent: true }),
      db.insert('notes', [note(2, 'new')], { ifAbsent: true }),
      db.remove('notes', { id: { gte: 1 } }, { expect: 2 }),
    ]);
    expect(changes).to.deep.equal([0, 1, 2]);
    expect(await asked('new')).to.deep.equal([]);
  });

  it('shows nobody the rows of another', async () => {
    await db.commit([db.insert('notes', [note(1, 'secret'), note(2, 'secret', 'user:bob')])]);
    const rows = await db.as(actorOf('user:bob')).select<{ id: number }>({ from: 'notes', columns: ['id'], where: { words: { has: [['secret']] } } });
    expect(rows).to.deep.equal([{ id: 2 }]);
  });

  it('refuses what is no word, no group, or no way to ask for one', async () => {
    for (const has of [[], [[]], [['two words']], [["it's"]], [['a', 'b*']], [['NEAR']], [['a:b']], [['']]]) expect(await refusal(found(has)), JSON.stringify(has)).to.equal('storage_bad_query');
    expect(await refusal(db.system('a test').select({ from: 'notes', where: { words: 'a' } }))).to.equal('storage_bad_query');
    expect(() => db.remove('notes', { words: { has: [['a']] } })).to.throw('cannot be compared by "has"');
    expect(() => wordList(["it's"])).to.throw('is not a word');
    expect(wordList([])).to.equal(null);
  });

  it('is refused where no index could name its rows', async () => {
    const columns = (id: object, words: object): Migration => ({ name: '0001_init', up: (m) => m.createTable('bad', { id, words } as never) });
    const other = { id: 'other-book', tables: ['bad'] };
    const cases = [
      columns({ kind: 'text', primaryKey: true }, { kind: 'words' }),
      columns({ kind: 'integer' }, { kind: 'words' }),
      columns({ kind: 'integer', primaryKey: true }, { kind: 'words', notNull: true }),
    ];
    for (const migration of cases) expect(await refusal(storage.migrate(other, [migration]))).to.equal('storage_bad_write');
    expect(await refusal(storage.migrate(other, [{ name: '0001_init', up: (m) => m.addColumn('bad', 'words', { kind: 'words' }) }]))).to.equal('storage_bad_write');
  });
});

describe('words of deleted rows in the file', () => {
  let home: string;
  let storage: Storage;
  let db: Db;

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-words-'));
    storage = await openStorage({ file: join(home, 'svc.db'), clock: virtualClock(0), log: silent, onEvents: () => undefined });
    await storage.migrate(owner, [init]);
    db = storage.dbFor(owner);
  });
  after(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const keep = (id: number, text: string): Promise<unknown> => db.commit([db.insert('notes', [{ id, owner_id: 'user:alice', words: wordList(wordsOf(text, MANY)) }])]);
  const rest = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await storage.tend();
  };
  /** Each word begins as no other does: the index stores what differs from the word before. */
  const bytes = (): string => ['svc.db', 'svc.db-wal'].map((name) => readFileSync(join(home, name), 'latin1')).join('');
  const found = async (word: string): Promise<unknown> => (await db.system('a test').select<{ id: number }>({ from: 'notes', where: { words: { has: [[word]] } } })).map(({ id }) => id);

  it('W1 are there until they are deleted, and gone when the database rests', async () => {
    await keep(1, 'the qcanaryq is yellow');
    await keep(2, 'a zwordz stays');
    await rest();
    expect(bytes()).to.contain('qcanaryq').and.contain('yellow');
    await db.commit([db.remove('notes', { id: 1 })]);
    await rest();
    expect(bytes()).not.to.contain('qcanaryq').and.not.contain('yellow');
    expect([await found('qcanaryq'), await found('zwordz')]).to.deep.equal([[], [2]]);
  });

  it('W1 are gone at the first rest of the next life, where this one ended first', async () => {
    await keep(3, 'kept jcanaryj');
    await db.commit([db.remove('notes', { id: 3 })]);
    await storage.close();
    expect(readFileSync(join(home, 'svc.db'), 'latin1')).to.contain('jcanaryj');
    storage = await openStorage({ file: join(home, 'svc.db'), clock: virtualClock(0), log: silent, onEvents: () => undefined });
    await storage.migrate(owner, [init]);
    db = storage.dbFor(owner);
    await storage.tend();
    expect(bytes()).not.to.contain('jcanaryj');
  });

  it('W2 W3 leave in small steps, between which others commit, and not again at once', async () => {
    const steps: string[] = [];
    let now = 0;
    let marks = 1;
    let changes = 0;
    const connection = {
      all: async (sql: string) => {
        if (sql.includes('total_changes')) return [{ n: changes }];
        return sql.includes('_data') && marks === 0 ? [] : [{ name: 'notes__words' }];
      },
      exec: async (sql: string) => {
        steps.push(sql.slice(sql.indexOf('VALUES')));
        now += 100;
        changes += steps.length % 3 === 0 ? 1 : 5;
        if (steps.length % 3 === 0) marks = 0;
      },
    };
    let turns = 0;
    const forget = createForgetting({
      connection,
      elapsed: () => now,
      exclusive: (work) => {
        turns += 1;
        return work();
      },
    });
    expect(await forget()).to.equal(false);
    expect(steps).to.deep.equal(["VALUES('merge', -250)", "VALUES('merge', 250)", "VALUES('merge', 250)"]);
    expect(turns).to.equal(5);

    marks = 1;
    now += 5_999;
    expect([await forget(), steps.length]).to.deep.equal([false, 3]);
    now += 1;
    expect([await forget(), steps.length]).to.deep.equal([false, 6]);
    now += 6_000;
    expect([await forget(), steps.length]).to.deep.equal([true, 6]);
  });
});
