import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

/** `actor_id`: who acts by it, where that is not the id. */
export const CredentialRows = defineTable('credentials', '1.1.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    role: text,
    key_hash: text,
    created_at: text,
    seen_at: { kind: 'text' },
    actor_id: { kind: 'text' },
    expires_at: { kind: 'text' },
  },
  owner: 'owner_id',
  unique: [['key_hash']],
});
export type CredentialRow = RowOf<typeof CredentialRows>;
