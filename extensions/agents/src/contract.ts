/** What agents declares to other areas: who the agents are. */
import { AgentSchedule, AgentTrigger, ORPHANS } from './manifest/autonomy-keys.js';
import { Actor, Capabilities, Nullable, OneOf, type Plain, SealedWrites, type Service, Type, Uuid, defineEvent, defineGather, defineService, defineVeto, method } from '@svc/api';

export { isBelow } from './below.js';
export { AgentColumns, AgentHalt, ResolveModel } from './decorating.js';
export { type Template, Templates, type TemplatesService } from './templates.js';
export { belongsToGit } from './git-folder.js';
export { IDENTITY_FILES, identityPaths, MAX_IDENTITY_BYTES, saysWhoTheAgentIs } from './identity-files.js';

export const AgentState = OneOf(['Created', 'Running', 'Suspended', 'Crashed', 'Terminated']);
export type AgentState = Plain<typeof AgentState>;

export const ModelChoice = Type.Object({ provider: Type.String({ description: "`default` takes the daemon's default provider" }), model: Type.String() });
export type ModelChoice = Plain<typeof ModelChoice>;

/** Beside the tokens per hour, which stand in the capabilities. 0 is no limit. */
export const AgentLimits = Type.Object({
  burst_ratio: Type.Number(),
  max_cost_per_hour_usd: Type.Number(),
  max_cost_per_day_usd: Type.Number(),
  max_cost_per_month_usd: Type.Number(),
  max_concurrent_tools: Type.Number(),
});
export type AgentLimits = Plain<typeof AgentLimits>;

const AgentModel = Type.Object({
  ...ModelChoice.properties,
  max_tokens: Type.Number(),
  temperature: Type.Number(),
  system_prompt: Type.String(),
  request_timeout_secs: Nullable(Type.Number()),
  context_window: Nullable(Type.Number(), { description: "Overrides the catalog's value, if it is lower" }),
  max_output_tokens: Nullable(Type.Number(), { description: "Overrides the catalog's value, if it is lower" }),
});

/** What the manifest adds to `[approval]` of config.toml: it only tightens. */
export const AgentApproval = Type.Object({
  require_approval: Type.Union([Type.Boolean(), Type.Array(Type.String())]),
  rules: Type.Array(
    Type.Object({
      action: OneOf(['ask', 'deny']),
      tool: Type.Optional(Type.String()),
      risk: Type.Optional(OneOf(['low', 'medium', 'high', 'critical'])),
      command: Type.Optional(Type.String()),
      argument: Type.Optional(Type.Record(Type.String(), Type.String())),
      reason: Type.Optional(Type.String()),
    }),
  ),
});
export type AgentApproval = Plain<typeof AgentApproval>;

