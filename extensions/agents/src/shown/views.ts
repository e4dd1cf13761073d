/** One agent with its manifest, as the interface shows it. */
import { type Capabilities, Nullable, OneOf, Type } from '@svc/api';
import { type AgentSummary, summaryFields } from './agent-summary.js';
import type { Agent, ModelChoice } from '../contract.js';

const Texts = Type.Array(Type.String());
const NullableInteger = Nullable(Type.Integer());
export const AgentDetail = Type.Object(
  {
    ...summaryFields,
    version: Type.String(),
    author: Type.String(),
    manifest_toml: Type.String({ description: 'The manifest as agent.toml, to create the same agent again or to edit and send back' }),
    pinned_model: Nullable(Type.String(), { description: '`PROVIDER/MODEL` that the mode Stable pins' }),
    model: Type.Object({
      provider: Type.String({ description: 'The provider that answers now' }),
      model: Type.String({ description: 'The model that answers now' }),
      asked: Type.Object({ provider: Type.String(), model: Type.String() }, { description: "As in the manifest; `default` means the daemon's default" }),
      max_tokens: Type.Integer(),
      temperature: Type.Number(),
      request_timeout_secs: NullableInteger,
      context_window: NullableInteger,
      max_output_tokens: NullableInteger,
    }),
    thinking: Nullable(Type.Object({ budget_tokens: Type.Integer(), stream_thinking: Type.Optional(Type.Boolean()) })),
    max_history_messages: NullableInteger,
    system_prompt: Type.String(),
    fallback_models: Type.Array(Type.Object({ provider: Type.String(), model: Type.String() })),
    capabilities: Type.Object(
      {
        tools: Texts,
        network: Texts,
        memory_read: Texts,
        memory_write: Texts,
        shell: Texts,
        agent_spawn: Type.Boolean(),
        agent_message: Texts,
        file_system: Type.Boolean(),
        mounts: Type.Optional(Texts),
        max_llm_tokens_per_hour: Nullable(Type.Integer()),
        max_tool_calls_per_minute: Type.Optional(Nullable(Type.Integer())),
        exec: Type.Optional(
          Type.Object({
            mode: OneOf(['deny', 'allowlist', 'full']),
            programs: Nullable(Texts),
            env: Nullable(Texts),
            timeout_secs: Nullable(Type.Integer()),
            no_output_timeout_secs: Nullable(Type.Integer()),
            max_output_bytes: Nullable(Type.Integer()),
          }),
        ),
      },
      { additionalProperties: Type.Union([Type.Boolean(), Texts], { description: 'Capabilities that areas declare' }) },
    ),
    resources: Type.Object(
      { burst_ratio: Type.Number(), max_cost_per_hour_usd: Type.Number(), max_cost_per_day_usd: Type.Number(), max_cost_per_month_usd: Type.Number(), max_concurrent_tools: Type.Integer() },
      { description: '0 is no limit' },
    ),
    tool_allowlist: Texts,
    tool_blocklist: Texts,
    tools_disabled: Type.Boolean(),
    skills: Type.Optional(Type.Array(Type.String(), { description: 'Names of its skills; empty for all' })),
    skills_disabled: Type.Optional(Type.Boolean()),
    mcp_servers: Type.Optional(Type.Array(Type.String(), { description: 'Servers whose tools it has; `*` for all. Left out, the list of tools decides' })),
    mcp_disabled: Type.Optional(Type.Boolean()),
    autonomous: Type.Object({ max_iterations: Type.Integer(), unwatched: Type.Optional(OneOf(['finish', 'cancel'])) }),
    kept: Type.Record(Type.String(), Type.Unknown(), { description: 'Keys of the manifest without effect in this version' }),
  },
  { 'x-name': 'AgentDetail' },
);

const written = new WeakMap<Capabilities, ReturnType<typeof asWritten>>();

/** As `[capabilities]` has them: those of areas beside the interface's own. */
const asWritten = ({ declared, sources: _ofItsServers, ...own }: Capabilities) => Object.freeze({ ...declared, ...own });

/** Put together once: capabilities that were changed are another object. */
const writtenOnce = (capabilities: Capabilities): ReturnType<typeof asWritten> => {
  const known = written.get(capabilities) ?? asWritten(capabilities);
  written.set(capabilities, known);
  return known;
};

export interface DetailSurroundings {
  readonly summary: AgentSummary;
  readonly manifestToml: string;
  /** Resolved, in the manifest's order. */
  readonly fallbacks: readonly ModelChoice[];
}

export const detailOf = ({ manifest }: Agent, { summary, manifestToml, fallbacks }: DetailSurroundings) => {
  const settings = manifest.model;
  // One literal, as the summary is.
  return {
    id: summary.id,
    name: summary.name,
    description: summary.description,
    is_hand: summary.is_hand,
    state: summary.state,
    mode: summary.mode,
    created_at: summary.created_at,
    last_active: summary.last_active,
    has_processed_message: summary.has_processed_message,
    profile: summary.profile,
    schedule: summary.schedule,
    identity: summary.identity,
    session_id: summary.session_id,
    parent_agent_id: summary.parent_agent_id,
    tags: summary.tags,
    revision: summary.revision,
    model_provider: summary.model_provider,
    model_name: summary.model_name,
    model_tier: summary.model_tier,
    auth_status: summary.auth_status,
    supports_thinking: summary.supports_thinking,
    ready: summary.ready,
    session_count: summary.session_count,
    sessions_24h: summary.sessions_24h,
    cost_24h: summary.cost_24h,
    children: summary.children,
    version: manifest.version,
    author: manifest.author,
    model: {
      provider: summary.model_provider,
      model: summary.model_name,
      asked: manifest.asked_model ?? { provider: settings.provider, model: settings.model },
      max_tokens: settings.max_tokens,
      temperature: settings.temperature,
      request_timeout_secs: settings.request_timeout_secs,
      context_window: settings.context_window,
      max_output_tokens: settings.max_output_tokens,
    },
    manifest_toml: manifestToml,
    pinned_model: manifest.pinned_model ?? null,
    system_prompt: settings.system_prompt,
    thinking: manifest.thinking,
    max_history_messages: manifest.max_history_messages,
    fallback_models: fallbacks.map((one) => ({ provider: one.provider, model: one.model })),
    capabilities: writtenOnce(manifest.capabilities),
    resources: manifest.resources,
    tool_allowlist: manifest.tool_allowlist,
    tool_blocklist: manifest.tool_blocklist,
    tools_disabled: manifest.tools_disabled,
    ...(manifest.skills === undefined ? {} : { skills: manifest.skills }),
    ...(manifest.skills_disabled ? { skills_disabled: true } : {}),
    ...(manifest.mcp_servers === undefined ? {} : { mcp_servers: manifest.mcp_servers }),
    ...(manifest.mcp_disabled ? { mcp_disabled: true } : {}),
    autonomous: manifest.autonomous,
    kept: manifest.kept,
  };
};
