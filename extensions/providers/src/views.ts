/** A provider as the interface shows it. Never a key: only whether there is one. */
import { Nullable, OneOf, Type } from '@svc/api';
import type { CatalogModel } from '@svc/ext-models/contract';
import { isLoopbackUrl } from './addresses/base-url.js';
import { AuthStatus, type ProviderColumns, type ProviderRecord } from './contract.js';
import { TROUBLES } from './decorating.js';
import type { Tested } from './addresses/reach.js';

const Health = OneOf(['ok', ...TROUBLES], {
  description:
    'What the daemon met when it called it, since its start. `limited`: a rate limit was reached. `overloaded`, `failing`, `unreachable`: it failed several times in a row. `refused`: it does not accept the key. `out_of_credit`: the account of the key has no credit',
});

const Trouble = Type.Object(
  {
    kind: OneOf(TROUBLES),
    model: Nullable(Type.String(), { description: 'Null if it concerns all models' }),
    key: Nullable(Type.String(), { description: 'The name of the key; null if it concerns all keys, or the only one' }),
    failures: Type.Integer({ description: 'Failures in a row' }),
    until: Type.String({ format: 'date-time', description: 'When it is tried again' }),
  },
  { 'x-name': 'ProviderTrouble' },
);

const fields = {
  name: Type.String(),
  id: Type.String({ description: 'The name by its other name' }),
  display_name: Type.String(),
  auth_status: AuthStatus,
  env_var: Type.Optional(Type.String({ description: 'Missing if no key is needed' })),
  api_key_env: Type.Optional(Type.String({ description: 'The same by its other name' })),
  base_url: Type.String(),
  proxy_url: Nullable(Type.String(), { description: 'The proxy that leads there, of its own; null if it has none, and [proxy] or the environment decide' }),
  model_count: Type.Integer(),
  key_required: Type.Boolean(),
  suppressed: Type.Boolean({ description: 'Whether a person removed its key, so that one in the environment is not used' }),
  key_present: Nullable(Type.Boolean(), { description: 'Null if unknown: the vault cannot be opened' }),
  is_local: Type.Boolean({ description: 'Whether it is on this machine' }),
  is_custom: Type.Boolean({ description: 'Whether a person or a setting made it: it is not in the shipped list' }),
  available: Type.Boolean({ description: 'Whether it can be asked now' }),
  reachable: Nullable(Type.Boolean(), { description: 'Whether its address responded when last checked; null if it was not checked since the start' }),
  latency_ms: Nullable(Type.Integer(), { description: 'Of that answer' }),
  last_tested: Nullable(Type.String({ format: 'date-time' }), { description: 'When that was' }),
  discovered_models: Nullable(Type.Array(Type.String()), { description: 'Models that a server on this machine lists, by its own names' }),
  health: Health,
  troubles: Type.Array(Trouble, { description: 'Details of `health`. They are known to this process only, and forgotten at a restart' }),
  keys: Type.Array(Type.Object({ name: Type.String(), health: Health }), { description: 'Its keys by their names in [[credential_pools]]; empty if it has one at most' }),
  wire: Type.String({ description: '`openai`, `anthropic`, `gemini`, `builtin`, the name of a driver, or `unsupported`' }),
  default_model: Type.Optional(Type.String()),
  is_default: Type.Boolean({ description: 'Whether it answers for `default`' }),
  error_message: Type.Optional(Type.String({ description: 'Why it is unknown whether there is a key, or the error of the last check' })),
};

export const Provider = Type.Object(fields, { 'x-name': 'Provider' });

const ProviderModel = Type.Object({
  id: Type.String(),
  provider: Type.String(),
  display_name: Type.String(),
  tier: Type.String(),
  context_window: Type.Integer(),
  max_output_tokens: Type.Integer(),
  input_cost_per_1m: Type.Number({ description: 'USD per million tokens' }),
  output_cost_per_1m: Type.Number(),
  supports_tools: Type.Boolean(),
  supports_vision: Type.Boolean(),
  supports_streaming: Type.Boolean(),
  wire_id: Type.Optional(Type.String()),
  pricing_known: Type.Boolean({ description: 'Whether the prices are known' }),
  source: Type.Optional(Type.String({ description: '`custom` or `local`; missing for models of the catalog' })),
});

export const ProviderDetail = Type.Object({
  ...fields,
  models: Type.Array(ProviderModel, { description: 'Its models, including custom and local ones; GET /api/models?provider= has their details' }),
});

export interface ProviderSurroundings {
  readonly models: readonly CatalogModel[];
  readonly isShipped: boolean;
  readonly isUsable: boolean;
  readonly isDefault: boolean;
  readonly tested: Tested | undefined;
  readonly troubles: Troubles;
}

type Troubles = NonNullable<ProviderColumns['troubles']>;

/** The worst of them; of a trouble with one key, where another key is free of it, nothing. */
const healthOf = (troubles: Troubles, keys: ReadonlyArray<{ readonly name: string }>) => {
  const concerns = (kind: (typeof TROUBLES)[number]): boolean => {
    const ofKind = troubles.filter((trouble) => trouble.kind === kind);
    return ofKind.some(({ key }) => key === undefined || key === '') || (keys.length > 0 && keys.every(({ name }) => ofKind.some(({ key }) => key === name)));
  };
  return TROUBLES.find(concerns) ?? ('ok' as const);
};

export const viewOf = (record: ProviderRecord, { models, isShipped, isUsable, isDefault, tested, troubles }: ProviderSurroundings) => ({
  name: record.name,
  id: record.name,
  display_name: record.display_name,
  auth_status: record.auth_status,
  ...(record.key_required && record.env_var !== null ? { env_var: record.env_var, api_key_env: record.env_var } : {}),
  base_url: record.base_url,
  proxy_url: record.proxy_url ?? null,
  model_count: models.length,
  key_required: record.key_required,
  suppressed: record.suppressed === true,
  // One that was refused is there all the same.
  key_present: record.problem === null ? WITH_KEY.has(record.auth_status) : null,
  is_local: record.wire === 'builtin' || isLoopbackUrl(record.base_url),
  is_custom: !isShipped,
  available: isUsable,
  reachable: tested?.reachable ?? null,
  latency_ms: tested?.latencyMs ?? null,
  last_tested: tested?.at ?? null,
  discovered_models: tested?.models ? [...tested.models] : null,
  health: healthOf(troubles, record.keys ?? []),
  troubles: troubles.map(({ kind, model = null, key, failures, until }) => ({ kind, model, key: key || null, failures, until })),
  keys: (record.keys ?? []).map(({ name }) => ({ name, health: troubles.find(({ key }) => key === name)?.kind ?? ('ok' as const) })),
  wire: record.wire,
  ...(record.default_model === null ? {} : { default_model: record.default_model }),
  is_default: isDefault,
  ...errorOf(record.problem ?? tested?.error ?? null),
});

const WITH_KEY: ReadonlySet<ProviderRecord['auth_status']> = new Set(['configured', 'validated_key', 'invalid_key']);

const errorOf = (message: string | null): { error_message?: string } => (message === null ? {} : { error_message: message });

export const modelOf = (model: CatalogModel) => ({ ...model, pricing_known: model.pricing_known ?? true });
