/**
 * The rules of providers.
 *
 * P1  A key is never read here, only looked for: in the vault, then in the environment.
 * P2  `default` is config's [default_model]; else what was chosen before and kept; else, chosen now and kept, the first
 *     provider in a fixed order that has a key or a model server on this machine that answers; else the built-in stand-in.
 * P3  A provider that was named but has no key stays without one: nothing else is put in its place.
 * P4  What changes here (a key, a URL) holds for the next call.
 * P5  Who was kept stays, whatever fails, until a person says otherwise: only the stand-in, or one whose key is gone,
 *     gives way to a key that is set. Nobody's talks move to another vendor because of an error.
 * P6  The door to models opens for the base URLs of this list, and each is allowed before anybody learns of it (allowed-urls.ts).
 */
import { type Clock, type ConfigHandle, type Events, isSvcError, type Logger, type SecretRef, type Secrets } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { AllowedUrls } from './addresses/allowed-urls.js';
import { isLoopbackUrl, normalizeBaseUrl } from './addresses/base-url.js';
import { DefaultModelSection, FallbackProvidersSection, ProviderUrlsSection } from './config.js';
import { type DefaultModel, ProviderChanged, type ProviderRecord, type ProvidersService, type ShownDefault } from './contract.js';
import { directory, type ProviderEntry, secretOf } from './directory.js';
import { usualModel } from './default/default-choice.js';
import { providerErrors } from './errors.js';
import { type Choosing, chooseByPerson, currentDefault, giveUpWithKey, takeOverByKey } from './default/kept-default.js';
import type { LocalServers } from './addresses/local-servers.js';
import type { SettingsStore } from './store.js';

const KEYS_UNREADABLE = 'providers_keys_unreadable';
/** How long a look at keys and settings holds. Changes made here are seen at once, those of another process as soon as it is heard; this bounds what was not heard. */
const SNAPSHOT_FRESH_MS = 10_000;

export interface ProvidersDeps {
  known: () => Promise<readonly ProviderEntry[]>;
  config: ConfigHandle;
  secrets: Secrets;
  store: SettingsStore;
  models: ModelsService;
  events: Events;
  clock: Clock;
  local: LocalServers;
  allowed: AllowedUrls;
  log: Logger;
}

export interface ProvidersControl extends ProvidersService {
  setKey(name: string, key: string): Promise<{ switchedDefault: DefaultModel | undefined }>;
  removeKey(name: string): Promise<void>;
  setUrl(name: string, url: string): Promise<string>;
  /** From now on this provider answers for `default`, with this model or its usual one. */
  setDefault(name: string, model: string): Promise<DefaultModel>;
  /** Allows every base URL; to be called before a generation takes over, whose predecessor's are taken back. */
  allowUrls(): Promise<void>;
  /** Forgets what was looked up; the next question looks again. */
  refresh(): void;
  /** Somebody changed this provider, perhaps in another process: its key may be a new one. */
  hearChange(name: string): void;
}

interface Snapshot {
  readonly entries: Map<string, ProviderEntry>;
  readonly records: Map<string, ProviderRecord>;
}

interface State {
  snapshot: Promise<Snapshot> | undefined;
  snapshotAt: number;
  chosen: Promise<DefaultModel> | undefined;
  chosenAt: number;
  /** Keys that a provider refused since they were set; at most one entry per provider. */
  readonly refused: Set<string>;
  /** The last list, and what it was made of. */
  shown: { readonly of: Snapshot; readonly beside: unknown; readonly list: readonly ProviderRecord[] } | undefined;
}

