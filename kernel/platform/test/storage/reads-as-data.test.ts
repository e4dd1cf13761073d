import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration, Reader, Row, Scalar, Select, Where } from '@svc/api';
import { actorOf, systemActor } from '@svc/api/internal';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const owner = { id: 'note-book', tables: ['notes', 'tags', 'bare'] };
const init: Migration = {
  name: '0001_init',
  up(m) {
    m.createTable('notes', { id: { kind: 'text', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, n: { kind: 'integer' }, body: { kind: 'text' } });
    m.createTable('tags', { note: { kind: 'text' }, seq: { kind: 'integer' } }, { primaryKey: ['note', 'seq'] });
    m.createTable('bare', { a: { kind: 'text' } });
  },
};
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const [alice, bob, boss] = [actorOf('user:alice'), actorOf('user:bob'), actorOf('owner')];

describeOnEngines('reads as data', (engine) => {
  let home: string;
  let storage: Storage;
  let db: Db;

  before(async () => {
    home = mkdtempSync(join(tmpdir(), 'svc-reads-'));
    storage = await openStorage({ file: join(home, 'svc.db'), ...(await engine.fresh()), clock: virtualClock(0), log: silent, onEvents: () => undefined });
    await storage.migrate(owner, [init]);
    db = storage.dbFor(owner);
  });

  after(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  beforeEach(async () => {
    const note = (id: string, owner_id: string, n: number | null, body: string | null): Row => ({ id, owner_id, n, body });
    await db.commit([
      db.remove('notes', { id: { gte: '' } }),
      db.remove('tags', { seq: { gte: 0 } }),
      db.insert('notes', [note('a', 'user:alice', 1, 'x'), note('b', 'user:bob', 2, null), note('c', 'user:alice', null, 'x'), note('d', 'owner', 4, "it's")]),
    ]);
  });

  const ids = async (where: Where): Promise<string> => (await db.system('a test').select<{ id: string }>({ from: 'notes', where, order: [{ column: 'id' }] })).map(({ id }) => id).join('');
  const refusal = (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => 'none',
      (error: { code: string }) => error.code,
    );

  it('find rows by equality, lists, bounds and their opposite, with null as a value like others', async () => {
    const cases: Array<[Where, string]> = [
      [{}, 'abcd'],
      [{ id: 'b' }, 'b'],
      [{ body: "it's" }, 'd'],
      [{ n: null }, 'c'],
      [{ body: 'x', owner_id: 'user:alice' }, 'ac'],
      [{ id: ['a', 'c', 'd'] }, 'acd'],
      [{ id: [] }, ''],
      [{ n: { gt: 1 } }, 'bd'],
      [{ n: { gte: 1, lt: 4 } }, 'ab'],
      [{ n: { lte: 1 } }, 'a'],
      [{ n: { not: 2 } }, 'acd'],
      [{ n: { not: null } }, 'abd'],
      [{ n: { not: [1, 2] } }, 'cd'],
      [{ n: { not: [] } }, 'abcd'],
      [{ n: { gt: 1, not: 4 } }, 'b'],
    ];
    for (const [where, expected] of cases) expect(await ids(where), JSON.stringify(where)).to.equal(expected);
  });

  it('give the columns, the order and the number that are asked for, null first', async () => {
    const query: Select = { from: 'notes', columns: ['id', 'n'], order: [{ column: 'n' }], limit: 2 };
    expect(await db.system('a test').select(query)).to.deep.equal([
      { id: 'c', n: null },
      { id: 'a', n: 1 },
    ]);
    expect(await db.system('a test').select<{ id: string }>({ ...query, order: [{ column: 'n', descending: true }], limit: 4 })).to.deep.equal([
      { id: 'd', n: 4 },
      { id: 'b', n: 2 },
      { id: 'a', n: 1 },
      { id: 'c', n: null },
    ]);
    expect(await db.system('a test').select({ ...query, limit: 0 })).to.deep.equal([]);
    expect(await db.system('a test').first({ from: 'notes', where: { body: 'x' }, order: [{ column: 'id', descending: true }] })).to.deep.include({ id: 'c' });
    expect(await db.system('a test').first({ from: 'notes', where: { id: 'none' } })).to.equal(undefined);
  });

  it('show each actor only what is theirs, and whoever sees all everything', async () => {
    const seen = async (actor: typeof alice): Promise<string> => (await db.as(actor).select<{ id: string }>({ from: 'notes', order: [{ column: 'id' }] })).map(({ id }) => id).join('');
    expect([await seen(alice), await seen(bob), await seen(boss), await seen(systemActor('test'))]).to.deep.equal(['ac', 'b', 'abcd', 'abcd']);
    expect([await db.as(alice).count('notes', {}), await db.as(alice).count('notes', { n: 1 }), await db.as(bob).count('notes', {}), await db.system('a test').count('notes')]).to.deep.equal([
      2, 1, 1, 4,
    ]);
    expect(await db.as(alice).first({ from: 'notes', where: { id: 'b' } })).to.equal(undefined);
    expect((await db.as(bob).page({ from: 'notes' })).rows.map(({ id }) => id)).to.deep.equal(['b']);
  });

  it('show each actor only what is theirs in SQL text, too, whatever the text says', async () => {
    await db.commit([
      db.insert('tags', [
        { note: 'a', seq: 1 },
        { note: 'b', seq: 2 },
        { note: 'd', seq: 3 },
      ]),
    ]);
    const [notes, tags] = [db.table('notes'), db.table('tags')];
    const texts: Array<[sql: string, args: Scalar[], ofAlice: string, ofBoss: string]> = [
      [`SELECT id FROM ${notes} ORDER BY id`, [], 'ac', 'abcd'],
      [`SELECT id FROM ${notes} WHERE id = ? OR id > ? ORDER BY id`, ['a', 'b'], 'ac', 'acd'],
      [`SELECT n.id AS id FROM "${notes}" n WHERE n.id IN (SELECT ${notes}.id FROM ${notes} WHERE id <> ?) ORDER BY n.id`, ['a'], 'c', 'bcd'],
      [`SELECT ${notes}.id AS id FROM ${tags} JOIN ${notes} ON ${notes}.id = ${tags}.note ORDER BY id`, [], 'a', 'abd'],
      [`SELECT id FROM ${notes} UNION SELECT id FROM ${notes} ORDER BY id`, [], 'ac', 'abcd'],
      [`WITH x AS (SELECT id FROM ${notes}) SELECT id FROM x WHERE id <> ? ORDER BY id`, ['c'], 'a', 'abd'],
      [`WITH RECURSIVE x(id) AS (SELECT MIN(id) FROM ${notes} UNION ALL SELECT n.id FROM ${notes} n JOIN x ON n.id > x.id WHERE n.id = ?) SELECT id FROM x ORDER BY id`, ['c'], 'ac', 'ac'],
    ];
    for (const [sql, args, ofAlice, ofBoss] of texts) {
      const seen = async (actor: typeof alice): Promise<string> => (await db.as(actor).read<{ id: string }>(sql, args)).map(({ id }) => id).join('');
      expect([await seen(alice), await seen(boss)], sql).to.deep.equal([ofAlice, ofBoss]);
    }
    expect(await db.as(bob).readOne(`SELECT COUNT(*) AS n FROM ${notes}`)).to.satisfy((row: { n: unknown }) => Number(row.n) === 1);
  });

  it('refuse SQL text as an actor that names no table with an owner, and names of the filter itself', async () => {
    for (const actor of [alice, boss]) expect(await refusal(db.as(actor).read(`SELECT note FROM ${db.table('tags')}`))).to.equal('storage_no_owned_table');
    expect(await refusal(db.as(alice).read(`WITH mine__1 AS (SELECT note FROM ${db.table('tags')}) SELECT id FROM ${db.table('notes')}`))).to.equal('storage_sql_refused');
  });

  it('say who read in the error, and take no actor or reason that is none', async () => {
    const details = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'none',
        (error: { details: unknown }) => error.details,
      );
    expect(await details(db.as(alice).select({ from: 'tags' }))).to.deep.equal({ reader: 'as user:alice' });
    expect(await details(db.system('pruning').select({ from: 'notes', limit: -1 }))).to.deep.equal({ reader: 'system: pruning' });
    expect(() => db.system('')).to.throw('a reason of 1 to 100 characters');
    expect(() => db.as({ role: 'owner' } as never)).to.throw('db.as takes an actor');
  });

  it('are on a reader alone, and an actor is no part of a query: whoever names none does not compile', () => {
    const onDb: [Extract<keyof Db, keyof Reader>] extends [never] ? readonly string[] : never = [];
    const inQuery: 'actor' extends keyof Select ? never : readonly string[] = [];
    const reads = Object.keys(db.system('a test'));
    expect([reads.length, Object.keys(db).filter((name) => reads.includes(name))]).to.deep.equal([6, [...onDb, ...inQuery]]);
  });

  it('refuse to filter a table that names no owner, for whoever sees all as well', async () => {
    for (const actor of [alice, boss]) {
      expect(await refusal(db.as(actor).select({ from: 'tags' }))).to.equal('storage_no_owner_column');
      expect(await refusal(db.as(actor).count('tags', {}))).to.equal('storage_no_owner_column');
      expect(await refusal(db.as(actor).page({ from: 'tags' }))).to.equal('storage_no_owner_column');
    }
  });

  it('refuse what is no question, before the database sees it', async () => {
    const bad: Array<[string, Select]> = [
      ['storage_unknown_table', { from: 'note_book__notes' }],
      ['storage_unknown_table', { from: 'others' }],
      ['storage_bad_query', { from: 'notes', where: { id: undefined as unknown as string } }],
      ['storage_bad_query', { from: 'notes', where: { id: true as unknown as string } }],
      ['storage_bad_query', { from: 'notes', where: { n: Number.NaN } }],
      ['storage_bad_query', { from: 'notes', where: { id: ['a', null] } }],
      ['storage_bad_query', { from: 'notes', where: { n: { like: 'x' } as unknown as string } }],
      ['storage_bad_query', { from: 'notes', where: { n: { toString: 1 } as unknown as string } }],
      ['storage_bad_query', { from: 'notes', where: { n: { gt: null as unknown as number } } }],
      ['storage_bad_query', { from: 'notes', where: { id: Array.from({ length: 10_001 }, () => 'x') } }],
      ['storage_bad_query', { from: 'notes', limit: -1 }],
      ['storage_bad_query', { from: 'notes', limit: 1.5 }],
      ['storage_bad_query', { from: 'notes', limit: 10_001 }],
      ['storage_bad_write', { from: 'notes', where: { 'id` = id --': 'x' } }],
      ['storage_bad_write', { from: 'notes', columns: ['id, (SELECT 1)'] }],
      ['storage_bad_write', { from: 'notes', order: [{ column: 'n; --' }] }],
      ['storage_failed', { from: 'notes', where: { colour: 'x' } }],
    ];
    for (const [code, query] of bad) expect(await refusal(db.system('a test').select(query)), JSON.stringify(query)).to.equal(code);
  });

  it('leave out as many rows as they are asked to, and not behind a cursor too', async () => {
    const from = async (offset: number): Promise<string> => (await db.system('a test').select<{ id: string }>({ from: 'notes', order: [{ column: 'id' }], offset })).map(({ id }) => id).join('');
    expect([await from(0), await from(3), await from(9)]).to.deep.equal(['abcd', 'd', '']);
    const { next } = await db.system('a test').page({ from: 'notes', order: [{ column: 'id' }], limit: 1 });
    for (const query of [{ offset: -1 }, { offset: 1.5 }, { offset: 1, after: String(next) }])
      expect(await refusal(db.system('a test').select({ from: 'notes', order: [{ column: 'id' }], ...query })), JSON.stringify(query)).to.equal('storage_bad_query');
  });

  it('find rows that hold every word in one of the columns, without case and with no wildcards, and count them', async () => {
    await db.commit([
      db.update(
        'notes',
        ['id'],
        [
          { id: 'a', body: 'A red_heron 5%' },
          { id: 'b', body: 'a Red fox' },
        ],
      ),
    ]);
    const found = async (text: string, columns = ['body', 'owner_id']): Promise<string> => {
      const search = { text, columns };
      const rows = await db.system('a test').select<{ id: string }>({ from: 'notes', search, order: [{ column: 'id' }] });
      expect(await db.system('a test').count('notes', {}, search), text).to.equal(rows.length);
      return rows.map(({ id }) => id).join('');
    };
    for (const [text, ids] of [
      ['RED', 'ab'],
      ['red fox', 'b'],
      ['red alice', 'a'],
      ['d_h', 'a'],
      ['d_f', ''],
      ['5%', 'a'],
      ['%', 'a'],
      ['!', ''],
      ["it's", 'd'],
      ['  ', 'abcd'],
    ] as const)
      expect(await found(text), text).to.equal(ids);
    expect(await refusal(found('x', []))).to.equal('storage_bad_query');
    expect(await refusal(found('x '.repeat(17)))).to.equal('storage_search_too_long');
  });

  it('stand in an order without case where that is asked for, page by page', async () => {
    await db.commit([
      db.update(
        'notes',
        ['id'],
        ['Beta', 'alpha', 'BETA', 'Gamma'].map((body, at) => ({ id: 'abcd'.charAt(at), body })),
      ),
    ]);
    for (const [descending, expected] of [
      [false, 'bacd'],
      [true, 'dcab'],
    ] as const) {
      let seen = '';
      for (let after: string | null | undefined; after !== null; ) {
        const page: { rows: Array<{ id: string }>; next: string | null } = await db.system('a test').page({
          from: 'notes',
          order: [{ column: 'body', descending, ignoreCase: true }],
          limit: 1,
          ...(after === undefined ? {} : { after }),
        });
        seen += page.rows.map(({ id }) => id).join('');
        after = page.next;
      }
      expect(seen).to.equal(expected);
    }
  });

  it('without a limit fail rather than leave rows out', async () => {
    const rows = Array.from({ length: 10_000 }, (_, seq) => ({ note: 'a', seq }));
    await db.commit([db.insert('tags', rows)]);
    expect(await db.system('a test').select({ from: 'tags' })).to.have.length(10_000);
    await db.commit([db.insert('tags', [{ note: 'b', seq: 0 }])]);
    expect(await refusal(db.system('a test').select({ from: 'tags' }))).to.equal('storage_too_many_rows');
    expect(await db.system('a test').select({ from: 'tags', limit: 10_000 })).to.have.length(10_000);
  });

  describe('in pages', () => {
    const walk = async (query: Select, between: (turn: number) => Promise<void> = async () => undefined): Promise<Row[]> => {
      const seen: Row[] = [];
      let after: string | null | undefined;
      for (let turn = 0; after !== null && turn < 100; turn += 1) {
        const { rows, next } = await db.system('a test').page({ ...query, ...(after === undefined ? {} : { after }) });
        seen.push(...rows);
        after = next;
        await between(turn);
      }
      return seen;
    };

    it('come to an end, in any order, with every row once', async () => {
      const orders: Array<NonNullable<Select['order']>> = [
        [],
        [{ column: 'n' }],
        [{ column: 'n', descending: true }],
        [{ column: 'body' }, { column: 'n', descending: true }],
        [{ column: 'body', descending: true }, { column: 'owner_id' }],
        [{ column: 'id', descending: true }],
      ];
      for (const order of orders) {
        for (const limit of [1, 2, 3, 4, 5]) {
          const whole = await db.system('a test').select({ from: 'notes', order: [...order, { column: 'id', ...(order.at(-1)?.descending ? { descending: true } : {}) }] });
          expect(await walk({ from: 'notes', order, limit }), JSON.stringify({ order, limit })).to.deep.equal(whole);
        }
      }
    });

    it('show no row twice and lose none while rows come and go', async () => {
      const rows = Array.from({ length: 40 }, (_, i) => ({ note: `t${i % 3}`, seq: i * 10 }));
      await db.commit([db.insert('tags', rows)]);
      const seen = await walk({ from: 'tags', order: [{ column: 'note' }], limit: 7 }, async (turn) => {
        await db.commit([
          // Before, among and behind what was shown.
          db.insert('tags', [
            { note: 't0', seq: turn * 10 + 1 },
            { note: 't9', seq: turn },
          ]),
          ...(turn === 1 ? [db.remove('tags', { note: 't0', seq: 0 })] : []),
        ]);
      });
      const places = seen.map(({ note, seq }) => `${note}/${seq}`);
      expect(new Set(places).size).to.equal(places.length);
      expect(places).to.include.members(rows.map(({ note, seq }) => `${note}/${seq}`));
    });

    it('give only the columns that were asked for, and go by the others all the same', async () => {
      const first = await db.system('a test').page({ from: 'notes', columns: ['body'], order: [{ column: 'n' }], limit: 2 });
      expect(first.rows).to.deep.equal([{ body: 'x' }, { body: 'x' }]);
      const second = await db.system('a test').page({ from: 'notes', columns: ['body'], order: [{ column: 'n' }], limit: 2, after: first.next ?? '' });
      expect(second).to.deep.equal({ rows: [{ body: null }, { body: "it's" }], next: null });
    });

    it('go on in a select as well', async () => {
      const { next } = await db.system('a test').page({ from: 'notes', limit: 3 });
      expect(await db.system('a test').select({ from: 'notes', columns: ['id'], after: next ?? '' })).to.deep.equal([{ id: 'd' }]);
    });

    it('take no cursor but their own', async () => {
      const { next } = await db.system('a test').page({ from: 'notes', order: [{ column: 'n' }], limit: 1 });
      const made = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const bad = ['', 'x', made({}), made(['n+id+', 1]), made(['n+id+', 1, {}]), made(['n+id+', 1, 'a', 'b']), made(['n+', 1])];
      for (const after of bad) expect(await refusal(db.system('a test').page({ from: 'notes', order: [{ column: 'n' }], after })), after).to.equal('storage_bad_cursor');
      expect(await refusal(db.system('a test').page({ from: 'notes', order: [{ column: 'n', descending: true }], after: next ?? '' }))).to.equal('storage_bad_cursor');
      expect(await refusal(db.system('a test').page({ from: 'notes', after: next ?? '' }))).to.equal('storage_bad_cursor');
    });

    it('need a table with a primary key, and at least one row', async () => {
      expect(await refusal(db.system('a test').page({ from: 'bare' }))).to.equal('storage_bad_query');
      expect(await refusal(db.system('a test').page({ from: 'notes', limit: 0 }))).to.equal('storage_bad_query');
    });
  });
});
