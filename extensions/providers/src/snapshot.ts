/** The providers as they are at one moment: where each is reached, whether it has a key, and what it said of it. */
import { type AtOnce, isSvcError, type SecretRef, type Secrets } from '@svc/api';
import { isLoopbackUrl } from './addresses/base-url.js';
import type { LocalServers } from './addresses/local-servers.js';
import { CredentialPoolsSection, DefaultModelSection, FallbackProvidersSection, ProviderProxyUrlsSection, ProviderUrlsSection } from './config.js';
import type { DefaultModel, ProviderRecord } from './contract.js';
import type { ProvidersDeps } from './deps.js';
import { directory, type KeyPool, type ProviderEntry, secretOf } from './directory.js';
import { besideBaseUrl } from './probe/model-list.js';
import type { KeyState, Verdict } from './store.js';

/** How long a look at keys and settings holds. Changes made here are seen at once, those of another process as soon as it is heard; this bounds what was not heard. */
export const SNAPSHOT_FRESH_MS = 10_000;

export type KeyPlace = Awaited<ReturnType<Secrets['where']>>;

export interface Snapshot {
  readonly entries: Map<string, ProviderEntry>;
  readonly records: Map<string, ProviderRecord>;
  readonly places: ReadonlyMap<string, KeyPlace>;
  readonly keyStates: ReadonlyMap<string, KeyState>;
}

export interface State {
  snapshot: AtOnce<Snapshot> | undefined;
  snapshotAt: number;
  chosen: Promise<DefaultModel> | undefined;
  chosenAt: number;
  /** What providers said of their keys in this life; at most one entry per provider. Of a key that is kept it stands in the table too. */
  readonly verdicts: Map<string, Verdict>;
  /** How often the key of a provider was changed in this life, where it was. */
  readonly keyMarks: Map<string, number>;
  /** Providers that are shown with a refused key, for whoever asks without waiting. */
  refused: ReadonlySet<string>;
  /** The last list, what of it can be asked, and what it was made of. */
  shown: { readonly of: Snapshot; readonly beside: unknown; readonly list: readonly ProviderRecord[]; readonly usable: readonly string[] } | undefined;
}

export const newState = (): State => ({ snapshot: undefined, snapshotAt: 0, chosen: undefined, chosenAt: 0, verdicts: new Map(), keyMarks: new Map(), refused: new Set(), shown: undefined });

/** Its key may be another one from here on: what is said of the one before is not said of it. */
export const markKeyChange = (state: State, name: string): void => {
  state.verdicts.delete(name);
  state.keyMarks.set(name, (state.keyMarks.get(name) ?? 0) + 1);
};

export const forget = (state: State): void => {
  state.snapshot = undefined;
  state.chosen = undefined;
};

export const current = (deps: ProvidersDeps, state: State): AtOnce<Snapshot> => {
  // Validated without waiting, so that of many callers who find it old only the first looks again.
  if (state.snapshot && deps.clock.mono() - state.snapshotAt < SNAPSHOT_FRESH_MS) return state.snapshot;
  const next = takeSnapshot(deps, state);
  state.snapshot = next;
  state.snapshotAt = deps.clock.mono();
  next.then(
    (snapshot) => {
      if (state.snapshot === next) state.snapshot = snapshot;
    },
    () => {
      // The error reaches whoever waits for it; a failed look is not kept.
      if (state.snapshot === next) state.snapshot = undefined;
    },
  );
  return next;
};

const takeSnapshot = async (deps: ProvidersDeps, state: State): Promise<Snapshot> => {
  const [entries, keyStates] = await Promise.all([entriesNow(deps), deps.store.keyStates()]);
  const looked = await Promise.all([...entries.values()].map(async (entry) => ({ entry, ...(await lookFor(deps.secrets, entry)) })));
  const records = new Map(
    looked.map(({ entry, place, problem, pooled }) => [entry.name, recordOf(entry, { place, problem, pooled, kept: keyStates.get(entry.name), said: state.verdicts.get(entry.name) })]),
  );
  state.refused = new Set([...records.values()].filter(({ auth_status }) => auth_status === 'invalid_key').map(({ name }) => name));
  return { entries, records, places: new Map(looked.map(({ entry, place }) => [entry.name, place])), keyStates };
};

/** Every provider there is, its base URL allowed from here on. */
export const entriesNow = async (deps: ProvidersDeps): Promise<Map<string, ProviderEntry>> => {
  const allow = deps.allowed.look();
  const [known, saved] = await Promise.all([deps.known(), deps.store.baseUrls()]);
  const entries = directory(known, {
    defaultModel: deps.config.get(DefaultModelSection),
    urls: deps.config.get(ProviderUrlsSection),
    proxies: deps.config.get(ProviderProxyUrlsSection),
    fallbacks: deps.config.get(FallbackProvidersSection),
    pools: deps.config.get(CredentialPoolsSection),
    saved,
  });
  // Also of those that the daemon itself does not speak to: an extension may bring their driver.
  allow([...entries.values()].filter(({ wire }) => wire !== 'builtin').flatMap((entry) => [entry.base_url, ...besideBaseUrl(entry)].map((url) => ({ url, proxy: entry.proxy_url }))));
  return entries;
};

