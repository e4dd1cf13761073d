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
import { copyKeyFile, earlierKeys, findMasterKey, KEY_FILE, makeMasterKey, type MasterKey } from './master-key.js';
import { filePlace, moveAside, type SealedVault, VAULT_FILE, type VaultPlace } from './place.js';
import { readNames, SECRET_NAME, seal, unseal } from './vault-file.js';

const MAX_SECRETS = 1_000;
const MAX_SECRET_BYTES = 64 * 1024;
/** Daemons that change secrets at the same time. */
const MAX_TRIES = 20;

export interface VaultStatus {
  readonly state: 'open' | 'locked' | 'missing' | 'corrupt';
  readonly secrets: number;
}

export interface VaultDeps {
  data: Dir;
  place: () => Promise<VaultPlace>;
  /** Other daemons use the database, and would not see a secret that is stored in this home. */
  isAmongOthers: () => Promise<boolean>;
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
  /** Overwrites what it holds in memory; the next who asks opens the vault anew. */
  close(): void;
  /** Whether another daemon changed the vault since it was opened here. */
  isOutdated(): Promise<boolean>;
}

interface OpenVault {
  readonly state: 'open';
  readonly secrets: Map<string, Buffer>;
  /** Seals it at the next change. */
  readonly master: Buffer;
  /** It is still sealed with an earlier key. */
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
  /** Of what is held. */
  revision: number;
  /** Read only in the turn of the event loop that uses it: a change swaps it and wipes the old one. */
  held: OpenVault | MissingVault | undefined;
  opening: Promise<Held> | undefined;
  movingIn: Promise<void> | undefined;
  lastChange: Promise<unknown>;
}

