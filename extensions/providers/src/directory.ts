/** Every provider there is: the shipped ones, and those a person named in config.toml. Where each is reached, and by which key. */
import type { SecretRef } from '@svc/api';
import { isLoopbackUrl, normalizeBaseUrl } from './addresses/base-url.js';
import type { CredentialPools, DefaultModelConfig, FallbackProviders, ProviderProxyUrls, ProviderUrls } from './config.js';
import type { ProviderRecord } from './contract.js';
import type { SavedAddress } from './store.js';

/** A provider before anybody looked for its key. */
export interface ProviderEntry {
  readonly name: string;
  readonly display_name: string;
  readonly wire: ProviderRecord['wire'];
  readonly base_url: string;
  /** The proxy that leads there, of its own. */
  readonly proxy_url?: string;
  readonly env_var: string | null;
  readonly key_required: boolean;
  /** A model server that runs on this machine. */
  readonly local?: boolean;
  readonly default_model?: string;
  readonly pool?: KeyPool;
}

/** Keys beside a provider's own, in the order in which they are used. */
export interface KeyPool {
  readonly strategy: CredentialPools[number]['strategy'];
  readonly keys: ReadonlyArray<{ readonly name: string; readonly ref: SecretRef }>;
}

export interface DirectoryConfig {
  readonly defaultModel: DefaultModelConfig;
  readonly urls: ProviderUrls;
  readonly proxies: ProviderProxyUrls;
  readonly fallbacks: FallbackProviders;
  readonly pools: CredentialPools;
  /** Addresses saved at run time; they stand above the file's. */
  readonly saved: ReadonlyMap<string, SavedAddress>;
}

/** The shipped providers in order of preference, read on first use. */
export const loadKnownProviders = async (): Promise<readonly ProviderEntry[]> => {
  const file = await import('./known-providers.json', { with: { type: 'json' } });
  // JSON has no types: extensions/providers/test proves every row.
  return file.default.providers as unknown as ProviderEntry[];
};

/** By name, in order of preference. A base URL that cannot be used throws and names its place in the config. */
export const directory = (known: readonly ProviderEntry[], config: DirectoryConfig): Map<string, ProviderEntry> => {
  const entries = new Map(known.map((entry) => [entry.name, entry]));
  for (const [name, url] of Object.entries(config.urls)) place(entries, name, url, '');
  for (const { provider, base_url, api_key_env } of config.fallbacks) place(entries, provider, base_url, api_key_env);
  const chosen = config.defaultModel;
  if (chosen.provider !== '' && chosen.provider !== 'auto') place(entries, chosen.provider, chosen.base_url, chosen.api_key_env);
  for (const [name, { baseUrl }] of config.saved) place(entries, name, baseUrl, '');
  for (const [name, proxy_url] of Object.entries(config.proxies)) lead(entries, name, proxy_url);
  for (const [name, { proxyUrl }] of config.saved) if (proxyUrl !== null) lead(entries, name, proxyUrl);
  for (const pool of config.pools) {
    const entry = entries.get(pool.provider);
    if (entry && entry.env_var !== null) entries.set(entry.name, { ...entry, pool: poolOf(entry, pool) });
  }
  return entries;
};

export const secretOf = (entry: ProviderEntry): SecretRef => ({ secret: `provider.${entry.name}`, ...(entry.env_var === null ? {} : { env: entry.env_var }) });

/** The name of the key that a provider has without a pool. */
export const OWN_KEY = 'default';

/** A provider's own key takes part: under the label that names its variable, else first, by a name of its own. */
const poolOf = (entry: ProviderEntry, { strategy, keys }: CredentialPools[number]): KeyPool => {
  const listed = keys
    .toSorted((a, b) => a.priority - b.priority)
    .map(({ label, api_key_env: env }) => ({
      name: label,
      ref: env !== '' && env === entry.env_var ? secretOf(entry) : { secret: `${secretOf(entry).secret}.${label}`, ...(env === '' ? {} : { env }) },
    }));
  const hasOwn = listed.some(({ ref }) => ref.secret === secretOf(entry).secret);
  return { strategy, keys: hasOwn ? listed : [{ name: OWN_KEY, ref: secretOf(entry) }, ...listed] };
};

/** An empty address: none of its own. */
const lead = (entries: Map<string, ProviderEntry>, name: string, proxyUrl: string): void => {
  const entry = entries.get(name);
  if (!entry) return;
  const { proxy_url: _, ...direct } = entry;
  entries.set(name, proxyUrl === '' ? direct : { ...direct, proxy_url: proxyUrl });
};

const place = (entries: Map<string, ProviderEntry>, name: string, url: string, keyEnv: string): void => {
  const entry = entries.get(name) ?? (url === '' ? undefined : ownServer(name, url));
  if (!entry) return;
  entries.set(name, {
    ...entry,
    ...(url === '' ? {} : { base_url: normalizeBaseUrl(url, entry.wire) }),
    ...(keyEnv === '' ? {} : { env_var: keyEnv, key_required: true }),
  });
};

/** A name the catalog does not know, with a URL, is an OpenAI-compatible server; one on this machine asks for no key. */
const ownServer = (name: string, url: string): ProviderEntry => ({
  name,
  display_name: name,
  wire: 'openai',
  base_url: url,
  env_var: `${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}_API_KEY`,
  key_required: !isLoopbackUrl(url),
});