interface KeyFound {
  readonly place: KeyPlace;
  readonly problem: string | null;
  /** Keys of its pool that are there, the provider's own among them. */
  readonly pooled: KeyPool['keys'];
  readonly kept: KeyState | undefined;
  /** In this life. */
  readonly said: Verdict | undefined;
}

const recordOf = (entry: ProviderEntry, { place: found, problem, pooled, kept, said }: KeyFound): ProviderRecord => {
  const suppressed = kept?.suppressed === true;
  const place = suppressed && found === 'environment' ? undefined : found;
  // What was kept is of the key that is kept: another start may bring another environment.
  const verdict = said ?? (place === 'stored' ? kept?.verdict : null);
  const keys = pooled.filter(({ ref }) => place !== undefined || ref.secret !== secretOf(entry).secret);
  const hasKey = place !== undefined || keys.length > 0;
  const [first] = keys;
  const withKey = verdict === 'refused' ? 'invalid_key' : verdict === 'validated' ? 'validated_key' : 'configured';
  return {
    name: entry.name,
    display_name: entry.display_name,
    wire: entry.wire,
    base_url: entry.base_url,
    ...(entry.proxy_url === undefined ? {} : { proxy_url: entry.proxy_url }),
    env_var: entry.env_var,
    key_required: entry.key_required,
    auth_status: hasKey ? withKey : entry.key_required ? 'missing' : 'no_key_needed',
    // A key that is not needed is sent only where one is set.
    secret: !hasKey && !entry.key_required ? null : place === undefined && first ? first.ref : secretOf(entry),
    ...(keys.length > 1 && entry.pool ? { keys: keys.map(({ name, ref }) => ({ name, ...ref })), key_strategy: entry.pool.strategy } : {}),
    default_model: entry.default_model ?? null,
    ...(suppressed ? { suppressed } : {}),
    problem,
  };
};

/** A store that does not open is said with each provider it concerns; the list of providers stands all the same. */
const lookFor = async (secrets: Secrets, entry: ProviderEntry): Promise<{ place: KeyPlace; problem: string | null; pooled: KeyPool['keys'] }> => {
  if (entry.wire === 'builtin') return { place: undefined, problem: null, pooled: [] };
  const secret: SecretRef = secretOf(entry);
  try {
    const places = await Promise.all((entry.pool?.keys ?? []).map(async (key) => ({ key, place: await secrets.where(key.ref) })));
    return { place: await secrets.where(secret), problem: null, pooled: places.filter(({ place }) => place !== undefined).map(({ key }) => key) };
  } catch (error) {
    return { place: undefined, pooled: [], problem: isSvcError(error) ? error.message : 'The secret store failed; see the log.' };
  }
};

const ABLE: ReadonlySet<ProviderRecord['auth_status']> = new Set(['configured', 'validated_key', 'no_key_needed', 'auto_detected']);

const canBeAsked = (record: ProviderRecord): boolean => record.wire !== 'unsupported' && ABLE.has(record.auth_status);

export const shown = ({ local }: Pick<ProvidersDeps, 'local'>, state: State, snapshot: Snapshot): NonNullable<State['shown']> => {
  const beside = local.known();
  if (state.shown?.of === snapshot && state.shown.beside === beside) return state.shown;
  const list = Object.freeze([...snapshot.records.values()].map((record) => withLocal(record, local)));
  state.shown = { of: snapshot, beside, list, usable: Object.freeze(list.filter(canBeAsked).map(({ name }) => name)) };
  return state.shown;
};

/** For a server on this machine the list says whether it answers, where somebody has looked. */
const withLocal = (record: ProviderRecord, local: LocalServers): ProviderRecord => {
  const known = local.known();
  if (!known || record.auth_status !== 'no_key_needed' || !isProbed(record) || !isLoopbackUrl(record.base_url)) return record;
  const isIt = (one: { name: string; baseUrl: string }): boolean => one.name === record.name && one.baseUrl === record.base_url;
  if (known.servers.some(isIt)) return { ...record, auth_status: 'auto_detected' };
  return known.missed.some(isIt) ? { ...record, auth_status: 'local_offline' } : record;
};

/** The servers that are looked for, the most common first; after them those that people named on this machine. */
const COMMON = ['ollama', 'lmstudio', 'vllm', 'lemonade'];
const MAX_PROBED = 20;

const isProbed = ({ name, wire, key_required, base_url }: ProviderRecord): boolean => wire === 'openai' && !key_required && (COMMON.includes(name) || isLoopbackUrl(base_url));

export const localAddresses = (records: readonly ProviderRecord[]): Array<{ name: string; baseUrl: string }> => {
  const rank = ({ name }: ProviderRecord): number => (COMMON.includes(name) ? COMMON.indexOf(name) : COMMON.length);
  return records
    .filter(isProbed)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MAX_PROBED)
    .map(({ name, base_url }) => ({ name, baseUrl: base_url }));
};
