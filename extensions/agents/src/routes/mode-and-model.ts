import { type Actor, OneOf, reply, type RouteDecl, routeGroup, TextOf, Type, Uuid } from '@svc/api';
import { type Change, patchOf } from '../changing/change.js';
import { type Mode, MODE_WORD, MODES, modeNamed } from '../changing/set-mode.js';
import type { Agent, AgentEdited, AgentsService } from '../contract.js';
import { AgentParams, closed, ModelText, ProviderText, Warnings } from './bodies.js';
import { modelPatch, type ModelPatchDeps } from './patches.js';

const route = routeGroup({ area: 'agents', errors: [403, 404, 409] });

export interface ModeRouteDeps extends ModelPatchDeps {
  readonly modelsOf: AgentsService['modelsOf'];
  readonly edit: (actor: Actor, agentId: string, change: Change) => Promise<AgentEdited>;
  readonly setMode: (actor: Actor, agentId: string, mode: Mode) => Promise<Agent>;
}

export const modeAndModelRoutes = (deps: ModeRouteDeps): RouteDecl[] => [setAgentMode(deps), setAgentModel(deps)];

const setAgentMode = ({ setMode, modelsOf }: ModeRouteDeps): RouteDecl =>
  route({
    id: 'setAgentMode',
    method: 'PUT',
    path: '/api/agents/{id}/mode',
    summary: "Set an agent's mode",
    description: [
      "`Stable` pins the current model (or the manifest's `pinned_model`): the agent keeps it even if the default or an alias changes, and its model cannot be changed. Skills are not frozen.",
      '`Normal` is how agents begin; it releases what Stable pinned. `full` does the same under another name.',
      '`observe` leaves the agent no tools; `assist` leaves it those that only read: tools of the risk `read`, and `web_fetch` and `web_search`. Both apply to every call, including those of active runs.',
    ].join('\n\n'),
    cost: 10,
    audit: 'agent_changed',
    auditCategory: 'grants',
    params: AgentParams,
    // Of the gateway, when it is asked which model answers now.
    errors: [412],
    body: Type.Object({ mode: TextOf(MODE_WORD, { description: `Without case: ${MODES.join(', ')}` }) }, { ...closed, 'x-name': 'AgentModeChange' }),
    examples: { 'keep this model': { mode: 'Stable' }, 'as it began': { mode: 'Normal' }, 'no tools for now': { mode: 'observe' } },
    responses: {
      200: Type.Object({
        status: OneOf(['updated']),
        agent_id: Uuid,
        mode: OneOf(MODES),
        model_provider: Type.String({ description: 'The provider that answers in this mode' }),
        model_name: Type.String({ description: 'The model that answers in this mode' }),
        revision: Type.Integer(),
      }),
    },
    handler: async ({ actor, params, body }) => {
      const mode = modeNamed(body.mode);
      const agent = await setMode(actor, params.id, mode);
      const [shown = agent.manifest.model] = await modelsOf([agent]);
      return reply(200, { status: 'updated', agent_id: agent.id, mode, model_provider: shown.provider, model_name: shown.model, revision: agent.revision });
    },
  });

const setAgentModel = (deps: ModeRouteDeps): RouteDecl =>
  route({
    id: 'setAgentModel',
    method: 'PUT',
    path: '/api/agents/{id}/model',
    summary: "Set an agent's model",
    description: [
      "A name alone is looked up at the agent's provider, then in the whole catalog; `PROVIDER/MODEL` and `PROVIDER:MODEL` also name the provider. A model that is not in the catalog is accepted as written, as in the manifest of a new agent; `warnings` says so and lists similar names. An unknown provider is refused.",
      'An active run keeps its model; the next run uses the new one. In the mode `Stable` the model is pinned, and the status is 409.',
    ].join('\n\n'),
    cost: 10,
    audit: 'agent_changed',
    params: AgentParams,
    body: Type.Object({ model: ModelText, provider: Type.Optional(ProviderText) }, { ...closed, 'x-name': 'AgentModelChange' }),
    examples: { 'by its name': { model: 'gpt-5' }, 'with its provider': { model: 'qwen3:latest', provider: 'ollama' }, "the daemon's default": { model: 'default' } },
    responses: {
      200: Type.Object({
        status: OneOf(['updated']),
        agent_id: Uuid,
        model: Type.String({ description: 'The new value in the manifest' }),
        provider: Type.String({ description: 'The new value in the manifest' }),
        revision: Type.Integer(),
        warnings: Type.Optional(Warnings),
      }),
    },
    handler: async ({ actor, params, body }) => {
      const { agent, warnings } = await deps.edit(actor, params.id, patchOf({ model: await modelPatch(deps, actor, params.id, body) }));
      const { provider, model } = agent.manifest.model;
      return reply(200, { status: 'updated', agent_id: agent.id, model, provider, revision: agent.revision, ...(warnings.length > 0 ? { warnings } : {}) });
    },
  });
