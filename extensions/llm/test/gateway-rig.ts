/** The gateway on real parts: the egress adapter, SQLite, the shipped catalog. Only providers and time are played. */
import { createWindows } from '../src/call/windows.js';
import { createAreaActors } from '@svc/core';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, type CallOptions, type Clock, type ConfigHandle, type Db, type Events, cacheRows, type SecretRef, type Service, actorFrom } from '@svc/api';
import { loadCatalog } from '../../models/src/catalog.js';
import { createModelsService } from '../../models/src/service.js';
import type { Agent, AgentLimits, AgentsService } from '@svc/ext-agents/contract';
import type { DefaultModel, ProviderRecord, ProvidersService } from '@svc/ext-providers/contract';
import { seededIds } from '@svc/platform/clock/ids';
import { systemClock } from '@svc/platform/clock/clock';
import { createFetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import { createLog } from '@svc/platform/log/log';
import { openStorage } from '@svc/platform/storage/storage';
import { migrations } from '../src/migrations.js';
import { type Budget, BudgetSection, type LlmConfig } from '../src/config.js';
import type { CallContext, LlmService, ModelAnswer, ModelDriver, ModelRequest, RetryWait } from '../src/contract.js';
import { createAnthropicDriver } from '../src/drivers/anthropic.js';
import { createBuiltinDriver } from '../src/drivers/builtin.js';
import { createDrivers } from '../src/drivers/driver.js';
import { createGeminiDriver } from '../src/drivers/gemini/gemini.js';
import { createOpenAiDriver } from '../src/drivers/openai.js';
import { createHealth, type Health } from '../src/health/health.js';
import { createKeyOrder } from '../src/health/keys.js';
import { createResolutionCache } from '../src/resolution-cache.js';
import { allOf } from '../src/money/guards.js';
import { createIdleGuard } from '../src/money/idle.js';
import { createRootGuard } from '../src/money/roots.js';
import { createUnitMoney } from '../src/money/units.js';
import { createQuota } from '../src/money/quota.js';
import { createLedgers } from '../src/money/quota-ledger.js';
import { reportOf } from '../src/money/report.js';
import { createReservations, type Reservations } from '../src/money/reservations.js';
import { type CallCounters, createLlmService } from '../src/service.js';
import { createUsageStore } from '../src/store.js';

export const CANARY = 'sk-canary-0f9e8d7c6b5a4f3e2d1c';
export const owner: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });

export const request = (fields: Partial<ModelRequest> = {}): ModelRequest => ({
  provider: 'openai',
  model: 'gpt-5-mini',
  fallbacks: [],
  system: 'You help.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  maxTokens: 100,
  ...fields,
});

export interface Rig {
  readonly llm: LlmService;
  readonly db: Db;
  readonly reservations: Reservations;
  /** Text that came by `listen`. */
  readonly received: string[];
  /** Why it waits, as whoever listens is told. */
  readonly reportedWaits: RetryWait[];
  /** As `llm.stream` says it, down to the answer. */
  listen(request: ModelRequest, context: CallContext, options?: CallOptions): Promise<ModelAnswer>;
  /** Waits that the gateway asked of its clock; they pass at once. */
  readonly waits: number[];
  readonly invalid: string[];
  readonly logged: () => string;
  context(fields?: Partial<CallContext>): CallContext;
  readonly home: string;
  readonly counters: CallCounters;
  readonly health: Health;
  /** Lets the monotonic clock go on by so much. */
  passes(ms: number): void;
  /** `true` keeps the folder for the next life. */
  close(keep?: boolean): Promise<void>;
}

export interface RigOptions {
  /** Base URL by provider name; others are reachable nowhere. */
  readonly urls: Readonly<Record<string, string>>;
  readonly keys?: Readonly<Record<string, string>>;
  readonly config?: Partial<LlmConfig>;
  readonly defaultModel?: DefaultModel;
  readonly fallbacks?: ReadonlyArray<{ provider: string; model: string }>;
  /** Of every agent. */
  readonly limits?: AgentRights;
  /** An earlier life's folder, kept by `close(true)`. */
  readonly home?: string;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Drivers that other extensions provide, by wire or provider. */
  readonly foreign?: Readonly<Record<string, Service<ReturnType<typeof ModelDriver>>>>;
  /** Names of the keys of a provider that has several: `provider.openai.<name>` each. */
  readonly pools?: Readonly<Record<string, readonly string[]>>;
  /** Instead of taking note of a key that was taken. */
  readonly keyTaken?: ProvidersService['markKeyValid'];
  /** [budget] */
  readonly budget?: Partial<Budget>;
  /** Names the process. */
  readonly self?: string;
  /** Instead of waits that pass at once. */
  readonly sleep?: Clock['sleep'];
}

