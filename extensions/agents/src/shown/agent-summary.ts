/** What a list says of each agent: its own row, and what providers, llm and sessions know of it. What nobody knows is null. */
import { type Actor, allKnown, type AtOnce, atOnce, type Clock, type RowCache, Nullable, OneOf, type OptionalHandle, readOneCached, Type, Uuid, whenKnown } from '@svc/api';
import type { LlmService } from '@svc/ext-llm/contract';
import type { CatalogModel } from '@svc/ext-models/contract';
import { AuthStatus, type ProviderRecord } from '@svc/ext-providers/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { Agent, ModelChoice } from '../contract.js';
import { Identity, identityOf } from '../identity.js';
import type { LastActive } from './last-active.js';
import { type ModelShownDeps, shownModels } from './model-shown.js';
import type { AgentStore } from '../store.js';

const DAY_MS = 24 * 60 * 60 * 1000;
const MICROS_PER_USD = 1_000_000;
const TIERS = ['frontier', 'smart', 'balanced', 'fast', 'local', 'custom', 'unknown'] as const;
const NO_SESSIONS = { all: 0, recent: 0 };

export const summaryFields = {
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  is_hand: Type.Boolean({ description: 'Always false: there are no hands in this version' }),
  state: OneOf(['Created', 'Running', 'Suspended', 'Crashed', 'Terminated']),
  mode: Type.String(),
  ready: Type.Boolean({ description: 'Whether the agent can answer now: it is Running and its provider is available' }),
  created_at: Type.String(),
  last_active: Nullable(Type.String(), { description: 'When its last run began' }),
  model_provider: Type.String({ description: 'The current default provider, if the manifest says `default`' }),
  model_name: Type.String({ description: 'The current default model, if the manifest says `default`' }),
  model_tier: OneOf(TIERS, { description: '`unknown` where the catalog does not have the model' }),
  auth_status: Nullable(AuthStatus, { description: "The provider's; null if the provider does not exist" }),
  supports_thinking: Nullable(Type.Boolean(), { description: 'Whether it supports thinking; null if its provider is unknown' }),
  profile: Nullable(Type.String(), { description: 'The set of tools that its manifest names' }),
  schedule: OneOf(['manual'], { description: 'Not used in this version' }),
  session_count: Nullable(Type.Integer(), { description: 'Sessions with at least one message; null while sessions is off' }),
  sessions_24h: Nullable(Type.Integer(), { description: 'Of those, begun within 24 hours' }),
  cost_24h: Nullable(Type.Number(), { description: 'USD of its model calls within 24 hours; null while llm is off' }),
  has_processed_message: Type.Boolean(),
  identity: Identity,
  session_id: Uuid,
  parent_agent_id: Nullable(Uuid),
  children: Type.Array(Uuid),
  tags: Type.Array(Type.String()),
  revision: Type.Integer({ description: 'Increases with each change. A change that sends another revision is refused' }),
};

export const AgentSummary = Type.Object(summaryFields, { 'x-name': 'AgentSummary' });

export interface SummaryDeps extends ModelShownDeps {
  readonly store: Pick<AgentStore, 'children'>;
  /** Of one agent, as whoever sees all sees them. */
  readonly children: RowCache<readonly string[]>;
  readonly sessions: OptionalHandle<SessionsService>;
  readonly lastActive: Pick<LastActive, 'waiting'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** In the order of the agents; a handful of questions, however many there are. */
export const summariesOf = (deps: SummaryDeps, actor: Actor, agents: readonly Agent[]): AtOnce<AgentSummary[]> => {
  const ids = agents.map(({ id }) => id);
  const since = new Date(deps.clock.now() - DAY_MS).toISOString();
  const providers = deps.providers.value;
  const sessions = deps.sessions.value;
  const llm = deps.llm.value;
  return whenKnown(
    allKnown([
      shownModels(
        deps,
        agents.map(({ manifest }) => manifest.model),
      ),
      providers && atOnce(providers).list(),
      providers && atOnce(providers).usable(),
      sessions && atOnce(sessions).counts(actor, ids, since),
      llm && atOnce(llm).spending(actor, ids, since),
      // A page that shows one agent asks again and again.
      readOneCached(deps.children, actor, ids, [], () => deps.store.children(actor, ids)),
    ]),
    ([models, records = [], usable = [], counts, spending, children]) =>
      // As many models as there are agents.
      allKnown(agents.map((agent, index) => summaryOf(deps, agent, models[index] ?? agent.manifest.model, { records, usable, counts, spending, children }))),
  );
};

/** What others know, of all agents that are shown. */
interface Facts {
  readonly records: readonly ProviderRecord[];
  /** Providers that can be asked. */
  readonly usable: readonly string[];
  readonly counts: Awaited<ReturnType<SessionsService['counts']>> | undefined;
  readonly spending: Awaited<ReturnType<LlmService['spending']>> | undefined;
  readonly children: Readonly<Record<string, readonly string[]>>;
}

/** What is known of the model that answers. */
interface Known extends ModelChoice {
  readonly tier: (typeof TIERS)[number];
  readonly canThink: boolean | null;
}

export type AgentSummary = ReturnType<typeof summaryFrom>;

const summaryOf = (deps: SummaryDeps, agent: Agent, { provider, model }: ModelChoice, facts: Facts): AtOnce<AgentSummary> => {
  const models = deps.models.value;
  const llm = deps.llm.value;
  return whenKnown(allKnown([models && atOnce(models).find(model, provider), llm && atOnce(llm).canThink({ provider, model })]), ([known, canThink]) =>
    summaryFrom(deps, agent, { provider, model, tier: tierOf(known), canThink: canThink ?? null }, facts),
  );
};

/** A word of the catalog that is none of these says as much as `custom`. */
const tierOf = (known: CatalogModel | undefined): Known['tier'] => (known ? (TIERS.find((one) => one === known.tier) ?? 'custom') : 'unknown');

/** One literal, field by field: an object that is put together of others costs a hundred times as much. */
const summaryFrom = (deps: SummaryDeps, agent: Agent, model: Known, { records, usable, counts, spending, children }: Facts) => {
  const lastActive = deps.lastActive.waiting(agent.id) ?? agent.lastActiveAt;
  const sessions = counts && (counts[agent.id] ?? NO_SESSIONS);
  return {
    id: agent.id,
    name: agent.name,
    description: agent.manifest.description,
    is_hand: false,
    state: agent.state,
    mode: agent.mode,
    created_at: agent.createdAt,
    last_active: lastActive,
    has_processed_message: lastActive !== null,
    profile: agent.manifest.profile ?? null,
    schedule: 'manual' as const,
    identity: identityOf(agent.manifest),
    session_id: agent.sessionId,
    parent_agent_id: agent.parentId,
    tags: [...agent.manifest.tags],
    revision: agent.revision,
    model_provider: model.provider,
    model_name: model.model,
    model_tier: model.tier,
    auth_status: records.find(({ name }) => name === model.provider)?.auth_status ?? null,
    supports_thinking: model.canThink,
    ready: agent.state === 'Running' && usable.includes(model.provider),
    session_count: sessions?.all ?? null,
    sessions_24h: sessions?.recent ?? null,
    cost_24h: spending ? (spending[agent.id] ?? 0) / MICROS_PER_USD : null,
    children: [...(children[agent.id] ?? [])],
  };
};
