import { type Actor, reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import type { CloneWish } from '../cloning.js';
import type { Spawned } from '../spawning.js';
import { AgentParams, closed, Warnings } from './bodies.js';
import { keyOf } from './idempotency-key.js';
import { refuseTooLong } from './patches.js';

const route = routeGroup({ area: 'agents', errors: [403, 404, 409, 413] });

export interface CloneRouteDeps {
  readonly clone: (actor: Actor, agentId: string, wish: CloneWish) => Promise<Spawned>;
}

const CloneBody = Type.Object(
  {
    new_name: Type.Optional(Type.String({ description: 'At most 256 characters. By default `<name>-copy`, then `<name>-copy-2` and so on' })),
    include_skills: Type.Optional(Type.Boolean({ description: 'Default true. False sets skills_disabled' })),
    include_tools: Type.Optional(Type.Boolean({ description: 'Default true. False sets tools_disabled' })),
  },
  { ...closed, 'x-name': 'AgentClone' },
);

export const cloneRoutes = ({ clone }: CloneRouteDeps): RouteDecl[] => [
  route({
    id: 'cloneAgent',
    method: 'POST',
    path: '/api/agents/{id}/clone',
    summary: 'Clone an agent',
    description: [
      "The clone gets this agent's manifest, appearance and identity files, and its own session and workspace. Conversations and other files are not copied. You own it, it has no parent agent, starts in the mode Normal, and is validated like any agent that you create.",
      'An agent that is busy, suspended or Stable can be cloned as well. A repeated `Idempotency-Key` with the same body gives the same clone.',
    ].join('\n\n'),
    cost: 50,
    audit: 'agent_spawned',
    auditCategory: 'grants',
    params: AgentParams,
    body: CloneBody,
    bodyRule: 'optional',
    examples: { 'just another one': {}, 'under a name': { new_name: 'librarian-2' }, 'that only talks': { new_name: 'talker', include_tools: false, include_skills: false } },
    responses: { 201: Type.Object({ agent_id: Uuid, name: Type.String(), warnings: Type.Optional(Warnings) }) },
    handler: async ({ actor, params, body, headers }) => {
      refuseTooLong(body);
      const { agentId, name, warnings } = await clone(actor, params.id, {
        ...(body.new_name === undefined ? {} : { name: body.new_name }),
        withTools: body.include_tools ?? true,
        withSkills: body.include_skills ?? true,
        ...keyOf(headers),
      });
      return reply(201, { agent_id: agentId, name, ...(warnings.length > 0 ? { warnings } : {}) }, { location: `/api/agents/${agentId}` });
    },
  }),
];
