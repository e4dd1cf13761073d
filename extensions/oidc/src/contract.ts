/** Rows of sign-ins: begun, lasting, and who the providers say people are. */
import { defineTable, type RowOf } from '@svc/api';

const text = { kind: 'text', notNull: true } as const;
const id = { kind: 'text', primaryKey: true } as const;

/** `id` is the SHA-256 of the state, `browser` that of the secret in the browser's cookie. */
export const AttemptRows = defineTable('attempts', '1.0.0', {
  columns: { id, provider: text, browser: text, redirect_url: text, network: text, created_at: text, expires_at: text },
  indexes: [['network', 'created_at'], ['expires_at']],
});
export type AttemptRow = RowOf<typeof AttemptRows>;

/** Its credential is `sign-in:<id>`. `tokens` are those of the provider, sealed. */
export const SessionRows = defineTable('sessions', '1.0.0', {
  columns: { id, owner_id: text, identity_id: text, provider: text, tokens: { kind: 'text' }, can_refresh: { kind: 'boolean', notNull: true }, created_at: text, checked_at: text, expires_at: text },
  owner: 'owner_id',
  indexes: [['can_refresh', 'checked_at'], ['expires_at'], ['owner_id']],
});
export type SessionRow = RowOf<typeof SessionRows>;

/** A person at a provider. `id` is the SHA-256 of issuer and subject. */
export const IdentityRows = defineTable('identities', '1.0.0', {
  columns: {
    ...{ id, owner_id: text, actor_id: text, provider: text, issuer: text, subject: text, name: text },
    ...{ email: { kind: 'text' }, email_verified: { kind: 'boolean', notNull: true }, picture: { kind: 'text' }, roles: { kind: 'json', notNull: true }, seen_at: text },
  },
  owner: 'owner_id',
  indexes: [['actor_id', 'seen_at']],
});
export type IdentityRow = RowOf<typeof IdentityRows>;
