/**
 * The rules of the vault.
 *
 * V1  Nothing is read before somebody asks for a secret, and no key is made before one is kept.
 * V2  A vault that does not open is never written over: resolving from it fails and says why.
 * V3  A change is on the disk before it is acknowledged; changes come one after the other.
 * V4  Values leave through `resolve` alone. No status, list, log or error carries one.
 * V5  A vault is begun anew only when a person says so; the old file is moved aside under a name with the date.
 * V6  A rotation writes the earlier key beside the new one before it seals anything with the new one. Whatever interrupts it,
 *     one of the keys that are there opens the vault, and the next change seals it with the new one.
 */
import { type Clock, type Dir, type Ids, type Logger, textThatIsSet } from '@svc/api';
import { vaultErrors } from './errors.js';
import { copyKeyFile, earlierKeys, findMasterKey, KEY_FILE, makeMasterKey } from './master-key.js';
import { readNames, SECRET_NAME, seal, unseal } from './vault-file.js';

export const VAULT_FILE = 'vault.enc';

const OWNER_ONLY = 0o600;
const MAX_SECRETS = 1_000;
const MAX_SECRET_BYTES = 64 * 1024;
const MAX_FILE_BYTES = 128 * 1024 * 1024;

export interface VaultStatus {
  readonly state: 'open' | 'locked' | 'missing' | 'corrupt';
  readonly secrets: number;
}

export interface VaultDeps {
  data: Dir;
  ids: Ids;
  log: Logger;
  masterKeyText: () => string | undefined;
  /** The key before it, while the operator replaces it. */
  previousKeyText: () => string | undefined;
  isEnabled: () => boolean;
  clock: Pick<Clock, 'iso'>;
}

export interface Vault {
  /** The value, or undefined when no such secret is kept. Throws `vault_locked`, `vault_corrupt`. */
  resolve(name: string): string | undefined | Promise<string | undefined>;
  put(name: string, value: string): Promise<void>;
  delete(name: string): Promise<boolean>;
  names(prefix: string): Promise<string[]>;
  /** Opens the vault when nobody has yet; never throws for its state. */
  status(): Promise<VaultStatus & { readonly why: string | null }>;
  /** The status with the names of what is kept; null where nobody can tell. */
  contents(): Promise<{ readonly state: VaultStatus['state']; readonly why: string | null; readonly names: string[] | null }>;
  /** V5. Throws `vault_nothing_to_reset`, `vault_key_unusable`. */
  reset(): Promise<{ readonly names: string[] | null; readonly setAside: string[] }>;
  /** V6. `earlierKey` is the file that has the key of before; null where the environment gives the keys. Throws `vault_nothing_to_rotate`, `vault_key_in_environment`. */
  rotateKey(): Promise<{ readonly secrets: number; readonly earlierKey: string | null }>;
  /** Overwrites what it holds in memory. */
  close(): void;
}

interface OpenVault {
  readonly state: 'open';
  readonly secrets: Map<string, Buffer>;
  /** Seals it at the next change. */
  readonly master: Buffer;
  /** The file is still sealed with an earlier key. */
  readonly isEarlier: boolean;
}
interface MissingVault {
  readonly state: 'missing';
  readonly master: Buffer | undefined;
}
interface ClosedVault {
  readonly state: 'locked' | 'corrupt';
  readonly why: string;
}
type Held = OpenVault | MissingVault | ClosedVault;

interface State {
  /** Read only in the turn of the event loop that uses it: a change swaps it and wipes the old one. */
  held: OpenVault | MissingVault | undefined;
  opening: Promise<Held> | undefined;
  lastChange: Promise<unknown>;
}