export const createProvidersService = (deps: ProvidersDeps): ProvidersControl => {
  const state: State = { snapshot: undefined, snapshotAt: 0, chosen: undefined, chosenAt: 0, refused: new Set(), shown: undefined };
  const changed = (name: string): void => {
    forget(state);
    deps.events.publish(ProviderChanged, { name });
  };
  return {
    list: async () => shown(deps, state, await current(deps, state)),
    get: async (name) => (await current(deps, state)).records.get(name),
    usable: async () =>
      shown(deps, state, await current(deps, state))
        .filter(canBeAsked)
        .map(({ name }) => name),
    defaultModel: () => defaultModel(deps, state),
    shownDefault: () => shownDefault(deps, state),
    fallbacks: () => fallbacks(deps, state),
    markKeyInvalid: async (name) => {
      if (state.refused.has(name)) return;
      if (!(await current(deps, state)).records.has(name)) return;
      state.refused.add(name);
      // Nothing was changed by anybody, so nobody is told: the same call would fail again.
      forget(state);
    },
    markKeyValid: async (name) => {
      if (state.refused.delete(name)) forget(state);
    },
    setKey: (name, key) => setKey(deps, state, changed, name, key),
    removeKey: async (name) => {
      const entry = await named(deps, state, name);
      if (entry.env_var === null) throw providerErrors.no_key_needed(name);
      await deps.secrets.delete(secretOf(entry).secret);
      state.refused.delete(name);
      forget(state);
      const record = (await current(deps, state)).records.get(name);
      if (record) await giveUpWithKey(deps, record);
      changed(name);
    },
    setDefault: async (name, model) => {
      const input = await choosing(deps, state);
      const record = input.records.get(name);
      if (!record) throw providerErrors.not_found(name);
      await chooseByPerson(deps, input, record, model);
      changed(name);
      return defaultModel(deps, state);
    },
    setUrl: async (name, url) => {
      const entry = await named(deps, state, name);
      const baseUrl = normalizeBaseUrl(url, entry.wire);
      await deps.store.saveBaseUrl(name, baseUrl, deps.clock.iso());
      await entriesNow(deps);
      deps.local.forget();
      changed(name);
      return baseUrl;
    },
    allowUrls: async () => void (await entriesNow(deps)),
    hearChange: (name) => {
      state.refused.delete(name);
      forget(state);
    },
    refresh: () => {
      deps.local.forget();
      forget(state);
    },
  };
};

const forget = (state: State): void => {
  state.snapshot = undefined;
  state.chosen = undefined;
};

const current = (deps: ProvidersDeps, state: State): Promise<Snapshot> => {
  // Judged without waiting, so that of many callers who find it old only the first looks again.
  if (state.snapshot && deps.clock.mono() - state.snapshotAt < SNAPSHOT_FRESH_MS) return state.snapshot;
  const next = takeSnapshot(deps, state);
  state.snapshot = next;
  state.snapshotAt = deps.clock.mono();
  next.catch(() => {
    // The error reaches whoever waits for it; a failed look is not kept.
    if (state.snapshot === next) state.snapshot = undefined;
  });
  return next;
};

const takeSnapshot = async (deps: ProvidersDeps, state: State): Promise<Snapshot> => {
  const entries = await entriesNow(deps);
  const records = await Promise.all([...entries.values()].map((entry) => recordOf(deps, state, entry)));
  return { entries, records: new Map(records.map((record) => [record.name, record])) };
};

/** Every provider there is, its base URL allowed from here on. */
const entriesNow = async (deps: ProvidersDeps): Promise<Map<string, ProviderEntry>> => {
  const allow = deps.allowed.look();
  const [known, saved] = await Promise.all([deps.known(), deps.store.baseUrls()]);
  const entries = directory(known, {
    defaultModel: deps.config.get(DefaultModelSection),
    urls: deps.config.get(ProviderUrlsSection),
    fallbacks: deps.config.get(FallbackProvidersSection),
    saved,
  });
  allow([...entries.values()].filter(({ wire }) => wire === 'openai' || wire === 'anthropic' || wire === 'gemini').map(({ base_url }) => base_url));
  return entries;
};

const recordOf = async (deps: ProvidersDeps, state: State, entry: ProviderEntry): Promise<ProviderRecord> => {
  const secret = secretOf(entry);
  const { place, problem } = entry.wire === 'builtin' ? { place: undefined, problem: null } : await lookFor(deps.secrets, secret);
  const withoutKey = entry.key_required ? 'missing' : 'no_key_needed';
  return {
    name: entry.name,
    display_name: entry.display_name,
    wire: entry.wire,
    base_url: entry.base_url,
    env_var: entry.env_var,
    key_required: entry.key_required,
    auth_status: place === undefined ? withoutKey : state.refused.has(entry.name) ? 'invalid_key' : 'configured',
    // A key that is not needed is sent only where one is set.
    secret: place === undefined && !entry.key_required ? null : secret,
    default_model: entry.default_model ?? null,
    problem,
  };
};

/** A store that does not open is said with each provider it concerns; the list of providers stands all the same. */
const lookFor = async (secrets: Secrets, secret: SecretRef): Promise<{ place: Awaited<ReturnType<Secrets['where']>>; problem: string | null }> => {
  try {
    return { place: await secrets.where(secret), problem: null };
  } catch (error) {
    return { place: undefined, problem: isSvcError(error) ? error.message : 'The store of secrets failed; the log says why.' };
  }
};

