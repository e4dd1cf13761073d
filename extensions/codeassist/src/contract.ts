/** Logins by a code, as they are stored. */
import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;

/** The device code is a secret, and stands in the vault under `codeassist.login.<id>`. */
export const LoginRows = defineTable('logins', '1.0.0', {
  columns: {
    id: { kind: 'text', primaryKey: true },
    owner_id: text,
    status: text,
    error: { kind: 'text' },
    interval_secs: { kind: 'integer', notNull: true },
    next_at: text,
    expires_at: text,
  },
  owner: 'owner_id',
  indexes: [['owner_id', 'expires_at'], ['expires_at']],
});
export type LoginRow = RowOf<typeof LoginRows>;
