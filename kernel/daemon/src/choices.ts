/** What a person switched on or off, kept in the database (kernel.md K3). */
import type { Clock, Db, Migration } from '@svc/api';

export const kernelTables = { id: 'kernel', tables: ['choices', 'offsets'] } as const;

export const kernelMigrations: readonly Migration[] = [
  {
    name: '0001_choices',
    up: (m) => m.createTable('choices', { id: { kind: 'text', primaryKey: true }, enabled: { kind: 'integer', notNull: true }, at: { kind: 'text', notNull: true } }),
  },
  {
    name: '0002_offsets',
    up: (m) => m.createTable('offsets', { listener: { kind: 'text', primaryKey: true }, seq: { kind: 'integer', notNull: true } }),
  },
];

export interface Choices {
  readonly all: ReadonlyMap<string, boolean>;
  set(id: string, enabled: boolean | undefined): Promise<void>;
}

export async function openChoices(db: Db, clock: Clock): Promise<Choices> {
  const table = db.table('choices');
  const all = new Map((await db.read<{ id: string; enabled: number }>(`SELECT id, enabled FROM ${table}`)).map((row) => [row.id, row.enabled === 1]));
  return {
    all,
    set: async (id, enabled) => {
      if (enabled === undefined) await db.commit([{ sql: `DELETE FROM ${table} WHERE id = ?`, args: [id] }]);
      else await db.commit([{ upsert: table, key: ['id'], rows: [{ id, enabled: enabled ? 1 : 0, at: clock.iso() }] }]);
      if (enabled === undefined) all.delete(id);
      else all.set(id, enabled);
    },
  };
}