const ABLE: ReadonlySet<ProviderRecord['auth_status']> = new Set(['configured', 'no_key_needed', 'auto_detected']);

const canBeAsked = (record: ProviderRecord): boolean => record.wire !== 'unsupported' && ABLE.has(record.auth_status);

const shown = ({ local }: Pick<ProvidersDeps, 'local'>, state: State, snapshot: Snapshot): readonly ProviderRecord[] => {
  const beside = local.known();
  if (state.shown?.of === snapshot && state.shown.beside === beside) return state.shown.list;
  const list = Object.freeze([...snapshot.records.values()].map((record) => withLocal(record, local)));
  state.shown = { of: snapshot, beside, list };
  return list;
};

/** For a server on this machine the list says whether it answers, where somebody has looked. */
const withLocal = (record: ProviderRecord, local: LocalServers): ProviderRecord => {
  const known = local.known();
  if (!known || record.auth_status !== 'no_key_needed' || record.wire === 'builtin' || !isLoopbackUrl(record.base_url) || !PROBED.has(record.name)) return record;
  return { ...record, auth_status: known.servers.some((server) => server.name === record.name) ? 'auto_detected' : 'local_offline' };
};

/** Local servers that are looked for, with the most common first. */
export const PROBED: ReadonlySet<string> = new Set(['ollama', 'lmstudio']);

export const localAddresses = async (providers: ProvidersService): Promise<Array<{ name: string; baseUrl: string }>> =>
  (await Promise.all([...PROBED].map((name) => providers.get(name)))).flatMap((record) => (record ? [{ name: record.name, baseUrl: record.base_url }] : []));

const named = async (deps: ProvidersDeps, state: State, name: string): Promise<ProviderEntry> => {
  const entry = (await current(deps, state)).entries.get(name);
  if (!entry) throw providerErrors.not_found(name);
  return entry;
};

const defaultModel = (deps: ProvidersDeps, state: State): Promise<DefaultModel> => {
  // The choice rests on the snapshot and on the local look, each of which has its own age: it is as old as the younger may be.
  if (state.chosen && deps.clock.mono() - state.chosenAt < SNAPSHOT_FRESH_MS) return state.chosen;
  const next = choosing(deps, state).then((input) => currentDefault(deps, input));
  state.chosen = next;
  state.chosenAt = deps.clock.mono();
  next.catch(() => {
    if (state.chosen === next) state.chosen = undefined;
  });
  return next;
};

const shownDefault = async (deps: ProvidersDeps, state: State): Promise<ShownDefault> => {
  try {
    return { ...(await defaultModel(deps, state)), problem: null };
  } catch (error) {
    if (!isSvcError(error) || error.code !== KEYS_UNREADABLE) throw error;
    return { provider: 'default', model: 'default', why: error.message, isStandIn: false, chosen_by: 'start', chosen_at: null, trouble: error.message, problem: error.message };
  }
};

const choosing = async (deps: ProvidersDeps, state: State): Promise<Choosing> => {
  const { records } = await current(deps, state);
  return { records, configured: deps.config.get(DefaultModelSection), models: deps.models, local: deps.local };
};

const fallbacks = async (deps: ProvidersDeps, state: State): Promise<Array<{ provider: string; model: string }>> => {
  const configured = deps.config.get(FallbackProvidersSection);
  if (configured.length === 0) return [];
  const { records } = await current(deps, state);
  return Promise.all(configured.map(async ({ provider, model }) => ({ provider, model: model || (await usualModel(deps.models, provider, records.get(provider))) || '' })));
};

const setKey = async (deps: ProvidersDeps, state: State, changed: (name: string) => void, name: string, key: string): Promise<{ switchedDefault: DefaultModel | undefined }> => {
  const entry = await named(deps, state, name);
  if (entry.env_var === null) throw providerErrors.no_key_needed(name);
  const trimmed = key.trim();
  if (trimmed === '') throw providerErrors.empty_key();
  // It travels in a header: anything else would fail at each call, and far from its cause.
  if (!/^[\x21-\x7e]+$/.test(trimmed)) throw providerErrors.bad_key();
  const before = await shownDefault(deps, state);
  await deps.secrets.put(secretOf(entry).secret, trimmed);
  state.refused.delete(name);
  forget(state);
  const input = await choosing(deps, state);
  const record = input.records.get(name);
  const switched = record !== undefined && (await takeOverByKey(deps, input, before, record));
  changed(name);
  return { switchedDefault: switched ? await defaultModel(deps, state) : undefined };
};
