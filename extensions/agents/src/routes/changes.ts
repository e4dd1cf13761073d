/** What changes the manifest of an agent: each operation makes a patch of agent.toml, and edit-agent.ts does the rest. */
import { type Actor, documented, isTable, nearest, notAll, OneOf, reply, type RouteDecl, routeGroup, type Static, Type, Uuid } from '@svc/api';
import { type Change, patchOf } from '../changing/change.js';
import type { AgentEdited } from '../contract.js';
import { agentErrors } from '../errors.js';
import { TOP_KEYS } from '../manifest/manifest-keys.js';
import {
  AgentParams,
  closed,
  DescribingFields,
  IdentityFields,
  MAX_MANIFEST_BODY_BYTES,
  ManifestText,
  ModelText,
  ProviderText,
  Revision,
  SOME_CHANGE,
  SOME_CHANGE_OR_TEXT,
  Warnings,
} from './bodies.js';
import { given, identityPatch, modelPatch, type ModelPatchDeps, refuseTooLong, replaced, withModel } from './patches.js';

const route = routeGroup({ area: 'agents', errors: [403, 404, 409, 413] });

export interface ChangeRouteDeps extends ModelPatchDeps {
  readonly edit: (actor: Actor, agentId: string, change: Change) => Promise<AgentEdited>;
}

export const changeRoutes = (deps: ChangeRouteDeps): RouteDecl[] => [patchAgent(deps), patchAgentConfig(deps), patchAgentIdentity(deps), updateAgent(deps)];

const WHEN =
  "An active run keeps the manifest that it started with, including its permissions; the next run uses the new one. Spending limits and tool block lists apply from the run's next call. To end an active run, stop the agent.";
const RACES = `Two concurrent changes of different keys are both applied. If they change the same key, the later one answers 409 \`agents_changed_meanwhile\`: read the agent again. With \`revision\` (see \`GET /api/agents/{id}\`), a change is refused if anything changed since.`;
const RIGHTS =
  "The resulting manifest is validated like that of a new agent: it cannot grant anything that the agent's owner, its parent or the caller may not grant. Its children keep their grants, even if the agent now has fewer.";

const Changed = Type.Object(
  {
    status: OneOf(['ok']),
    agent_id: Uuid,
    name: Type.String(),
    revision: Type.Integer({ description: 'The revision it has now' }),
    warnings: Type.Optional(Warnings),
    note: Type.Optional(Type.String()),
  },
  { 'x-name': 'AgentChanged' },
);

const PatchBody = Type.Object(
  {
    manifest_toml: Type.Optional(ManifestText),
    ...DescribingFields,
    model: Type.Optional(ModelText),
    provider: Type.Optional(ProviderText),
    mcp_servers: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 50, description: 'MCP servers whose tools the agent has; `*` for all, empty for none' })),
    schedule: Type.Optional(Type.Unknown({ description: 'As in a manifest: `reactive`, or a table with periodic, continuous or proactive' })),
    auto_evolve: Type.Optional(Type.Boolean({ description: 'Stored; has no effect until agents can change skills' })),
    revision: Type.Optional(Revision),
  },
  { ...closed, ...documented(SOME_CHANGE_OR_TEXT), 'x-name': 'AgentPatch' },
);