export const createVault = (deps: VaultDeps): Vault => {
  const state: State = { revision: 0, held: undefined, opening: undefined, movingIn: undefined, lastChange: Promise.resolve() };
  return {
    // At once once it is open: each model call asks.
    resolve: (name) => (deps.isEnabled() ? read(deps, state, (secrets) => secrets.get(name)?.toString('utf8')) : undefined),
    put: async (name, value) => {
      if (!deps.isEnabled()) throw vaultErrors.disabled();
      check(name, value);
      if (!(await deps.place()).isShared && (await deps.isAmongOthers())) throw vaultErrors.not_shared();
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
    isOutdated: async () => {
      if (state.held === undefined) return false;
      const place = await deps.place();
      return place.isShared && ((await place.read())?.revision ?? 0) !== state.revision;
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

/** Many may ask at once; one reads it. A vault that does not open is looked at anew by the next who asks: it may have been fixed. */
const open = (deps: VaultDeps, state: State): Promise<Held> => {
  state.opening ??= openVault(deps, state)
    .then(({ held, sealed }) => {
      if ('why' in held) return held;
      // A change that ended meanwhile knows better than what was read before it.
      if (state.held) wipe(held);
      else Object.assign(state, { held, revision: sealed?.revision ?? 0 });
      return state.held ?? held;
    })
    .finally(() => {
      state.opening = undefined;
    });
  return state.opening;
};

/** V3: waits for the change before it, reads the vault anew (another process may have written) and writes the whole. */
const change = <T>(deps: VaultDeps, state: State, edit: (secrets: Map<string, Buffer>) => T): Promise<T> =>
  inTurn(state, () =>
    rewritten(deps, state, async (vault) => {
      const secrets = vault.state === 'open' ? vault.secrets : new Map<string, Buffer>();
      return { result: edit(secrets), secrets, master: vault.master ?? (await makeMasterKey(deps.data, deps.ids)) };
    }),
  );

interface Rewritten<T> {
  readonly result: T;
  readonly secrets: Map<string, Buffer>;
  readonly master: Buffer;
}

/** Again while another daemon was faster. */
const rewritten = async <T>(deps: VaultDeps, state: State, rewrite: (vault: OpenVault | MissingVault) => Promise<Rewritten<T>>): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    const { held, place, sealed } = await openVault(deps, state);
    const vault = usable(held);
    const { result, secrets, master } = await rewrite(vault);
    if (await place.write(sealedBytes(deps, secrets, master), sealed)) {
      const before = state.held;
      Object.assign(state, { held: { state: 'open', secrets, master, isEarlier: false }, revision: sealed === undefined ? Number(place.isShared) : sealed.revision + Number(place.isShared) });
      wipe(before);
      return result;
    }
    wipe(vault);
    if (tries === MAX_TRIES) throw vaultErrors.busy();
  }
};

const rotateKey = async (deps: VaultDeps, state: State): ReturnType<Vault['rotateKey']> => {
  if (!deps.isEnabled()) throw vaultErrors.disabled();
  // Its operator brings the new key; what is left to do is to seal the vault with it.
  const isEnvironment = textThatIsSet(deps.masterKeyText()) !== undefined;
  return rewritten<Awaited<ReturnType<Vault['rotateKey']>>>(deps, state, async (vault) => {
    if (vault.state === 'missing') throw vaultErrors.nothing_to_rotate();
    const { isEarlier, master, secrets } = vault;
    if (isEnvironment) {
      if (!isEarlier) throw vaultErrors.key_in_environment();
      return { result: { secrets: secrets.size, earlierKey: null }, secrets, master };
    }
    master.fill(0);
    const earlierKey = await copyKeyFile(deps.data, deps.ids, stampOf(deps.clock));
    return { result: { secrets: secrets.size, earlierKey }, secrets, master: await makeMasterKey(deps.data, deps.ids) };
  });
};

/** As a part of a file's name. */
const stampOf = (clock: VaultDeps['clock']): string => clock.iso().replaceAll(/[:.]/g, '-');

const sealedBytes = ({ ids }: VaultDeps, secrets: ReadonlyMap<string, Buffer>, master: Buffer): Buffer => seal(secrets, master, (count) => ids.bytes(count));

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

const namesInTheClear = async (deps: VaultDeps): Promise<string[] | null> => {
  const sealed = await (await deps.place()).read();
  return sealed ? (readNames(sealed.bytes) ?? null) : [];
};

const reset = async (deps: VaultDeps, state: State): ReturnType<Vault['reset']> => {
  const { names, state: before } = await contents(deps, state);
  if (before === 'missing') throw vaultErrors.nothing_to_reset();
  const master = await findMasterKey(deps.data, deps.masterKeyText());
  const isEnvironment = textThatIsSet(deps.masterKeyText()) !== undefined;
  if (master.state === 'bad' && isEnvironment) throw vaultErrors.key_unusable(master.why);
  if (master.state === 'found') master.key.fill(0);
  const stamp = stampOf(deps.clock);
  const setAside = await (await deps.place()).setAside(stamp);
  // A key file that is none would lock the new vault as it locks the old one.
  if (master.state === 'bad' && (await deps.data.stat(KEY_FILE))) setAside.push(await moveAside(deps.data, KEY_FILE, `${KEY_FILE}.${stamp}`));
  wipe(state.held);
  state.held = undefined;
  return { names, setAside };
};

interface OpenedPlace {
  readonly held: Held;
  readonly place: VaultPlace;
  /** As it was read. */
  readonly sealed: SealedVault | undefined;
}

const openVault = async (deps: VaultDeps, state: State): Promise<OpenedPlace> => {
  const place = await deps.place();
  const master = await findMasterKey(deps.data, deps.masterKeyText());
  if (place.isShared && master.state === 'found') {
    state.movingIn ??= moveIn(deps, place, master.key);
    await state.movingIn.catch((error: unknown) => {
      state.movingIn = undefined;
      throw error;
    });
  }
  const sealed = await place.read();
  return { held: await heldOf(deps, sealed, master), place, sealed };
};

/** P3. */
const moveIn = async (deps: VaultDeps, place: VaultPlace, key: Buffer): Promise<void> => {
  const file = await filePlace(deps.data).read();
  if (!file) return;
  // The home may have had a key of its own before it was given one that others have, too.
  const own = await findMasterKey(deps.data, undefined);
  const opened = [key, ...(own.state === 'found' ? [own.key] : [])].map((one) => unseal(file.bytes, one)).find(({ ok }) => ok);
  if (!opened?.ok) {
    deps.log.warn('The secrets of this home are not shared: neither SVC_VAULT_KEY nor vault.key opens vault.enc.');
    return;
  }
  for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
    const sealed = await place.read();
    const shared = sealed ? unseal(sealed.bytes, key) : undefined;
    if (shared?.ok === false) return;
    const merged = new Map([...opened.secrets, ...(shared?.secrets ?? [])]);
    if (!(await place.write(sealedBytes(deps, merged, key), sealed))) continue;
    const aside = await moveAside(deps.data, VAULT_FILE, `${VAULT_FILE}.moved-${stampOf(deps.clock)}`);
    deps.log.info('The secrets of this home are now those of all daemons on the database.', { count: opened.secrets.size, former_file: aside });
    return;
  }
  throw vaultErrors.busy();
};

const heldOf = async (deps: VaultDeps, sealed: SealedVault | undefined, master: MasterKey): Promise<Held> => {
  if (master.state === 'bad') return { state: 'locked', why: master.why };
  if (!sealed) return { state: 'missing', master: master.state === 'found' ? master.key : undefined };
  if (master.state === 'absent') return { state: 'locked', why: 'its key is neither in SVC_VAULT_KEY nor in vault.key' };
  const opened = unseal(sealed.bytes, master.key);
  if (opened.ok) return { state: 'open', secrets: opened.secrets, master: master.key, isEarlier: false };
  const secrets = opened.reason === 'wrong_key' ? await openedByEarlier(deps, sealed.bytes, master.from) : undefined;
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
