import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Db, Logger, Migration, Write } from '@svc/api';
import { describeOnEngines } from '@svc/testing/postgres/engines';
import { expect } from 'chai';
import { virtualClock } from '../../src/clock/clock.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

const notes = { id: 'notes', tables: ['rows'] };
const marks = { id: 'marks', tables: ['rows'] };
const init: Migration = { name: '0001_init', up: (m) => m.createTable('rows', { id: { kind: 'text', primaryKey: true }, n: { kind: 'integer', notNull: true, default: 0 } }) };
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describeOnEngines('sealed writes', (engine) => {
  let home: string;
  let storage: Storage;
  let own: Db;
  let other: Db;
  let received: unknown[];

  const open = async (name: string): Promise<Storage> => {
    const opened = await openStorage({ file: join(home, name), ...(await engine.fresh()), clock: virtualClock(0), log: silent, onEvents: (events) => received.push(...events) });
    for (const owner of [notes, marks]) await opened.migrate(owner, [init]);
    return opened;
  };

  beforeEach(async () => {
    received = [];
    home = mkdtempSync(join(tmpdir(), 'svc-sealed-'));
    storage = await open('svc.db');
    own = storage.dbFor(notes);
    other = storage.dbFor(marks);
  });

  afterEach(async () => {
    await storage.close();
    rmSync(home, { recursive: true, force: true });
  });

  const refusal = (work: Promise<unknown>): Promise<{ code: string; message: string }> =>
    work.then(
      () => ({ code: 'none', message: '' }),
      (error: { code: string; message: string }) => error,
    );

  it('are committed by whoever was handed them, together with their own', async () => {
    const handed = [own.insert('rows', [{ id: 'a' }]), own.upsert('rows', ['id'], [{ id: 'b', n: 1 }]), storage.event('notes', 'noted', { id: 'a' })];

    const { changes } = await other.commit([other.insert('rows', [{ id: 'mine' }]), ...handed]);

    expect(changes).to.deep.equal([1, 1, 1, 0]);
    expect(await own.system('a test').select({ from: 'rows', order: [{ column: 'id' }] })).to.deep.equal([
      { id: 'a', n: 0 },
      { id: 'b', n: 1 },
    ]);
    expect(received).to.deep.equal([{ event: 'noted', data: { id: 'a' } }]);
  });

  it('say who made them and what they do, and nothing of what is in them', () => {
    const writes = [
      own.insert('rows', [{ id: 'secret' }]),
      own.update('rows', ['id'], [{ id: 'secret', n: 1 }]),
      own.upsert('rows', ['id'], [{ id: 'secret' }]),
      own.remove('rows', { id: 'secret' }),
      own.sql('DELETE FROM notes__rows WHERE id = ?', ['secret']),
      storage.event('notes', 'noted', 'secret'),
    ];

    expect(writes.map(({ sealed }) => sealed)).to.deep.equal([
      'notes: insert rows',
      'notes: update rows',
      'notes: upsert rows',
      'notes: remove rows',
      'notes: delete notes__rows',
      'notes: event noted',
    ]);
    for (const write of writes) {
      expect(Object.isFrozen(write)).to.equal(true);
      expect(Reflect.ownKeys(write)).to.deep.equal(['sealed']);
      expect(Object.getPrototypeOf(write)).to.equal(Object.prototype);
    }
  });

  it('can be tried again after a conflict, and each time do the same', async () => {
    const write = own.insert('rows', [{ id: 'a' }], { ifAbsent: true });
    const missing = other.update('rows', ['id'], [{ id: 'nobody', n: 1 }], { expect: 'each' });

    expect((await refusal(other.commit([missing, write]))).code).to.equal('storage_conflict');
    expect((await other.commit([write])).changes).to.deep.equal([1]);
    expect((await other.commit([write])).changes).to.deep.equal([0]);
  });

  it('cannot be forged: what no ctx.db of this daemon sealed is refused, and nothing beside it is written', async () => {
    const real = own.insert('rows', [{ id: 'real' }]);
    const elsewhere = await open('other.db');
    const foreign = elsewhere.dbFor(notes).insert('rows', [{ id: 'x' }]);
    await elsewhere.close();
    const attempts: Record<string, unknown> = {
      'an old insert': { insert: 'notes__rows', rows: [{ id: 'x' }] },
      'an old update': { update: 'notes__rows', key: ['id'], rows: [{ id: 'x', n: 1 }] },
      'an old upsert': { upsert: 'notes__rows', key: ['id'], rows: [{ id: 'x' }] },
      'old SQL': { sql: 'DELETE FROM notes__rows', args: [] },
      'an old event': { event: 'noted', data: 1 },
      'its label': { sealed: 'notes: insert rows' },
      'a copy': { ...real },
      'a clone': structuredClone(real),
      'an heir': Object.create(real),
      'a proxy': new Proxy(real, {}),
      'a token of another daemon': foreign,
      'JSON of it': JSON.parse(JSON.stringify(real)),
      nothing: undefined,
      null: null,
      'a text': 'notes: insert rows',
    };
    for (const [name, attempt] of Object.entries(attempts)) {
      const { code, message } = await refusal(other.commit([real, attempt as Write]));
      expect(code, name).to.equal('storage_write_unsealed');
      expect(message, name).to.contain('Write 1 of the commit');
    }
    expect(await own.system('a test').count('rows')).to.equal(0);
    expect(received).to.deep.equal([]);
  });

  it('do what they did when they were made, whatever becomes of the table list or the key they were made with', async () => {
    const tables = ['rows'];
    const db = storage.dbFor({ id: 'notes', tables });
    await db.commit([db.insert('rows', [{ id: 'a' }, { id: 'b' }])]);
    const key = ['id'];
    const write = db.update('rows', key, [{ id: 'a', n: 5 }]);
    const where: Record<string, string> = { id: 'b' };
    const removal = db.remove('rows', where);
    tables[0] = 'others';
    key[0] = 'n';
    where.id = 'a';

    await other.commit([write, removal]);

    expect(await db.system('a test').select({ from: 'rows' })).to.deep.equal([{ id: 'a', n: 5 }]);
  });

  it('take a column and a key only by a text: no object is validated as one name and used as another', () => {
    let asked = 0;
    const shifty = { toString: () => (asked++ === 0 ? 'id' : 'n` = 1; --') } as unknown as string;
    expect(() => own.update('rows', [shifty], [{ id: 'a', n: 1 }])).to.throw('a column is named by a text');
    expect(() => own.upsert('rows', [shifty], [{ id: 'a' }])).to.throw('a column is named by a text');
    expect(() => own.sql(shifty, [])).to.throw('it is not text');
  });

  describe('that remove', () => {
    beforeEach(async () => {
      await own.commit([
        own.insert(
          'rows',
          [1, 2, 3].map((n) => ({ id: `r${n}`, n })),
        ),
      ]);
    });

    it('delete what fits and say how much that was', async () => {
      expect((await own.commit([own.remove('rows', { n: { gte: 2 } })])).changes).to.deep.equal([2]);
      expect(await own.system('a test').select({ from: 'rows', columns: ['id'] })).to.deep.equal([{ id: 'r1' }]);
    });

    it('conflict when another number of rows was expected', async () => {
      expect((await refusal(own.commit([own.remove('rows', { id: 'r9' }, { expect: 1 })]))).code).to.equal('storage_conflict');
      expect((await refusal(own.commit([own.remove('rows', { n: { gt: 1 } }, { expect: 1 })]))).code).to.equal('storage_conflict');
      expect((await own.commit([own.remove('rows', { id: 'r1' }, { expect: 1 })])).changes).to.deep.equal([1]);
    });

    it('delete what fits uncounted, where the number does not matter', async () => {
      const counted = await own.commit([own.remove('rows', { n: { gte: 2 } }, { expect: 'any' }), own.remove('rows', { id: 'r9' }, { expect: 'any' }), own.remove('rows', { id: 'r1' })]);
      expect(counted.changes).to.deep.equal([0, 0, 1]);
      expect(await own.system('a test').count('rows')).to.equal(0);
      expect(() => own.remove('rows', { id: 'r1' }, { expect: 'some' as 'any' })).to.throw('some is not a valid number of expected rows');
    });

    it('are refused without a condition or with one that has no value', () => {
      expect(() => own.remove('rows', {})).to.throw('names no condition');
      expect(() => own.remove('rows', { id: undefined as unknown as string })).to.throw('has no value');
      expect(() => own.remove('rows', { id: {} })).to.throw('the bounds of id are empty');
      expect(() => own.remove('rows', { id: 'r1' }, { expect: -1 })).to.throw('is not a valid number');
    });
  });
});
