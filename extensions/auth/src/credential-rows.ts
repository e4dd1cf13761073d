import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

export const CredentialRows = defineTable('credentials', '1.0.0', {
  columns: { id: { kind: 'text', primaryKey: true }, owner_id: text, role: text, key_hash: text, created_at: text, seen_at: { kind: 'text' } },
  owner: 'owner_id',
  unique: [['key_hash']],
});
export type CredentialRow = RowOf<typeof CredentialRows>;