export type AgentRights = Partial<AgentLimits> & { readonly max_llm_tokens_per_hour?: number };

/** The egress adapter as the daemon has it, with these secrets. */
export const realFetch = (keys: Readonly<Record<string, string>>, log = createLog({ dir: null, level: 'debug', clock: systemClock(), terminal: false })) => {
  const resolve = async (ref: SecretRef) => keys[ref.secret];
  return createFetchAdapter({ config: { get: () => undefined }, secrets: { resolve }, clock: systemClock(), log: log.logger('fetch'), isModelUrl: () => true });
};

export const startRig = async (options: RigOptions): Promise<Rig> => {
  const home = options.home ?? mkdtempSync(join(tmpdir(), 'svc-llm-'));
  const log = createLog({ dir: null, level: 'debug', clock: systemClock(), terminal: false });
  const waits: number[] = [];
  const now = options.now ?? Date.now;
  let passedMs = 0;
  const clock: Clock = {
    ...systemClock(),
    mono: () => performance.now() + passedMs,
    now,
    iso: () => new Date(now()).toISOString(),
    sleep:
      options.sleep ??
      (async (ms) => {
        waits.push(ms);
        passedMs += ms;
      }),
  };
  const adapter = realFetch(options.keys ?? { 'provider.openai': CANARY, 'provider.anthropic': CANARY, 'provider.gemini': CANARY, 'provider.groq': CANARY }, log);
  const storage = await openStorage({ file: join(home, 'svc.db'), clock: systemClock(), log: log.logger('storage'), onEvents: () => undefined });
  const owned = { id: 'llm', tables: ['usage', 'reservations'] };
  await storage.migrate(owned, migrations);
  const db = storage.dbFor(owned);
  const received: string[] = [];
  const reportedWaits: RetryWait[] = [];
  const invalid: string[] = [];
  const exchange = { fetch: adapter.fetch, now: () => clock.now() };
  const counters = { calls: 0, failures: 0, retries: 0, answers: 0, answersMs: 0, slowestMs: 0 };
  const providers = playedProviders(options, invalid);
  const self = options.self ?? 'this-process';
  const store = createUsageStore(db, self);
  const ids = seededIds(`${options.home ?? 'llm'}${self}`);
  const config = { get: configOf(options), onChange: () => ({ dispose: () => undefined }) } as ConfigHandle;
  const events: Pick<Events, 'event'> = { event: ({ name }, data) => storage.event('llm', name, data) };
  const reservations = createReservations({ db, clock, self });
  const services = { optional: ({ name }: { readonly name: string }) => ({ value: options.foreign?.[name.replace('model-driver:', '')] as never, onChange: () => ({ dispose: () => undefined }) }) }; // only drivers are asked for
  const drivers = createDrivers({ openai: createOpenAiDriver(exchange), anthropic: createAnthropicDriver(exchange), gemini: createGeminiDriver(exchange), builtin: createBuiltinDriver() }, services);
  const health = createHealth({ clock, ids });
  const quota = createQuota({
    actors: createAreaActors('llm'),
    agents: playedAgents(options.limits ?? {}),
    config,
    ledgers: createLedgers({ store, clock }),
    reservations,
    guard: allOf([createIdleGuard({ clock, db, config }), createRootGuard({ db })]),
    db,
    events,
    self,
    clock,
    ids,
  });
  const spent = cacheRows<number>(clock);
  const windows = createWindows();
  const llm = createLlmService({
    quota,
    units: createUnitMoney({ quota, reservations, events, store, clock, ids, willSpend: (agentId) => spent.willChange(agentId) }),
    windows,
    resolution: createResolutionCache({ drivers, models: createModelsService({ load: loadCatalog }), providers, windows, clock }),
    providers,
    drivers,
    report: reportOf(db),
    store,
    spent,
    config,
    clock,
    ids,
    log: log.logger('llm'),
    counters,
    health,
    keys: createKeyOrder(ids),
  });
  const listen: Rig['listen'] = async (asked, context, callOptions) => {
    for await (const piece of llm.stream(asked, context, callOptions)) {
      if ('answer' in piece) return piece.answer;
      if ('waits' in piece) reportedWaits.push(piece.waits);
      else if ('text' in piece) received.push(piece.text);
    }
    throw new Error('the stream ended without an answer');
  };
  return {
    llm,
    listen,
    db,
    reservations,
    received,
    reportedWaits,
    waits,
    invalid,
    logged: () => JSON.stringify(log.recent(2_000)),
    context: (fields = {}) => ({ actor: owner, agentId: 'agent-1', runId: 'run-1', purpose: 'run', ...fields }),
    home,
    counters,
    health,
    passes: (ms) => {
      passedMs += ms;
    },
    close: async (keep = false) => {
      await adapter.close();
      await storage.close();
      if (!keep) rmSync(home, { recursive: true, force: true });
    },
  };
};