export const createVault = (deps: VaultDeps): Vault => {
  const state: State = { held: undefined, opening: undefined, lastChange: Promise.resolve() };
  return {
    // At once once it is open: each model call asks.
    resolve: (name) => (deps.isEnabled() ? read(deps, state, (secrets) => secrets.get(name)?.toString('utf8')) : undefined),
    put: async (name, value) => {
      if (!deps.isEnabled()) throw vaultErrors.disabled();
      check(name, value);
      await change(deps, state, (secrets) => {
        if (!secrets.has(name) && secrets.size >= MAX_SECRETS) throw vaultErrors.full(MAX_SECRETS);
        secrets.set(name, Buffer.from(value));
      });
    },
    delete: async (name) => {
      if (!deps.isEnabled()) throw vaultErrors.disabled();
      // Forgetting what is not there writes nothing.
      if (!(await read(deps, state, (secrets) => secrets.has(name)))) return false;
      return change(deps, state, (secrets) => secrets.delete(name));
    },
    names: async (prefix) => {
      if (!deps.isEnabled()) return [];
      return read(deps, state, (secrets) => [...secrets.keys()].filter((name) => name.startsWith(prefix)).sort());
    },
    contents: () => contents(deps, state),
    reset: () => inTurn(state, () => reset(deps, state)),
    rotateKey: () => inTurn(state, () => rotateKey(deps, state)),
    status: async () => {
      const vault = state.held ?? (await open(deps, state));
      return { state: vault.state, secrets: vault.state === 'open' ? vault.secrets.size : 0, why: 'why' in vault ? vault.why : null };
    },
    close: () => {
      wipe(state.held);
      state.held = undefined;
    },
  };
};

/** Calls `look` in the same turn in which it takes the map: what is held may be swapped and wiped in any other. */
const read = <T>(deps: VaultDeps, state: State, look: (secrets: ReadonlyMap<string, Buffer>) => T): T | Promise<T> => {
  const lookNow = (): T => look(state.held?.state === 'open' ? state.held.secrets : new Map());
  if (state.held) return lookNow();
  return open(deps, state).then((held) => {
    usable(held);
    return lookNow();
  });
};

/** Many may ask at once; one reads the file. A vault that does not open is looked at anew by the next who asks: it may have been fixed. */
const open = (deps: VaultDeps, state: State): Promise<Held> => {
  state.opening ??= openVault(deps)
    .then((vault) => {
      if ('why' in vault) return vault;
      // A change that ended meanwhile knows better than what was read before it.
      if (state.held) wipe(vault);
      else state.held = vault;
      return state.held;
    })
    .finally(() => {
      state.opening = undefined;
    });
  return state.opening;
};

/** V3: waits for the change before it, reads the file anew (another process may have written) and writes the whole. */
const change = <T>(deps: VaultDeps, state: State, edit: (secrets: Map<string, Buffer>) => T): Promise<T> =>
  inTurn(state, async () => {
    const vault = usable(await openVault(deps));
    const secrets = vault.state === 'open' ? vault.secrets : new Map<string, Buffer>();
    const result = edit(secrets);
    await write(deps, state, secrets, vault.master ?? (await makeMasterKey(deps.data, deps.ids)));
    return result;
  });

const write = async ({ data, ids }: VaultDeps, state: State, secrets: Map<string, Buffer>, master: Buffer): Promise<void> => {
  await data.write(
    VAULT_FILE,
    seal(secrets, master, (count) => ids.bytes(count)),
    { mode: OWNER_ONLY },
  );
  const before = state.held;
  state.held = { state: 'open', secrets, master, isEarlier: false };
  wipe(before);
};

const rotateKey = async (deps: VaultDeps, state: State): ReturnType<Vault['rotateKey']> => {
  if (!deps.isEnabled()) throw vaultErrors.disabled();
  const vault = usable(await openVault(deps));
  if (vault.state === 'missing') throw vaultErrors.nothing_to_rotate();
  const { isEarlier, master, secrets } = vault;
  if (textThatIsSet(deps.masterKeyText()) !== undefined) {
    // Its operator brings the new key; what is left to do is to seal the file with it.
    if (!isEarlier) throw vaultErrors.key_in_environment();
    await write(deps, state, secrets, master);
    return { secrets: secrets.size, earlierKey: null };
  }
  master.fill(0);
  const earlierKey = await copyKeyFile(deps.data, deps.ids, stampOf(deps.clock));
  await write(deps, state, secrets, await makeMasterKey(deps.data, deps.ids));
  return { secrets: secrets.size, earlierKey };
};

/** As a part of a file's name. */
const stampOf = (clock: VaultDeps['clock']): string => clock.iso().replaceAll(/[:.]/g, '-');

const inTurn = <T>(state: State, work: () => Promise<T>): Promise<T> => {
  const next = state.lastChange.then(work);
  // Its failure reaches whoever asked for it; the change after it goes on.
  state.lastChange = next.catch(() => undefined);
  return next;
};

