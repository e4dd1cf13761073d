/**
 * The key that the daemon makes for its owner.
 *
 * Without a key whoever reaches the port is the owner. A process that the daemon starts itself, and that no sandbox keeps
 * from the port, would be too.
 *
 * O1  Before the first such process starts, the daemon asks for a key. From then on it never answers without one in this
 *     home: not after a restart, and not when the operator takes their own key out of the settings.
 * O2  The key stands in `owner.key` in the home, readable by its user alone. A key that the operator sets replaces it for
 *     as long as it is set.
 * O3  If the key cannot be written or does not come into force, the process is not started.
 */
import { atomicWrite } from '../adapters/files/atomic-write.js';
import { hashOfKey } from './file/stored-secrets.js';
import { type OwnerKeyFile, readOwnerKey } from './file/owner-key-file.js';
import { defineErrors, type Ids } from '@svc/api';
import type { ScopedLogger } from '../log/log.js';

const ownerKeyErrors = defineErrors('daemon', {
  owner_key: {
    status: 503,
    retry: true,
    message: (what: string, why: string) => `${what[0]?.toUpperCase() ?? ''}${what.slice(1)} was not started: it could reach this daemon's API, which has no key, and setting one failed: ${why}.`,
    hint: 'Set a key yourself: "svc key new --write". Or run the extension with isolation "walled" (bubblewrap).',
  },
});

export interface OwnerKeyDeps {
  /** Absolute path of `owner.key`. */
  readonly file: string;
  readonly ids: Pick<Ids, 'bytes'>;
  readonly log: ScopedLogger;
  /** No line of the log may hold it. */
  redact(secret: string): void;
}

/** The settings, which say whether callers need a key. */
export interface OwnerKeyPlace {
  /** Whether callers need a key now. */
  hasKey(): boolean;
  /** Evaluates the keys again. */
  apply(): void;
}

export interface OwnerKey {
  /** `sha256:<hex>`; undefined in a home where no process ever ran that could reach the port by itself. */
  hash(): string | undefined;
  /** Makes the key, once the settings are open that it comes into force in. */
  makerIn(place: OwnerKeyPlace): KeyNeed;
}

export interface KeyNeed {
  /** Resolves when callers need a key; `what` is the process that waits for it. Rejects with `daemon_owner_key`. */
  need(what: string): Promise<void>;
}

const OWNER_ONLY = 0o600;
const KEY_BYTES = 32;

export const openOwnerKey = async ({ file, ids, log, redact }: OwnerKeyDeps): Promise<OwnerKey> => {
  const found = await readOwnerKey(file);
  const newKey = (): string => `svc_${Buffer.from(ids.bytes(KEY_BYTES)).toString('base64url')}`;
  const state = stateOf(found, newKey);
  if (state.key !== undefined) redact(state.key);
  if (found.kind === 'unusable') log.error('owner.key cannot be used; the daemon makes another key', { file, why: found.why });

  const make = async (place: OwnerKeyPlace, what: string): Promise<void> => {
    const key = state.key ?? newKey();
    if (state.key === undefined) redact(key);
    state.key = key;
    const hadKey = place.hasKey();
    if (!state.isWritten) {
      await atomicWrite(file, `${key}\n`, { mode: OWNER_ONLY }).catch((cause: unknown) => {
        throw ownerKeyErrors.owner_key(what, `${file} cannot be written (${messageOf(cause)})`).with({ cause });
      });
      state.isWritten = true;
    }
    place.apply();
    if (!place.hasKey()) throw ownerKeyErrors.owner_key(what, 'no area of this build asks callers for a key');
    if (!hadKey)
      log.warn(`The API now needs a key: ${what} can open network connections of its own. svc sends the key automatically; "svc open" opens the page, "svc key show" prints the key.`, { file });
  };

  return {
    hash: () => state.key && hashOfKey(state.key),
    makerIn: (place) => {
      let making: Promise<void> | undefined;
      return {
        need: async (what) => {
          if (state.isWritten && place.hasKey()) return;
          making ??= make(place, what).finally(() => {
            making = undefined;
          });
          await making;
        },
      };
    },
  };
};

/** A file that is there and cannot be used says that such a process has run: the daemon stays closed, with a key that nobody has until it is written. */
const stateOf = (found: OwnerKeyFile, newKey: () => string): { key: string | undefined; isWritten: boolean } => {
  if (found.kind === 'key') return { key: found.key, isWritten: true };
  return { key: found.kind === 'unusable' ? newKey() : undefined, isWritten: false };
};

const messageOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));
