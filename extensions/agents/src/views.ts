/** Agents as the interface shows them. */
import { OneOf, type OptionalHandle, Type, Uuid } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import type { Agent, ModelChoice } from './contract.js';

const Nullable = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()]);

const summaryFields = {
  id: Uuid,
  name: Type.String(),
  description: Type.String(),
  state: OneOf(['Created', 'Running', 'Suspended', 'Crashed', 'Terminated']),
  mode: Type.String(),
  created_at: Type.String(),
  last_active: Nullable(Type.String()),
  model_provider: Type.String({ description: 'The provider that answers now, where the manifest says `default`' }),
  model_name: Type.String(),
  session_id: Uuid,
  parent_agent_id: Nullable(Type.String()),
  tags: Type.Array(Type.String()),
};

export const AgentSummary = Type.Object(summaryFields);

const Texts = Type.Array(Type.String());
export const AgentDetail = Type.Object(
  {
    ...summaryFields,
    version: Type.String(),
    author: Type.String(),
    model: Type.Object({ provider: Type.String(), model: Type.String(), max_tokens: Type.Integer(), temperature: Type.Number() }),
    system_prompt: Type.String(),
    fallback_models: Type.Array(Type.Object({ provider: Type.String(), model: Type.String() })),
    capabilities: Type.Object({
      tools: Texts,
      network: Texts,
      memory_read: Texts,
      memory_write: Texts,
      shell: Texts,
      agent_spawn: Type.Boolean(),
      agent_message: Texts,
      file_system: Type.Boolean(),
      max_llm_tokens_per_hour: Type.Union([Type.Integer(), Type.Null()]),
      max_tool_calls_per_minute: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      exec: Type.Optional(
        Type.Object({
          mode: OneOf(['deny', 'allowlist', 'full']),
          programs: Type.Union([Texts, Type.Null()]),
          env: Type.Union([Texts, Type.Null()]),
          timeout_secs: Type.Union([Type.Integer(), Type.Null()]),
          no_output_timeout_secs: Type.Union([Type.Integer(), Type.Null()]),
          max_output_bytes: Type.Union([Type.Integer(), Type.Null()]),
        }),
      ),
    }),
    tool_allowlist: Texts,
    tool_blocklist: Texts,
    tools_disabled: Type.Boolean(),
    autonomous: Type.Object({ max_iterations: Type.Integer(), unwatched: Type.Optional(OneOf(['finish', 'cancel'])) }),
  },
  { $id: 'AgentDetail' },
);

/** Resolves `default` once for a whole list. While providers is off, `default` is what is known. */
export const defaultModelOf = async (providers: OptionalHandle<ProvidersService>): Promise<ModelChoice> => {
  const service = providers.value;
  if (!service) return { provider: 'default', model: 'default' };
  const { provider, model } = await service.shownDefault();
  return { provider, model };
};

export const summaryOf = (agent: Agent, standard: ModelChoice) => ({
  id: agent.id,
  name: agent.name,
  description: agent.manifest.description,
  state: agent.state,
  mode: agent.mode,
  created_at: agent.createdAt,
  last_active: agent.lastActiveAt,
  ...shownModel(agent.manifest.model, standard),
  session_id: agent.sessionId,
  parent_agent_id: agent.parentId,
  tags: [...agent.manifest.tags],
});

const shownModel = (choice: ModelChoice, standard: ModelChoice): { model_provider: string; model_name: string } => ({
  model_provider: choice.provider === 'default' ? standard.provider : choice.provider,
  model_name: choice.model === 'default' ? standard.model : choice.model,
});

export const detailOf = (agent: Agent, standard: ModelChoice) => {
  const { manifest } = agent;
  return {
    ...summaryOf(agent, standard),
    version: manifest.version,
    author: manifest.author,
    model: { provider: manifest.model.provider, model: manifest.model.model, max_tokens: manifest.model.max_tokens, temperature: manifest.model.temperature },
    system_prompt: manifest.model.system_prompt,
    fallback_models: manifest.fallback_models,
    capabilities: manifest.capabilities,
    tool_allowlist: manifest.tool_allowlist,
    tool_blocklist: manifest.tool_blocklist,
    tools_disabled: manifest.tools_disabled,
    autonomous: manifest.autonomous,
  };
};
