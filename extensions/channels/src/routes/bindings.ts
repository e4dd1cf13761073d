/** Bindings over HTTP: which agent answers where. */
import { reply, type RouteDecl, routeGroup, Type, Uuid } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { type Binding, type Bindings, MatchRule } from '../bindings.js';

const route = routeGroup({ area: 'channels' });

const Shown = Type.Object(
  {
    id: Uuid,
    index: Type.Integer({ description: 'Its position' }),
    agent: Type.String(),
    match_rule: Type.Object({ ...MatchRule.properties, roles: Type.Array(Type.String()) }, { 'x-name': 'BindingRuleShown' }),
  },
  { 'x-name': 'Binding' },
);

const shown = ({ id, agent, rule }: Binding, index: number) => ({ id, index, agent, match_rule: { ...rule, roles: rule.roles ?? [] } });

export const bindingRoutes = ({ bindings, agents }: { readonly bindings: Bindings; readonly agents: Pick<AgentsService, 'find'> }): RouteDecl[] => [
  route({
    id: 'listBindings',
    method: 'GET',
    path: '/api/bindings',
    summary: 'List which agent answers where',
    description:
      'In their order. Of those whose rule holds for a message, the most special one wins (`peer_id`, then `guild_id`, then `roles` and `account_id`, then `channel`), and of equals the first.',
    responses: { 200: Type.Object({ bindings: Type.Array(Shown), total: Type.Integer() }) },
    handler: async () => {
      const all = (await bindings.list()).map(shown);
      return reply(200, { bindings: all, total: all.length });
    },
  }),
  route({
    id: 'createBinding',
    method: 'POST',
    path: '/api/bindings',
    summary: 'Bind a channel or a chat to an agent',
    description: 'All fields of the rule have to fit. An agent that is not there is a warning: the binding holds when there is one of that name. For owners and admins.',
    permission: 'channels.admin',
    audit: 'binding_created',
    auditCategory: 'settings',
    body: Type.Object({ agent: Type.String({ minLength: 1, maxLength: 128, pattern: '\\S', description: 'Name or id' }), match_rule: MatchRule }),
    examples: {
      'a channel': { agent: 'assistant', match_rule: { channel: 'telegram' } },
      'one chat': { agent: 'coder', match_rule: { channel: 'telegram', peer_id: '-1001234567890' } },
      'people with a role': { agent: 'support', match_rule: { channel: 'discord', guild_id: '81384788765712384', roles: ['helper'] } },
    },
    errors: [409],
    responses: { 200: Type.Object({ status: Type.Literal('created'), id: Uuid, warnings: Type.Array(Type.String()) }) },
    handler: async ({ actor, body }) => {
      const { id } = await bindings.add(actor, body.agent, body.match_rule);
      const warnings = (await agents.find(actor, body.agent)) ? [] : [`There is no agent ${body.agent} now.`];
      return reply(200, { status: 'created' as const, id, warnings });
    },
  }),
  route({
    id: 'deleteBinding',
    method: 'DELETE',
    path: '/api/bindings/{index}',
    summary: 'Delete a binding',
    description: 'By its position, or by its id, which stays the same when others go. For owners and admins.',
    permission: 'channels.admin',
    audit: 'binding_deleted',
    auditCategory: 'settings',
    params: Type.Object({ index: Type.String({ minLength: 1, maxLength: 64, description: 'Position, or id', examples: ['0'] }) }),
    errors: [404],
    responses: { 200: Type.Object({ status: Type.Literal('removed'), index: Type.Integer(), id: Uuid }) },
    handler: async ({ params }) => reply(200, { status: 'removed' as const, ...(await bindings.remove(params.index)) }),
  }),
];
