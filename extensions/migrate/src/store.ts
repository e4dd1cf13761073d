/** Rows of imports. What an item became stands in the commit that made it so. */
import type { Actor, Db, Write } from '@svc/api';
import type { ImportRow, ItemKind, ItemRow, OutcomeRow } from './contract.js';
import type { SourceType } from './sources/model.js';

export interface Tally {
  readonly kind: string;
  readonly imported: number;
  readonly items: number;
  readonly messages: number;
  readonly messages_imported: number;
}

export interface Outcome {
  readonly kind: ItemKind;
  readonly key: string;
  readonly name: string;
  readonly imported: boolean;
  readonly detail: string;
  readonly messages?: number;
  readonly messagesImported?: number;
}

export interface ImportStore {
  find(actor: Actor, id: string): Promise<ImportRow | undefined>;
  row(id: string): Promise<ImportRow | undefined>;
  running(ownerId: string, path: string): Promise<boolean>;
  insert(row: ImportRow): Write;
  update(id: string, set: Partial<ImportRow>): Write;
  /** Imports beyond the newest ones of a person. */
  dropOld(ownerId: string): Promise<Write[]>;
  outcomes(ownerId: string, importId: string, outcomes: readonly Outcome[]): Write[];
  /** What was done before: keys of one kind. */
  done(importId: string, kind: ItemKind): Promise<ReadonlySet<string>>;
  /** Sessions of which a part was imported, with how many messages. */
  begun(importId: string): Promise<ReadonlyMap<string, number>>;
  tallies(importId: string): Promise<Tally[]>;
  shown(importId: string, imported: boolean, limit: number): Promise<OutcomeRow[]>;
  items(ownerId: string, source: SourceType, kind: ItemKind): Promise<Map<string, ItemRow>>;
  putItems(rows: readonly ItemRow[]): Write[];
}

/** Detail of a session that is not imported to its end. */
export const BEGUN = '';
const KEPT_IMPORTS = 100;
const PAGE = 5_000;
const WHY = 'an import that was looked up for its owner';
const MAX_NAME = 300;
const MAX_DETAIL = 1_000;

export const createImportStore = (db: Db): ImportStore => ({
  find: (actor, id) => db.as(actor).first<ImportRow>({ from: 'imports', where: { id } }),
  row: (id) => db.system(WHY).first<ImportRow>({ from: 'imports', where: { id } }),
  running: async (ownerId, path) => (await db.system(WHY).count('imports', { owner_id: ownerId, path, status: ['queued', 'running'] })) > 0,
  insert: (row) => db.insert('imports', [row]),
  update: (id, set) => db.update('imports', ['id'], [{ ...set, id }]),
  dropOld: async (ownerId) => {
    const rows = await db.system(WHY).select<{ id: string }>({
      from: 'imports',
      columns: ['id'],
      where: { owner_id: ownerId },
      order: [{ column: 'created_at', descending: true }, { column: 'id' }],
      offset: KEPT_IMPORTS,
      limit: 100,
    });
    return rows.length === 0 ? [] : [db.remove('outcomes', { import_id: rows.map(({ id }) => id) }), db.remove('imports', { id: rows.map(({ id }) => id) })];
  },
  outcomes: (ownerId, importId, outcomes) =>
    outcomes.length === 0
      ? []
      : [
          db.upsert(
            'outcomes',
            ['import_id', 'kind', 'key'],
            outcomes.map(({ kind, key, name, imported, detail, messages = 0, messagesImported = 0 }) => ({
              import_id: importId,
              kind,
              key,
              owner_id: ownerId,
              name: name.slice(0, MAX_NAME),
              imported: imported ? 1 : 0,
              detail: detail.slice(0, MAX_DETAIL),
              messages,
              messages_imported: messagesImported,
            })),
          ),
        ],
  done: async (importId, kind) => {
    const keys = new Set<string>();
    for (let after: string | undefined, more = true; more; ) {
      const page = await db.system(WHY).page<{ key: string }>({
        from: 'outcomes',
        columns: ['import_id', 'kind', 'key'],
        where: { import_id: importId, kind, detail: { not: BEGUN } },
        order: [{ column: 'key' }],
        limit: PAGE,
        ...(after === undefined ? {} : { after }),
      });
      for (const { key } of page.rows) keys.add(key);
      after = page.next ?? undefined;
      more = page.next !== null;
    }
    return keys;
  },
  begun: async (importId) => {
    const rows = await db.system(WHY).select<OutcomeRow>({ from: 'outcomes', where: { import_id: importId, kind: 'Session', detail: BEGUN }, limit: PAGE });
    return new Map(rows.map(({ key, messages_imported: messages }) => [key, messages]));
  },
  tallies: async (importId) => {
    const rows = await db
      .system(WHY)
      .read<Record<keyof Tally, number | string>>(
        `SELECT kind, SUM(imported) AS imported, COUNT(*) AS items, SUM(messages) AS messages, SUM(messages_imported) AS messages_imported FROM ${db.table('outcomes')} WHERE import_id = ? GROUP BY kind ORDER BY kind`,
        [importId],
      );
    // PostgreSQL gives sums as text.
    return rows.map((row) => ({ kind: String(row.kind), imported: Number(row.imported), items: Number(row.items), messages: Number(row.messages), messages_imported: Number(row.messages_imported) }));
  },
  shown: (importId, imported, limit) =>
    db.system(WHY).select<OutcomeRow>({ from: 'outcomes', where: { import_id: importId, imported: imported ? 1 : 0 }, order: [{ column: 'kind' }, { column: 'name' }, { column: 'key' }], limit }),
  items: async (ownerId, source, kind) => {
    const items = new Map<string, ItemRow>();
    for (let after: string | undefined, more = true; more; ) {
      const page = await db
        .system(WHY)
        .page<ItemRow>({ from: 'items', where: { owner_id: ownerId, source, kind }, order: [{ column: 'key' }], limit: PAGE, ...(after === undefined ? {} : { after }) });
      for (const row of page.rows) items.set(row.key, row);
      after = page.next ?? undefined;
      more = page.next !== null;
    }
    return items;
  },
  putItems: (rows) => (rows.length === 0 ? [] : [db.upsert('items', ['owner_id', 'source', 'kind', 'key'], rows)]),
});