const LLM: LlmConfig = { request_timeout_secs: 5, turn_timeout_secs: 600, idle_timeout_secs: 5, max_retries: 3, retry_base_ms: 2_000, max_wait_ms: 60_000, prompt_caching: true };
export const BUDGET: Budget = { hourly_limit: 0, daily_limit: 0, monthly_limit: 0, idle_limit: 0, alert_threshold: 0.8, default_max_llm_tokens_per_hour: 0, default_burst_ratio: 0 };

const configOf =
  ({ config, budget }: RigOptions) =>
  (section: { readonly section: string }): unknown =>
    section.section === BudgetSection.section ? { ...BUDGET, ...budget } : { ...LLM, ...config };

const playedAgents = ({ max_llm_tokens_per_hour = 0, ...resources }: AgentRights): Pick<AgentsService, 'get'> => ({
  // The quota reads nothing else of an agent.
  get: async () => ({ manifest: { capabilities: { max_llm_tokens_per_hour }, resources: { ...NO_LIMITS, ...resources } } }) as unknown as Agent,
});

const NO_LIMITS: AgentLimits = { burst_ratio: 0, max_cost_per_hour_usd: 0, max_cost_per_day_usd: 0, max_cost_per_month_usd: 0, max_concurrent_tools: 0 };

const playedProviders = ({ urls, keys, pools = {}, defaultModel, fallbacks = [], keyTaken }: RigOptions, invalid: string[]): ProvidersService => {
  const record = (name: string): ProviderRecord | undefined => {
    const wire = name === 'anthropic' || name === 'gemini' ? name : name === 'builtin' ? 'builtin' : name === 'bedrock' ? 'unsupported' : 'openai';
    const isKnown = name in urls || ['openai', 'anthropic', 'gemini', 'groq', 'builtin', 'bedrock'].includes(name);
    if (!isKnown) return undefined;
    const hasKey = keys === undefined || pools[name] !== undefined || `provider.${name}` in keys;
    return {
      name,
      display_name: name,
      wire,
      base_url: urls[name] ?? 'http://127.0.0.1:1',
      env_var: wire === 'builtin' ? null : `${name.toUpperCase()}_API_KEY`,
      key_required: wire !== 'builtin',
      auth_status: wire === 'builtin' ? 'no_key_needed' : hasKey ? 'configured' : 'missing',
      secret: wire === 'builtin' ? null : { secret: `provider.${name}`, env: `${name.toUpperCase()}_API_KEY` },
      default_model: null,
      problem: null,
      ...(pools[name] ? { keys: pools[name].map((key) => ({ name: key, secret: `provider.${name}.${key}` })) } : {}),
    };
  };
  const chosen = defaultModel ?? ({ provider: 'builtin', model: 'rehearsal', why: 'nothing else', isMock: true, chosen_by: 'start', chosen_at: null, trouble: null } as const);
  return {
    list: async () => [],
    get: async (name) => record(name),
    usable: async () => [],
    defaultModel: async () => chosen,
    shownDefault: async () => ({ ...chosen, problem: null }),
    fallbacks: async () => fallbacks,
    storeKey: async () => ({}),
    markKeyInvalid: async (name) => void invalid.push(name),
    markKeyValid: keyTaken ?? (async (name) => void invalid.splice(0, invalid.length, ...invalid.filter((one) => one !== name))),
  };
};
