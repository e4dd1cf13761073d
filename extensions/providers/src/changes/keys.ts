/** Keys that come and go, and what providers say of them (P4, P5, P7, P8). */
import { textForm } from '@svc/api';
import { giveUpWithKey, takeOverByKey } from '../default/stored-default.js';
import type { DefaultModel, ProviderRecord, ProvidersService } from '../contract.js';
import { type ProviderEntry, secretOf } from '../directory.js';
import { providerErrors } from '../errors.js';
import { type Changing, recordNow } from './changing.js';
import { current, forget, markKeyChange } from '../snapshot.js';
import type { KeyState, Verdict } from '../store.js';

export interface KeyChanges extends Pick<ProvidersService, 'markKeyInvalid' | 'markKeyValid' | 'storeKey'> {
  /** `label`: one of the keys of [[credential_pools]], instead of the provider's own. */
  setKey(name: string, key: string, label?: string): Promise<{ switchedDefault: DefaultModel | undefined }>;
  /** `suppressed`: the environment holds a key too, which is not used from now on. */
  removeKey(name: string, label?: string): Promise<{ suppressed: boolean; envVar: string | null }>;
  /** A key of the environment counts again. */
  enable(name: string): Promise<ProviderRecord>;
  /** To be taken before a key is tested. */
  keyMark(name: string): number;
  /** What the provider said when somebody tested its key; nothing where that has changed since the mark. */
  noteVerdict(name: string, verdict: Verdict, mark: number): Promise<void>;
}

const NO_STATE: KeyState = { suppressed: false, verdict: null };

export const keyChanges = (changing: Changing): KeyChanges => {
  const { deps, state } = changing;
  return {
    setKey: (name, key, label) => setKey(changing, name, key, label),
    storeKey: async (name, key) => {
      const { switchedDefault } = await setKey(changing, name, key, undefined);
      return switchedDefault ? { switchedDefault } : {};
    },
    removeKey: (name, label) => removeKey(changing, name, label),
    enable: async (name) => {
      const entry = await named(changing, name);
      await saveState(changing, name, { suppressed: false });
      changing.changed(entry.name);
      return recordNow(changing, name);
    },
    keyMark: (name) => state.keyMarks.get(name) ?? 0,
    noteVerdict: (name, verdict, mark) => noteVerdict(changing, name, verdict, mark),
    markKeyInvalid: async (name) => {
      if (state.refused.has(name)) return;
      const { records, places } = await current(deps, state);
      if (!records.has(name)) return;
      state.verdicts.set(name, 'refused');
      if (places.get(name) === 'stored') await saveState(changing, name, { verdict: 'refused' });
      // Nothing was changed by anybody, so nobody is told: the same call would fail again.
      forget(state);
    },
    markKeyValid: async (name) => {
      // Asked after every call of a model.
      if (!state.refused.has(name) && state.verdicts.get(name) !== 'refused') return;
      state.verdicts.delete(name);
      forget(state);
      await saveState(changing, name, { verdict: null });
      forget(state);
    },
  };
};

const named = async ({ deps, state }: Changing, name: string): Promise<ProviderEntry> => {
  const entry = (await current(deps, state)).entries.get(name);
  if (!entry) throw providerErrors.not_found(name);
  if (entry.env_var === null) throw providerErrors.no_key_needed(name);
  return entry;
};

/** Where it says nothing new there is no commit. */
const saveState = async ({ deps }: Changing, name: string, change: Partial<KeyState>): Promise<void> => {
  const before = (await deps.store.keyStates()).get(name) ?? NO_STATE;
  const after = { ...before, ...change };
  if (after.suppressed !== before.suppressed || after.verdict !== before.verdict) await deps.store.saveKeyState(name, after, deps.clock.iso());
};

/** Throws `providers_no_such_key`. */
const secretNamed = (entry: ProviderEntry, label: string | undefined): string => {
  if (label === undefined) return secretOf(entry).secret;
  const found = entry.pool?.keys.find((key) => key.name === label);
  if (!found) throw providerErrors.no_such_key(entry.name, label);
  return found.ref.secret;
};

const setKey = async (changing: Changing, name: string, key: string, label: string | undefined): Promise<{ switchedDefault: DefaultModel | undefined }> => {
  const { deps, state } = changing;
  const entry = await named(changing, name);
  const secret = secretNamed(entry, label);
  const trimmed = wellFormedKey(key);
  const before = await changing.shownDefault();
  await deps.secrets.put(secret, trimmed);
  // What is stored of the provider's key is about its own.
  if (secret === secretOf(entry).secret) await saveState(changing, name, NO_STATE);
  markKeyChange(state, name);
  forget(state);
  const input = await changing.choosing();
  const record = input.records.get(name);
  const switched = record !== undefined && (await takeOverByKey(deps, input, before, record));
  changing.changed(name);
  return { switchedDefault: switched ? await changing.defaultModel() : undefined };
};

/** It travels in a header: anything else would fail at each call, and far from its cause. */
export const PROVIDER_KEY = textForm('^[\\x21-\\x7e]+$');

/** Throws `providers_empty_key`, `providers_bad_key`. */
export const wellFormedKey = (key: string): string => {
  const trimmed = key.trim();
  if (trimmed === '') throw providerErrors.empty_key();
  if (!PROVIDER_KEY.fits(trimmed)) throw providerErrors.bad_key();
  return trimmed;
};

const removeKey = async (changing: Changing, name: string, label: string | undefined): Promise<{ suppressed: boolean; envVar: string | null }> => {
  const { deps, state } = changing;
  const entry = await named(changing, name);
  const secret = secretNamed(entry, label);
  await deps.secrets.delete(secret);
  if (secret !== secretOf(entry).secret) {
    forget(state);
    changing.changed(name);
    return { suppressed: false, envVar: null };
  }
  // Looked for after the kept one is gone; until it is written down nobody was told that the key is removed.
  const suppressed = (await deps.secrets.where(secretOf(entry))) === 'environment';
  await saveState(changing, name, { suppressed, verdict: null });
  markKeyChange(state, name);
  forget(state);
  const record = (await current(deps, state)).records.get(name);
  if (record) await giveUpWithKey(deps, record);
  changing.changed(name);
  return { suppressed, envVar: entry.env_var };
};

const noteVerdict = async (changing: Changing, name: string, verdict: Verdict, mark: number): Promise<void> => {
  const { deps, state } = changing;
  const { places, keyStates } = await current(deps, state);
  if ((state.keyMarks.get(name) ?? 0) !== mark) return;
  const place = places.get(name);
  if (place === undefined) return;
  if (place === 'stored' && keyStates.get(name)?.verdict !== verdict) {
    await saveState(changing, name, { verdict });
    state.verdicts.delete(name);
    changing.changed(name);
    return;
  }
  const wasRefused = state.refused.has(name);
  state.verdicts.set(name, verdict);
  forget(state);
  // Whoever waits for a working key need not wait any longer.
  if (wasRefused && verdict === 'validated') changing.changed(name);
};
