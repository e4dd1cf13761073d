/** Sign-ins at servers, as rows: where and until when. Tokens, secrets of clients and verifiers are in the vault. */
import { type Clock, type Db, isSvcError } from '@svc/api';
import type { RefreshRow, SignInRow } from '../contract.js';
import { MAX_SERVERS } from '../store.js';

const WHY = 'sign-ins of the daemon at MCP servers';
const MAX_TRIES = 5;

/** How a client proves itself, the best for us first. */
export const CLIENT_AUTHS = ['none', 'client_secret_post', 'client_secret_basic'] as const;
export type ClientAuth = (typeof CLIENT_AUTHS)[number];

/** Who gives tokens, and as which client svc asks for them. */
export interface Authority {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint?: string;
  /** RFC 8707. */
  readonly resource?: string;
  readonly client_id: string;
  readonly client_auth: ClientAuth;
  /** The variable that holds the secret of a client that the entry names. */
  readonly secret_env?: string;
  readonly redirect_uri: string;
  /** RFC 9207. */
  readonly needs_iss: boolean;
  readonly scope?: string;
}

export interface SignIn {
  /** Of the server: tokens are sent to no other address. */
  readonly url: string;
  readonly flow: (Authority & { readonly state_hash: string; readonly expires_at: string }) | null;
  readonly granted: (Authority & { readonly expires_at: string | null; readonly refresh_at: string | null; readonly can_refresh: boolean; readonly serial: number }) | null;
  /** Why there is no valid token, where that was found out. */
  readonly problem: { readonly kind: 'needs_auth' | 'expired' | 'error'; readonly why: string } | null;
}

export interface SignInStore {
  all(): Promise<ReadonlyMap<string, SignIn>>;
  get(server: string): Promise<SignIn | undefined>;
  /** Whatever others write meanwhile. Undefined removes it. */
  change(server: string, next: (before: SignIn | undefined) => SignIn | undefined): Promise<SignIn | undefined>;
  /** Only one daemon at a time gets it; the others wait. */
  claim(server: string, forMs: number): Promise<boolean>;
  release(server: string): Promise<void>;
}

export const createSignInStore = ({ db, clock }: { readonly db: Db; readonly clock: Pick<Clock, 'now' | 'iso'> }): SignInStore => {
  const rowOf = (server: string) => db.system(WHY).first<SignInRow>({ from: 'sign_ins', where: { server } });
  const change: SignInStore['change'] = async (server, next) => {
    for (let tries = 1; ; tries++) {
      const row = await rowOf(server);
      const after = next(row && signInOf(row));
      if (!row && !after) return undefined;
      const revision = (row?.revision ?? 0) + 1;
      try {
        await db.commit([
          ...(row ? [db.remove('sign_ins', { server, revision: row.revision }, { expect: 1 })] : []),
          ...(after ? [db.insert('sign_ins', [{ server, detail: JSON.stringify(after), revision, updated_at: clock.iso() }])] : []),
        ]);
        return after;
      } catch (error) {
        if (tries >= MAX_TRIES || !isConflict(error)) throw error;
      }
    }
  };
  return {
    all: async () => new Map((await db.system(WHY).select<SignInRow>({ from: 'sign_ins', order: [{ column: 'server' }], limit: 4 * MAX_SERVERS })).map((row) => [row.server, signInOf(row)])),
    get: async (server) => {
      const row = await rowOf(server);
      return row && signInOf(row);
    },
    change,
    claim: async (server, forMs) => {
      try {
        await db.commit([
          db.remove('refreshes', { server, until: { lt: clock.iso() } }, { expect: 'any' }),
          db.insert('refreshes', [{ server, until: new Date(clock.now() + forMs).toISOString() } satisfies RefreshRow]),
        ]);
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
        return false;
      }
    },
    release: async (server) => void (await db.commit([db.remove('refreshes', { server }, { expect: 'any' })])),
  };
};

const isConflict = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_conflict';
/** What was written here is read back as it was. */
const signInOf = ({ detail }: SignInRow): SignIn => JSON.parse(detail) as SignIn;
