/** What mcp declares: the table of servers, and the event that tells pages of a change. */
import { defineEvent, defineTable, type RowOf, Type } from '@svc/api';

/** Servers that people added. They are of the daemon and nobody's own: owners and admins change them, for every daemon on the database. */
export const ServerRows = defineTable('servers', '1.0.0', {
  columns: {
    name: { kind: 'text', primaryKey: true },
    /** JSON of a `ServerSpec`, without any secret. */
    spec: { kind: 'text', notNull: true },
    /** JSON of the tools that it had last: they are offered before it is connected again. */
    tools: { kind: 'text', notNull: true },
    /** Counts changes of the spec: another daemon takes them over by it. */
    revision: { kind: 'integer', notNull: true },
    created_at: { kind: 'text', notNull: true },
  },
});
export type ServerRow = RowOf<typeof ServerRows>;

export const McpChanged = defineEvent('mcp.changed', '1.0.0', Type.Object({ name: Type.String(), state: Type.String() }), { what: 'mcp', permission: 'mcp.read', id: 'name', state: 'state' });

/** Sign-ins at servers; see sign-in/sign-in-store.ts. They are of the daemon, as the servers are. */
export const SignInRows = defineTable('sign_ins', '1.0.0', {
  columns: {
    server: { kind: 'text', primaryKey: true },
    /** JSON of a `SignIn`, without any secret. */
    detail: { kind: 'text', notNull: true },
    revision: { kind: 'integer', notNull: true },
    updated_at: { kind: 'text', notNull: true },
  },
});
export type SignInRow = RowOf<typeof SignInRows>;

/** Which daemon refreshes the token of a server now: a refresh token works once. */
export const RefreshRows = defineTable('refreshes', '1.0.0', {
  columns: { server: { kind: 'text', primaryKey: true }, until: { kind: 'text', notNull: true } },
});
export type RefreshRow = RowOf<typeof RefreshRows>;