const patchAgent = (deps: ChangeRouteDeps): RouteDecl =>
  route({
    id: 'patchAgent',
    method: 'PATCH',
    path: '/api/agents/{id}',
    summary: 'Update an agent or replace its manifest',
    description: `Changes only the fields in the body. \`manifest_toml\` replaces the whole manifest, and must be the only field. The name stays, and so do tags and identity fields that the new text does not set.\n\n${RIGHTS}\n\n${WHEN}\n\n${RACES}`,
    cost: 10,
    audit: 'agent_changed',
    auditCategory: 'grants',
    params: AgentParams,
    body: PatchBody,
    maxBodyBytes: MAX_MANIFEST_BODY_BYTES,
    examples: {
      'a new name': { name: 'librarian', description: 'Finds and sums up papers.' },
      'another model': { model: 'gpt-5', provider: 'openai' },
      'the whole manifest': { manifest_toml: 'name = "librarian"\n[capabilities]\ntools = ["file_read", "web_fetch"]\nnetwork = ["*.example.org"]\n' },
    },
    responses: { 200: Changed },
    handler: async ({ actor, params, body }) => {
      const { revision, manifest_toml, ...fields } = body;
      if (manifest_toml !== undefined) {
        const edited = await deps.edit(actor, params.id, await replaced(manifest_toml, fields, revision));
        return reply(200, { ...changed(edited), note: 'The whole manifest was replaced; the name stays.' });
      }
      refuseTooLong(fields);
      const { system_prompt, model, provider, ...top } = fields;
      const section = { ...(await modelPatch(deps, actor, params.id, { model, provider })), ...given({ system_prompt }) };
      return reply(200, changed(await deps.edit(actor, params.id, patchOf(withModel(given(top), section), revision))));
    },
  });

const ConfigBody = Type.Object(
  {
    ...DescribingFields,
    ...IdentityFields,
    model: Type.Optional(ModelText),
    provider: Type.Optional(ProviderText),
    api_key_env: Type.Optional(Type.String({ maxLength: 256, description: "The variable of the provider's own key, or empty: an agent sends no other key" })),
    base_url: Type.Optional(Type.String({ maxLength: 2_048, description: "The provider's own address, or empty: an agent sends its prompts nowhere else" })),
    max_tokens: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000_000, description: 'Of one answer' })),
    temperature: Type.Optional(Type.Number({ minimum: 0, maximum: 2 })),
    fallback_models: Type.Optional(
      Type.Array(
        Type.Object({ provider: Type.String(), model: Type.String(), api_key_env: Type.Optional(Type.String()), base_url: Type.Optional(Type.String()) }, { ...closed, 'x-name': 'FallbackModel' }),
        { maxItems: 20, description: 'Fallback models, tried in this order; an empty list for none' },
      ),
    ),
    web_search_augmentation: Type.Optional(OneOf(['off', 'auto', 'always'], { description: 'Stored; has no effect' })),
    revision: Type.Optional(Revision),
  },
  { ...closed, ...documented(SOME_CHANGE), 'x-name': 'AgentConfigPatch' },
);

const patchAgentConfig = (deps: ChangeRouteDeps): RouteDecl =>
  route({
    id: 'patchAgentConfig',
    method: 'PATCH',
    path: '/api/agents/{id}/config',
    summary: "Update an agent's name, identity and model settings",
    description: `Changes only the fields in the body; an empty text removes a field. With a provider alone, the model stays if that provider has it; otherwise the provider's default model is used.\n\n${WHEN}\n\n${RACES}`,
    cost: 10,
    audit: 'agent_changed',
    params: AgentParams,
    body: ConfigBody,
    examples: {
      'a calmer tone': { temperature: 0.2, system_prompt: 'You answer in short sentences, and say so when you do not know.' },
      'another provider': { provider: 'anthropic' },
      'fallback models': { fallback_models: [{ provider: 'openai', model: 'gpt-5-mini' }] },
    },
    responses: { 200: Changed },
    handler: async ({ actor, params, body }) => {
      const { revision, ...fields } = body;
      refuseTooLong(fields);
      const { name, description, system_prompt, model, provider, api_key_env, base_url, max_tokens, temperature, fallback_models, web_search_augmentation, ...identity } = fields;
      const section = { ...(await modelPatch(deps, actor, params.id, { model, provider })), ...given({ system_prompt, api_key_env, base_url, max_tokens, temperature }) };
      const top = { ...given({ name, description, fallback_models, web_search_augmentation }), ...identityPatch(identity) };
      return reply(200, changed(await deps.edit(actor, params.id, patchOf(withModel(top, section), revision))));
    },
  });

