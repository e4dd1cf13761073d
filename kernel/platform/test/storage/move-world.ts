/** A database with a row of every kind, and the parts of a move of it. */
import type { Db, Logger, Migration } from '@svc/api';
import { wordList, wordsOf } from '@svc/api';
import { virtualClock } from '../../src/clock/clock.js';
import { systemIds } from '../../src/clock/ids.js';
import type { MoveEnd } from '../../src/storage/move/move-end.js';
import type { MovedOwner } from '../../src/storage/move/move-plan.js';
import { moveStorage } from '../../src/storage/move/move-storage.js';
import { openEnd } from '../../src/storage/move/open-end.js';
import { openStorage, type Storage } from '../../src/storage/storage.js';

export const ROWS = 2_500;
const kinds: Migration = {
  name: '0001_kinds',
  up: (m) => {
    m.createTable('kinds', {
      id: { kind: 'text', primaryKey: true },
      whole: { kind: 'integer' },
      part: { kind: 'real' },
      yes: { kind: 'boolean' },
      tree: { kind: 'json' },
      bytes: { kind: 'blob' },
    });
    m.createTable('pairs', { a: { kind: 'text', notNull: true }, b: { kind: 'integer', notNull: true }, body: { kind: 'text' } }, { primaryKey: ['a', 'b'] });
    m.createIndex('pairs', ['body'], { unique: true, where: "body <> 'any'" });
    m.createTable('bare', { text: { kind: 'text' } });
  },
};
const more: Migration = { name: '0002_more', up: (m) => m.addColumn('kinds', 'note', { kind: 'text', default: 'none' }) };
const words: Migration = { name: '0001_words', up: (m) => m.createTable('notes', { id: { kind: 'integer', primaryKey: true }, owner_id: { kind: 'text', notNull: true }, words: { kind: 'words' } }) };

export const owners: readonly MovedOwner[] = [
  { id: 'all-kinds', tables: ['kinds', 'pairs', 'bare'], isThirdParty: true, migrations: [kinds, more] },
  { id: 'note-book', tables: ['notes'], migrations: [words] },
];
export const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

export interface Place {
  readonly file: string;
  readonly url?: string | undefined;
}

export const openAt = (place: Place): Promise<Storage> => openStorage({ ...place, clock: virtualClock(0), log: silent, onEvents: () => undefined, storeEvent: () => true });

export const fill = async (place: Place): Promise<void> => {
  const storage = await openAt(place);
  for (const owner of owners) await storage.migrate(owner, owner.migrations);
  const [all, book] = owners.map((owner) => storage.dbFor({ ...owner, isThirdParty: false })) as [Db, Db]; // there are two
  await all.commit([
    all.insert('kinds', [
      { id: 'null', whole: null, part: null, yes: null, tree: null, note: null },
      { id: 'largest', whole: Number.MAX_SAFE_INTEGER, part: 0.1, yes: 1, tree: '{"a":"\\u0000 \\ud83d\\ude00","b":[1.50]}', note: "it's; -- a\\b\n\tü😀" },
      { id: 'least', whole: -Number.MAX_SAFE_INTEGER, part: -0.125, yes: 0, tree: '[]', note: '' },
    ]),
    all.insert(
      'pairs',
      Array.from({ length: ROWS }, (_, index) => ({ a: `k${index % 7}`, b: index - 5, body: `${index} ${'long '.repeat(index % 50)}` })),
    ),
    all.insert('bare', [{ text: 'z' }, { text: 'a' }, { text: 'a' }]),
    book.insert('notes', [
      { id: 7, owner_id: 'user:alice', words: wordList(wordsOf('the spare key is under the blue pot', 50)) },
      { id: 3, owner_id: 'user:alice', words: wordList(wordsOf('ein Schlüssel, 鍵', 50)) },
      { id: 9, owner_id: 'user:alice', words: null },
    ]),
    storage.event('all-kinds', 'all-kinds.said', { n: 1 }),
    storage.event('all-kinds', 'all-kinds.said', { n: 2 }),
  ]);
  await book.commit([book.update('notes', ['id'], [{ id: 7, words: wordList(wordsOf('a red door', 50)) }])]);
  await all.commit([all.remove('pairs', { b: 0 })]);
  await storage.close();
};

export interface Step {
  readonly step: 'copy' | 'compare';
  readonly table: string;
  readonly rows: number;
}

export const move = async (
  from: Place,
  to: Place,
  options: {
    readonly replacesNul?: boolean;
    readonly without?: readonly string[];
    readonly owners?: readonly MovedOwner[];
    /** Fails the last change of the target, which makes it complete. */
    readonly isCutOff?: boolean;
    /** When all is copied and nothing is compared yet. */
    beforeCompare?(): Promise<unknown>;
    onProgress?(step: Step): void;
  } = {},
) => {
  const source = await openEnd({ ...from, url: from.url, use: 'change' });
  const opened = await openEnd({ ...to, url: to.url, use: 'make' });
  let before: Promise<unknown> | undefined;
  const target: MoveEnd = {
    ...opened,
    change: async (statements) => {
      if (options.isCutOff && statements.some((one) => one.startsWith('DROP TABLE IF EXISTS'))) throw new Error('it was cut off');
      return opened.change(statements);
    },
    read: async (table, after) => {
      before ??= options.beforeCompare?.();
      await before;
      return opened.read(table, after);
    },
  };
  try {
    return await moveStorage({
      source,
      target,
      owners: options.owners ?? owners,
      without: options.without ?? [],
      replacesNul: options.replacesNul ?? false,
      clock: virtualClock(0),
      ids: systemIds(),
      onProgress: (step) => options.onProgress?.(step),
      emptied: async (full) => {
        await full.change((await full.tables()).map((name) => `DROP TABLE ${name}`));
        return full;
      },
    });
  } finally {
    await source.close();
    await target.close();
  }
};
