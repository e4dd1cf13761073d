/** What providers declares to other areas: how each provider is reached, and which one answers for `default`. */
import { Nullable, OneOf, type Plain, type Service, Type, defineEvent, defineService, method, named } from '@svc/api';

export { ProviderColumns } from './decorating.js';

const Secret = Type.Object({ secret: Type.String(), env: Type.Optional(Type.String()) });

export const KEY_STRATEGIES = ['fill_first', 'round_robin', 'random', 'least_used'] as const;

export const AUTH_STATUSES = ['configured', 'validated_key', 'no_key_needed', 'missing', 'invalid_key', 'auto_detected', 'local_offline'] as const;

/** `validated_key`: the provider took the key when it was last tested. `invalid_key`: it refused it the last time it was asked. */
export const AuthStatus = OneOf(AUTH_STATUSES);

export const ProviderRecord = Type.Object({
  name: Type.String(),
  display_name: Type.String(),
  wire: Type.String({ description: 'The protocol: `openai`, `anthropic`, `gemini`, `builtin`, the name of a driver that an extension provides, or `unsupported`' }),
  base_url: Type.String(),
  proxy_url: Type.Optional(Type.String({ description: 'The proxy that leads there, of its own. Missing where there is none' })),
  env_var: Nullable(Type.String()),
  key_required: Type.Boolean(),
  auth_status: AuthStatus,
  secret: Nullable(Secret),
  keys: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), ...Secret.properties }), { description: 'All its keys, in order, by the names of [[credential_pools]]. Missing where there is one at most' }),
  ),
  key_strategy: Type.Optional(OneOf(KEY_STRATEGIES, { description: 'Which of them is used next, of those that can be' })),
  default_model: Nullable(Type.String(), { description: "This provider's default model, if known" }),
  suppressed: Type.Optional(Type.Boolean({ description: 'The key was removed: a key in the environment is not used until it is enabled again' })),
  problem: Nullable(Type.String(), { description: 'Why it is unknown whether there is a key: the vault cannot be opened. `auth_status` is then `missing`' }),
});
export type ProviderRecord = Plain<typeof ProviderRecord>;

export const DefaultModel = Type.Object({
  provider: Type.String(),
  model: Type.String(),
  why: Type.String({ description: 'One sentence on why this one was chosen' }),
  isMock: Type.Boolean({ description: 'True while the built-in mock provider answers' }),
  chosen_by: OneOf(['config', 'person', 'key', 'start'], {
    description: '`config`: set in config.toml. `person`: set by a person. `key`: changed with a key that was set or removed. `start`: detected at start',
  }),
  chosen_at: Nullable(Type.String(), { description: 'When it was chosen (ISO); null if it is set in config.toml or is the mock provider' }),
  trouble: Nullable(Type.String(), { description: 'Why it cannot answer at the moment: its key is missing, was refused or cannot be read' }),
});
export type DefaultModel = Plain<typeof DefaultModel>;

/** With a `problem`, provider and model are the word `default`. */
export const ShownDefault = Type.Object({ ...DefaultModel.properties, problem: Nullable(Type.String()) });
export type ShownDefault = Plain<typeof ShownDefault>;

export const Providers = defineService('providers', '1.4.0', {
  list: method([], Type.Array(ProviderRecord), { what: 'sees which providers are set up and the names of their keys, never a key' }),
  get: method([Type.String()], Type.Union([ProviderRecord, Type.Undefined()]), { what: 'sees which providers are set up and the names of their keys, never a key' }),
  /** Names of those that can be asked now: they have their key, or need none and are not known to be off. */
  usable: method([], Type.Array(Type.String()), { what: 'sees which providers are set up and the names of their keys, never a key' }),
  /** config's [default_model], else what was chosen before, else a choice now, which is kept unless it is the mock provider. */
  defaultModel: method([], DefaultModel),
  /** The same for whoever only shows it: where nobody can tell, that is said in `problem` and `why` instead of thrown. */
  shownDefault: method([], ShownDefault, { what: 'sees which providers are set up and the names of their keys, never a key' }),
  /** Models tried after an agent's own, in order: config's [[fallback_providers]]. */
  fallbacks: method([], Type.Array(Type.Object({ provider: Type.String(), model: Type.String() })), { what: 'sees which providers are set up and the names of their keys, never a key' }),
  /** Told by the gateway: a provider refused the key. Only shown; it moves nobody to another provider. */
  markKeyInvalid: method([Type.String()], Type.Void()),
  /** Told by the gateway: a provider answered, so whatever it refused before, it takes the key now. */
  markKeyValid: method([Type.String()], Type.Void()),
  /** Stores a provider's own key in the vault, as POST /api/providers/{name}/key does. Throws `providers_not_found`, `providers_bad_key`. */
  storeKey: method([Type.String(), Type.String({ description: 'The key' })], Type.Object({ switchedDefault: Type.Optional(DefaultModel) }), {
    what: 'changes the keys of providers, and with them who answers',
    changes: true,
  }),
});
export type ProvidersService = Service<typeof Providers>;

const Session = defineService('model-session', '1.0.0', {
  /** Headers that calls of models carry in place of the key. A failure has `errorClass` in its details, as one of a driver. */
  open: method([Secret], Type.Record(Type.String(), Type.String()), { what: 'opens sessions of a provider with its key' }),
});

/** For a wire that is the chat-completions protocol, and takes a session that is opened with the key in place of the key. */
export const ModelSession = (wire: string): typeof Session => named(Session, wire);

export const ProviderChanged = defineEvent('provider.changed', '1.0.0', Type.Object({ name: Type.String() }), { what: 'provider', permission: 'providers.read', id: 'name' });