const patchAgentIdentity = (deps: ChangeRouteDeps): RouteDecl =>
  route({
    id: 'patchAgentIdentity',
    method: 'PATCH',
    path: '/api/agents/{id}/identity',
    summary: "Update an agent's appearance",
    description: 'Shown to people, never sent to a model. Fields that are left out or null stay; an empty text removes a field. Stored under `[metadata.identity]` of the manifest.',
    params: AgentParams,
    audit: 'agent_changed',
    body: Type.Object(
      { ...IdentityFields, revision: Type.Optional(Revision) },
      { ...closed, ...notAll(Object.fromEntries(Object.keys(IdentityFields).map((name) => [name, { not: { type: 'string' } }]))), 'x-name': 'AgentIdentityPatch' },
    ),
    examples: {
      'a face': { emoji: '🦉', color: '#3b6ea5' },
      'a picture': { avatar_url: 'https://example.org/owl.png' },
      'a manner': { archetype: 'researcher', vibe: 'concise', greeting_style: 'warm' },
    },
    responses: { 200: Changed },
    handler: async ({ actor, params, body: { revision, ...identity } }) => reply(200, changed(await deps.edit(actor, params.id, patchOf(identityPatch(identity), revision)))),
  });

const UpdateBody = Type.Object(
  {
    manifest_toml: Type.Optional(ManifestText),
    ...DescribingFields,
    tags: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1_000 })),
    revision: Type.Optional(Revision),
  },
  { additionalProperties: true, ...documented({ ...SOME_CHANGE_OR_TEXT, propertyNames: { enum: ['manifest_toml', 'revision', 'system_prompt', ...Object.keys(TOP_KEYS)] } }), 'x-name': 'AgentUpdate' },
);

const updateAgent = (deps: ChangeRouteDeps): RouteDecl =>
  route({
    id: 'updateAgent',
    method: 'PUT',
    path: '/api/agents/{id}/update',
    summary: 'Update manifest keys of an agent',
    description: `The body has the keys of agent.toml, as JSON: a table is merged key by key, a text or a list replaces, null resets a key to its default. \`manifest_toml\` replaces the whole manifest instead, as with PATCH, and must be the only field. Unknown keys are refused by name.\n\n${RIGHTS}\n\n${WHEN}\n\n${RACES}`,
    cost: 10,
    audit: 'agent_changed',
    auditCategory: 'grants',
    params: AgentParams,
    body: UpdateBody,
    maxBodyBytes: MAX_MANIFEST_BODY_BYTES,
    examples: {
      'what it is': { description: 'Reads the news.', system_prompt: 'You sum up what you are sent in three sentences.', tags: ['news'] },
      'what it may do': { capabilities: { tools: ['file_read', 'web_fetch'], network: ['*.example.org'] }, tool_blocklist: null },
      'what it may cost': { resources: { max_cost_per_day_usd: 2 }, capabilities: { max_llm_tokens_per_hour: 200_000 } },
    },
    responses: { 200: Type.Object({ ...Changed.properties, status: OneOf(['updated']) }, { 'x-name': 'AgentUpdated' }) },
    handler: async ({ actor, params, body }) => {
      const edited = await deps.edit(actor, params.id, await updateOf(body));
      return reply(200, { ...changed(edited), status: 'updated' as const });
    },
  });

const updateOf = async ({ revision, manifest_toml, ...fields }: Static<typeof UpdateBody>): Promise<Change> => {
  if (manifest_toml !== undefined) return replaced(manifest_toml, fields, revision);
  const { system_prompt, ...top }: Readonly<Record<string, unknown>> = fields;
  const known = Object.keys(TOP_KEYS);
  const unknown = Object.keys(top).find((key) => !known.includes(key));
  if (unknown !== undefined) throw agentErrors.agents_unknown_field(unknown, nearest(unknown, known));
  refuseTooLong({ ...top, system_prompt: system_prompt ?? (isTable(top.model) ? top.model.system_prompt : undefined) });
  return patchOf(withModel(top, given({ system_prompt })), revision);
};

/** As an answer shows it. */
export const changed = ({ agent, warnings }: AgentEdited): Static<typeof Changed> => ({
  status: 'ok',
  agent_id: agent.id,
  name: agent.name,
  revision: agent.revision,
  ...(warnings.length > 0 ? { warnings: [...warnings] } : {}),
});
