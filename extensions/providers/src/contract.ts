/** What providers offers: how each provider is reached, and which one answers for `default`. */
import type { SecretRef } from '@svc/api';

export interface ProviderRecord {
  readonly name: string;
  readonly display_name: string;
  readonly wire: 'openai' | 'anthropic' | 'builtin' | 'unsupported';
  readonly base_url: string;
  readonly env_var: string | null;
  readonly key_required: boolean;
  readonly auth_status: 'configured' | 'no_key_needed' | 'missing' | 'invalid_key' | 'auto_detected' | 'local_offline';
  readonly secret: SecretRef | null;
  /** The model that stands in for `default` at this provider, when one is known. */
  readonly default_model: string | null;
  /** Why nobody can tell whether there is a key: the store of secrets does not open. `auth_status` is then `missing`. */
  readonly problem: string | null;
}

export interface DefaultModel {
  readonly provider: string;
  readonly model: string;
  /** One sentence for a person: why this one. */
  readonly why: string;
  /** True while the built-in stand-in answers. */
  readonly isStandIn: boolean;
  /** `config`: config.toml names it. `person`: by command. `key`: with a key that was set or removed. `start`: found when nothing was chosen yet. */
  readonly chosen_by: 'config' | 'person' | 'key' | 'start';
  /** When it was chosen and kept (ISO); null for what config.toml names and for the stand-in that waits for a choice. */
  readonly chosen_at: string | null;
  /** Why it cannot answer at the moment: its key is missing, was refused or cannot be read. */
  readonly trouble: string | null;
}

/** With a `problem`, provider and model are the word `default`. */
export interface ShownDefault extends DefaultModel {
  readonly problem: string | null;
}

export interface ProvidersService {
  list(): Promise<ProviderRecord[]>;
  get(name: string): Promise<ProviderRecord | undefined>;
  /** Names of those that can be asked now: they have their key, or need none and are not known to be off. */
  usable(): Promise<ReadonlySet<string>>;
  /** config's [default_model], else what was chosen before, else a choice now, which is kept unless it is the stand-in. */
  defaultModel(): Promise<DefaultModel>;
  /** The same for whoever only shows it: where nobody can tell, that is said in `problem` and `why` instead of thrown. */
  shownDefault(): Promise<ShownDefault>;
  /** Models tried after an agent's own, in order: config's [[fallback_providers]]. */
  fallbacks(): Promise<ReadonlyArray<{ readonly provider: string; readonly model: string }>>;
  /** Told by the gateway: a provider refused the key. Only shown; it moves nobody to another provider. */
  markKeyInvalid(name: string): Promise<void>;
  /** Told by the gateway: a provider answered, so whatever it refused before, it takes the key now. */
  markKeyValid(name: string): void;
}

declare module '@svc/api' {
  interface ServiceMap {
    providers: ProvidersService;
  }
  interface EventMap {
    'provider.changed': { readonly name: string };
  }
}