/** The manifest as validated, every default filled in. What becomes of each key: manifest-keys.ts. */
export const AgentManifest = Type.Object({
  name: Type.String(),
  version: Type.String(),
  description: Type.String(),
  author: Type.String(),
  tags: Type.Array(Type.String()),
  enabled: Type.Boolean({ description: 'False: the agent starts suspended' }),
  model: AgentModel,
  thinking: Nullable(Type.Object({ budget_tokens: Type.Number(), stream_thinking: Type.Optional(Type.Boolean()) }), { description: 'Set if the model should think before it answers' }),
  fallback_models: Type.Array(ModelChoice),
  max_history_messages: Nullable(Type.Number()),
  capabilities: Capabilities,
  approval: Type.Optional(AgentApproval),
  resources: AgentLimits,
  tool_allowlist: Type.Array(Type.String()),
  tool_blocklist: Type.Array(Type.String()),
  tools_disabled: Type.Boolean(),
  skills: Type.Optional(Type.Array(Type.String(), { description: 'Names of its skills; empty or left out for all' })),
  skills_disabled: Type.Optional(Type.Boolean()),
  channels: Type.Optional(Type.Array(Type.String(), { description: 'Channels that it takes messages from; left out or empty, all' })),
  mcp_servers: Type.Optional(Type.Array(Type.String(), { description: 'Servers whose tools the agent has; `*` for all. Left out, the list of tools decides' })),
  mcp_disabled: Type.Optional(Type.Boolean()),
  lazy_tools: Type.Optional(Type.Boolean({ description: 'Whether the model is sent a few of the tools and loads the others. By default, the number of tools decides' })),
  profile: Type.Optional(Type.String({ description: 'The tool profile in the manifest, already included in the capabilities' })),
  autonomous: Type.Object({
    max_iterations: Type.Number(),
    unwatched: Type.Optional(OneOf(['finish', 'cancel'], { description: 'What happens to a run without watchers. The default depends on the channel and [runs] on_disconnect' })),
  }),
  pinned_model: Type.Optional(Type.String({ description: '`PROVIDER/MODEL` that the mode Stable pins, if the manifest sets it' })),
  asked_model: Type.Optional(Type.Object({ ...ModelChoice.properties }, { description: 'Set while the mode is Stable: the model in the manifest. `model` is then the pinned one' })),
  mode_tools: Type.Optional(OneOf(['none', 'reads'], { description: 'Set by the mode: observe leaves an agent no tools, assist those that only read' })),
  auto_dream_enabled: Type.Optional(Type.Boolean({ description: 'Set if the agent tidies its memory by itself' })),
  auto_dream_min_hours: Type.Optional(Type.Number()),
  auto_dream_min_sessions: Type.Optional(Type.Number()),
  session_mode: Type.Optional(OneOf(['persistent', 'new'], { description: 'Whether its triggers share one conversation, or each fire has its own' })),
  max_concurrent_invocations: Type.Optional(Type.Integer({ description: 'Fires of triggers that it works on at the same time; 1 by default' })),
  assignee_wake: Type.Optional(Type.Boolean({ description: 'False: tasks that are assigned to it on the task board do not wake it' })),
  inherit_parent_context: Type.Optional(Type.Boolean({ description: 'False: its steps in workflows are given nothing but their prompts' })),
  schedule: Type.Optional(AgentSchedule),
  triggers: Type.Optional(Type.Array(AgentTrigger)),
  reconcile_orphans: Type.Optional(OneOf(ORPHANS, { description: 'What happens to triggers that its manifest does not list; kept by default' })),
  proactive_memory: Type.Optional(
    Type.Object({
      enabled: Type.Optional(Type.Boolean()),
      auto_memorize: Type.Optional(Type.Boolean()),
      auto_retrieve: Type.Optional(Type.Boolean()),
      extraction_model: Type.Optional(Type.String()),
    }),
  ),
  kept: Type.Record(Type.String(), Type.Unknown(), { description: 'Keys without effect in this version, as they were written' }),
});
export type AgentManifest = Plain<typeof AgentManifest>;

export const Agent = Type.Object({
  id: Uuid,
  name: Type.String(),
  ownerId: Type.String(),
  state: AgentState,
  mode: Type.String(),
  parentId: Nullable(Type.String()),
  sessionId: Type.String({ description: 'The session for messages without a session id' }),
  manifest: AgentManifest,
  createdAt: Type.String(),
  lastActiveAt: Nullable(Type.String()),
  revision: Type.Integer({ description: 'Increases with each change of the agent' }),
});
export type Agent = Plain<typeof Agent>;

export const AgentBrief = Type.Object({ name: Type.String(), sessionId: Type.String() });
export type AgentBrief = Plain<typeof AgentBrief>;

export const SpawnRequest = Type.Object({
  manifestToml: Type.Optional(Type.String()),
  manifest: Type.Optional(Type.Unknown()),
  template: Type.Optional(Type.String({ description: 'The name of a template, used if there is neither `manifest_toml` nor `manifest`' })),
  name: Type.Optional(Type.String({ description: "Instead of the manifest's name" })),
  model: Type.Optional(ModelChoice),
  parentId: Type.Optional(Type.String()),
  key: Type.Optional(Type.String({ description: 'A repeated request with the same key returns the same agent' })),
  id: Type.Optional(Type.String({ format: 'uuid', description: 'Its id, for an area that gives the same agent the same id each time. Default: a random one' })),
  runId: Type.Optional(Type.String({ description: 'The run in which an agent asked for it' })),
});
export type SpawnRequest = Plain<typeof SpawnRequest>;

/** A change of a manifest, written with the keys of agent.toml: a table is merged key by key, a text or a list replaces, null resets a key to its default. */
export const ManifestPatch = Type.Record(Type.String(), Type.Unknown());
export type ManifestPatch = Plain<typeof ManifestPatch>;

export const AgentEdit = Type.Object({
  manifest: ManifestPatch,
  revision: Type.Optional(Type.Integer({ description: 'The revision the change is based on. Refused if the agent has changed since' })),
});
export type AgentEdit = Plain<typeof AgentEdit>;

export const AgentEdited = Type.Object({ agent: Agent, warnings: Type.Array(Type.String(), { description: 'New warnings caused by the change' }) });
export type AgentEdited = Plain<typeof AgentEdited>;

