/** What a list says of each agent: its own row, and what models, providers and the taps of `agent.columns` know of it. What nobody knows is null. */
import { type Actor, allKnown, type AtOnce, atOnce, type Clock, type RowCache, Nullable, OneOf, type OwnHook, readOneCached, Type, Uuid, whenKnown } from '@svc/api';
import type { CatalogModel } from '@svc/ext-models/contract';
import { AuthStatus, type ProviderRecord } from '@svc/ext-providers/contract';
import type { Agent, AgentColumns, ModelChoice } from '../contract.js';
import { Identity, identityOf } from '../identity.js';
import { scheduleWords } from '../manifest/autonomy-keys.js';
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
  is_hand: Type.Boolean({ description: 'Whether a hand works through it: one of its tags begins with `hand:`' }),
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
  schedule: Type.String({ description: 'When its manifest has it work without being asked: `manual`, cron fields or an interval, `continuous · 300s`, `proactive`' }),
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

const deletedFields = {
  deleted_at: Type.Optional(Type.String({ description: 'Set for deleted agents' })),
  restorable_until: Type.Optional(Type.String({ description: 'Set for deleted agents: when it is erased' })),
};

export const AgentSummary = Type.Object({ ...summaryFields, ...deletedFields }, { 'x-name': 'AgentSummary' });

export interface SummaryDeps extends ModelShownDeps {
  readonly store: Pick<AgentStore, 'children'>;
  /** Of one agent, as whoever sees all sees them. */
  readonly children: RowCache<readonly string[]>;
  readonly columns: OwnHook<typeof AgentColumns>;
  readonly lastActive: Pick<LastActive, 'waiting'>;
  readonly clock: Pick<Clock, 'now'>;
}

/** In the order of the agents; a handful of questions, however many there are. */
export const summariesOf = (deps: SummaryDeps, actor: Actor, agents: readonly Agent[]): AtOnce<AgentSummary[]> => {
  const ids = agents.map(({ id }) => id);
  const providers = deps.providers.value;
  const shown = shownModels(
    deps,
    agents.map(({ manifest }) => manifest.model),
  );
  return whenKnown(
    allKnown([
      whenKnown(shown, (models) => decorated(deps, actor, agents, models)),
      providers && atOnce(providers).list(),
      providers && atOnce(providers).usable(),
      // A page that shows one agent asks again and again.
      readOneCached(deps.children, actor, ids, [], () => deps.store.children(actor, ids)),
    ]),
    ([{ models, columns }, records = [], usable = [], children]) =>
      allKnown(agents.map((agent, index) => summaryOf(deps, agent, models[index] ?? agent.manifest.model, { records, usable, columns, children }))),
  );
};

interface Decorated {
  /** As many as there are agents. */
  readonly models: readonly ModelChoice[];
  readonly columns: AgentColumns;
}

/** What other areas know of these agents, and of the models that they answer with. */
const decorated = ({ columns, clock }: SummaryDeps, actor: Actor, agents: readonly Agent[], models: readonly ModelChoice[]): AtOnce<Decorated> => {
  if (columns.isEmpty()) return { models, columns: {} };
  const asked = agents.map(({ id, manifest }, index) => {
    const { provider, model } = models[index] ?? manifest.model;
    return { id, provider, model };
  });
  const since = new Date(clock.now() - DAY_MS).toISOString();
  return whenKnown(columns.atOnce({ actor, agents: asked, since }), (answers) => ({ models, columns: Object.assign({}, ...answers.map(({ value }) => value)) as AgentColumns })); // each tap answers other columns
};

/** What others know, of all agents that are shown. */
interface Facts {
  readonly records: readonly ProviderRecord[];
  /** Providers that can be asked. */
  readonly usable: readonly string[];
  readonly columns: AgentColumns;
  readonly children: Readonly<Record<string, readonly string[]>>;
}

/** What is known of the model that answers. */
interface Known extends ModelChoice {
  readonly tier: (typeof TIERS)[number];
}

export type AgentSummary = ReturnType<typeof summaryFrom>;

const summaryOf = (deps: SummaryDeps, agent: Agent, { provider, model }: ModelChoice, facts: Facts): AtOnce<AgentSummary> => {
  const models = deps.models.value;
  return whenKnown(models && atOnce(models).find(model, provider), (known) => summaryFrom(deps, agent, { provider, model, tier: tierOf(known) }, facts));
};

/** A word of the catalog that is none of these says as much as `custom`. */
const tierOf = (known: CatalogModel | undefined): Known['tier'] => (known ? (TIERS.find((one) => one === known.tier) ?? 'custom') : 'unknown');

/** One literal, field by field: an object that is put together of others costs a hundred times as much. */
const summaryFrom = (deps: SummaryDeps, agent: Agent, model: Known, { records, usable, columns, children }: Facts) => {
  const lastActive = deps.lastActive.waiting(agent.id) ?? agent.lastActiveAt;
  const { canThink, spentMicros, sessions: counts } = columns;
  const sessions = counts && (counts[agent.id] ?? NO_SESSIONS);
  return {
    id: agent.id,
    name: agent.name,
    description: agent.manifest.description,
    is_hand: agent.manifest.tags.some((tag) => tag.startsWith('hand:')),
    state: agent.state,
    mode: agent.mode,
    created_at: agent.createdAt,
    last_active: lastActive,
    has_processed_message: lastActive !== null,
    profile: agent.manifest.profile ?? null,
    schedule: scheduleWords(agent.manifest.schedule),
    identity: identityOf(agent.manifest),
    session_id: agent.sessionId,
    parent_agent_id: agent.parentId,
    tags: [...agent.manifest.tags],
    revision: agent.revision,
    model_provider: model.provider,
    model_name: model.model,
    model_tier: model.tier,
    auth_status: records.find(({ name }) => name === model.provider)?.auth_status ?? null,
    supports_thinking: canThink?.[agent.id] ?? null,
    ready: agent.state === 'Running' && usable.includes(model.provider),
    session_count: sessions?.all ?? null,
    sessions_24h: sessions?.recent ?? null,
    cost_24h: spentMicros ? (spentMicros[agent.id] ?? 0) / MICROS_PER_USD : null,
    children: [...(children[agent.id] ?? [])],
  };
};