const contents = async (deps: VaultDeps, state: State): ReturnType<Vault['contents']> => {
  const vault = state.held ?? (await open(deps, state));
  if ('why' in vault) return { state: vault.state, why: vault.why, names: await namesInTheClear(deps) };
  return { state: vault.state, why: null, names: vault.state === 'open' ? [...vault.secrets.keys()].sort() : [] };
};

const namesInTheClear = async ({ data }: VaultDeps): Promise<string[] | null> => ((await data.stat(VAULT_FILE)) ? (readNames(await data.read(VAULT_FILE, { maxBytes: MAX_FILE_BYTES })) ?? null) : []);

const reset = async (deps: VaultDeps, state: State): ReturnType<Vault['reset']> => {
  const { names, state: before } = await contents(deps, state);
  if (before === 'missing') throw vaultErrors.nothing_to_reset();
  const master = await findMasterKey(deps.data, deps.masterKeyText());
  const isEnvironment = textThatIsSet(deps.masterKeyText()) !== undefined;
  if (master.state === 'bad' && isEnvironment) throw vaultErrors.key_unusable(master.why);
  if (master.state === 'found') master.key.fill(0);
  // A key file that is none would lock the new vault as it locks the old one.
  const files = [VAULT_FILE, ...(master.state === 'bad' ? [KEY_FILE] : [])];
  const stamp = stampOf(deps.clock);
  const setAside: string[] = [];
  for (const file of files) if (await deps.data.stat(file)) setAside.push(await moveAside(deps.data, file, `${file}.${stamp}`));
  wipe(state.held);
  state.held = undefined;
  return { names, setAside };
};

/** Written whole before the old one goes: a crash in between leaves two, never none. */
const moveAside = async (data: Dir, from: string, to: string): Promise<string> => {
  await data.write(to, await data.read(from, { maxBytes: MAX_FILE_BYTES }), { mode: OWNER_ONLY });
  await data.remove(from);
  return to;
};

const openVault = async (deps: VaultDeps): Promise<Held> => {
  const [file, master] = await Promise.all([deps.data.stat(VAULT_FILE), findMasterKey(deps.data, deps.masterKeyText())]);
  if (master.state === 'bad') return { state: 'locked', why: master.why };
  if (!file) return { state: 'missing', master: master.state === 'found' ? master.key : undefined };
  if (master.state === 'absent') return { state: 'locked', why: 'its key is neither in SVC_VAULT_KEY nor in vault.key' };
  const bytes = await deps.data.read(VAULT_FILE, { maxBytes: MAX_FILE_BYTES });
  const opened = unseal(bytes, master.key);
  if (opened.ok) return { state: 'open', secrets: opened.secrets, master: master.key, isEarlier: false };
  const secrets = opened.reason === 'wrong_key' ? await openedByEarlier(deps, bytes, master.from) : undefined;
  if (secrets) return { state: 'open', secrets, master: master.key, isEarlier: true };
  deps.log.error('the vault does not open', { why: opened.why });
  return { state: opened.reason === 'damaged' ? 'corrupt' : 'locked', why: opened.why };
};

/** V6: a rotation that was interrupted, and a backup from before one. */
const openedByEarlier = async ({ data, previousKeyText }: VaultDeps, bytes: Uint8Array, from: 'environment' | 'file'): Promise<Map<string, Buffer> | undefined> => {
  const keys = await earlierKeys(data, from, previousKeyText());
  try {
    for (const key of keys) {
      const opened = unseal(bytes, key);
      if (opened.ok) return opened.secrets;
    }
    return undefined;
  } finally {
    for (const key of keys) key.fill(0);
  }
};

/** V2: only a vault that is open, or that nobody has made yet, may be read or written. */
const usable = (vault: Held): OpenVault | MissingVault => {
  if (!('why' in vault)) return vault;
  throw vault.state === 'locked' ? vaultErrors.locked(vault.why) : vaultErrors.corrupt(vault.why);
};

const check = (name: string, value: string): void => {
  if (!SECRET_NAME.test(name)) throw vaultErrors.bad_name();
  if (Buffer.byteLength(value) > MAX_SECRET_BYTES) throw vaultErrors.too_large(MAX_SECRET_BYTES);
};

/** Overwrites values and key in memory. What a call is given of a secret is a text, which nobody can overwrite. */
export const wipe = (vault: Held | undefined): void => {
  if (vault?.state === 'open') for (const value of vault.secrets.values()) value.fill(0);
  if (vault && 'master' in vault) vault.master?.fill(0);
};