export const Agents = defineService('agents', '1.3.0', {
  /** Only agents the actor may see. Throws `agent_not_found`, `invalid_agent_id`. */
  get: method([Actor, Type.String()], Agent, { what: 'sees your agents, with their manifests and system prompts' }),
  /** By id, else by name. */
  find: method([Actor, Type.String()], Type.Union([Agent, Type.Undefined()]), { what: 'sees your agents, with their manifests and system prompts' }),
  list: method([Actor], Type.Array(Agent), { what: 'sees your agents, with their manifests and system prompts' }),
  /** Name and current session by id, of those among these that are there and that the actor may see. */
  briefs: method([Actor, Type.Array(Type.String())], Type.Record(Type.String(), AgentBrief), { what: 'sees your agents, with their manifests and system prompts' }),
  /** What each answers with now, in the same order: `default` as the gateway would resolve it. */
  modelsOf: method([Type.Array(Agent)], Type.Array(ModelChoice), { what: 'sees your agents, with their manifests and system prompts' }),
  spawn: method([Actor, SpawnRequest], Agent),
  kill: method([Actor, Type.String()], Type.Void()),
  /** Until when something that is deleted now can be brought back; null where it is erased at once (`[trash] days`). */
  keptUntil: method([], Nullable(Type.String({ description: 'ISO time' }))),
  /** What a manifest says, every default filled in, and what its writer should know; makes nothing. Throws `agents_invalid_manifest`, `manifest_too_large`. */
  read: method([Type.String({ description: 'The text of an agent.toml' })], Type.Object({ manifest: AgentManifest, warnings: Type.Array(Type.String()) }), { what: 'checks the text of a manifest' }),
  /**
   * The one way to change a manifest: validated as a spawn of it by this actor would be, for whatever it grants beyond what the agent has.
   * Example: `edit(actor, id, { manifest: { capabilities: { tools: ['file_read'] }, tool_blocklist: [] } })`.
   * Changes of other keys at the same time are kept; of the same key, the later one is refused with `agents_changed_meanwhile`.
   */
  edit: method([Actor, Type.String(), AgentEdit], AgentEdited),
  setModel: method([Actor, Type.String(), ModelChoice], Agent),
  /** A suspended agent takes no messages until it is resumed. */
  setSuspended: method([Actor, Type.String(), Type.Boolean()], Agent),
  /** Writes that make this session the agent's current one; join another's commit. */
  setSession: method([Actor, Type.String(), Type.String({ description: 'Session id' })], SealedWrites),
  /** A run of this agent began. It is written with others, some seconds later. */
  touch: method([Type.String()], Type.Void()),
});
export type AgentsService = Service<typeof Agents>;

export { type AgentSchedule, type AgentTrigger, MIN_CONTINUOUS_SECS } from './manifest/autonomy-keys.js';

/** The code of a verdict that says what is wrong with the manifest, whoever the actor is. */
export const WRONG_MANIFEST = 'agents_invalid_manifest';

/** Before an agent is created, or its manifest is changed: capabilities validates here. */
export const AgentSpawning = defineVeto('agent.spawning', '1.1.0', {
  policy: 'closed',
  budgetMs: 2_000,
  remote: true,
  subject: Type.Object({
    actor: Actor,
    manifest: AgentManifest,
    parent: Nullable(Agent),
    /** The agent as it stands, where `manifest` is what it would become. */
    changes: Type.Optional(Agent),
  }),
});

/** After nobody objected: what the person who spawns it should know. */
export const AgentReview = defineGather('agent.review', '1.0.0', {
  policy: 'observe',
  budgetMs: 500,
  remote: true,
  subject: Type.Object({ manifest: AgentManifest }),
  answer: Type.Array(Type.String()),
});

const AgentFact = Type.Object({ agentId: Type.String(), name: Type.String(), ownerId: Type.String() });
const SpawnFact = Type.Object({ ...AgentFact.properties, runId: Type.Optional(Type.String({ description: 'The run in which an agent asked for it' })) });
const LIVE = { what: 'agent', permission: 'agents.read', owner: 'ownerId', id: 'agentId', agent: 'agentId' } as const;
export const AgentSpawned = defineEvent('agent.spawned', '1.1.0', SpawnFact, { ...LIVE, is: 'spawned' });
export const AgentKilled = defineEvent('agent.killed', '1.0.0', AgentFact, { ...LIVE, is: 'killed' });
export const AgentChanged = defineEvent(
  'agent.changed',
  '1.2.0',
  Type.Object({
    agentId: Type.String(),
    ownerId: Type.String(),
    revision: Type.Optional(Type.Integer()),
    change: Type.Optional(OneOf(['suspended', 'resumed'], { description: 'Left out for any other change' })),
  }),
  { ...LIVE, is: 'changed' },
);
