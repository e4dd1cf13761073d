/** Which skills an agent is given. */
import { OneOf, reply, type RouteDecl, routeGroup, Type, UuidText } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { mayRead, modeOf, READ_TOOL } from './assigned.js';
import { skillErrors } from './errors.js';
import type { Library } from './library.js';
import type { PromptList } from './prompt.js';

const route = routeGroup({ area: 'agents', errors: [404] });
const Params = Type.Object({ id: UuidText('Agent id') });
const Texts = Type.Array(Type.String());
const MAX_ASSIGNED = 500;

export interface AgentRouteDeps {
  readonly agents: Pick<AgentsService, 'get' | 'edit'>;
  readonly library: Library;
  readonly prompts: PromptList;
}

export const agentSkillRoutes = ({ agents, library, prompts }: AgentRouteDeps): RouteDecl[] => [
  route({
    id: 'getAgentSkills',
    method: 'GET',
    path: '/api/agents/{id}/skills',
    summary: "Get an agent's skills",
    description: '`all`: every skill that is on. `allowlist`: those that are assigned. `none`: skills are switched off. `listing` is what the prompt says of them.',
    params: Params,
    responses: {
      200: Type.Object(
        { assigned: Texts, available: Texts, mode: OneOf(['all', 'allowlist', 'none']), disabled: Type.Boolean(), listing: Type.String(), shortened: Texts, left_out: Texts },
        { 'x-name': 'AgentSkills' },
      ),
    },
    handler: async ({ actor, params }) => {
      const { manifest } = await agents.get(actor, params.id);
      const { text, shortened, leftOut } = prompts.listing(manifest);
      return reply(200, {
        assigned: [...(manifest.skills ?? [])],
        available: library.list().map(({ name }) => name),
        mode: modeOf(manifest),
        disabled: manifest.skills_disabled === true,
        listing: text,
        shortened: [...shortened],
        left_out: [...leftOut],
      });
    },
  }),
  route({
    id: 'setAgentSkills',
    method: 'PUT',
    path: '/api/agents/{id}/skills',
    summary: "Set an agent's skills",
    description: 'Names of the skills that the agent has; `[]` for all. Skills that were switched off for the agent are switched on. Applies from the next message.',
    cost: 10,
    audit: 'agent_skills_changed',
    auditCategory: 'grants',
    params: Params,
    body: Type.Object({ skills: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: MAX_ASSIGNED }) }, { additionalProperties: false }),
    examples: { 'two skills': { skills: ['release-notes', 'weather'] }, one: { skills: ['skill-writing'] }, 'all of them': { skills: [] } },
    errors: [403, 409],
    responses: { 200: Type.Object({ status: Type.Literal('ok'), skills: Texts, warnings: Type.Optional(Texts) }) },
    handler: async ({ actor, params, body }) => {
      const { id } = await agents.get(actor, params.id);
      const unknown = body.skills.filter((name) => !library.find(name));
      if (unknown.length > 0) throw skillErrors.unknown_skills(unknown.map((name) => JSON.stringify(name)).join(', '));
      const names = [...new Set(body.skills.map((name) => library.get(name).name))];
      const { warnings, agent } = await agents.edit(actor, id, { manifest: { skills: names, skills_disabled: null } });
      const all = [...warnings, ...(mayRead(agent.manifest) ? [] : [`The agent cannot load skills: its list of tools leaves out ${READ_TOOL}.`])];
      return reply(200, { status: 'ok' as const, skills: names, ...(all.length > 0 ? { warnings: all } : {}) });
    },
  }),
];
