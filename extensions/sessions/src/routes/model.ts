/** Which model answers in one conversation. */
import { Nullable, OneOf, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import { route, type SessionRouteDeps } from './route-deps.js';
import { conversationOf, visible } from './sessions.js';
import { SessionPath } from './shapes.js';

const Name = Type.String({ minLength: 1, maxLength: 200 });

export const modelRoute = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'setSessionModel',
    method: 'PUT',
    path: '/api/sessions/{id}/model',
    summary: 'Set the model of a conversation',
    description:
      "The next message of this session, and of all versions of its conversation, is answered by this model, within the agent's budget; the agent and its other sessions keep theirs. Its fallback models stay. `default` as the provider or model means the daemon's default. null gives the session the agent's model again.",
    permission: 'agents.write',
    cost: 5,
    audit: 'session_model_set',
    params: SessionPath,
    body: Type.Object({ model: Nullable(Type.Object({ provider: Name, model: Name })) }),
    examples: {
      'a model for this conversation': { model: { provider: 'openai', model: 'gpt-4o' } },
      "the daemon's default": { model: { provider: 'default', model: 'default' } },
      "the agent's model again": { model: null },
    },
    errors: [404, 409, 412],
    responses: { 200: Type.Object({ status: OneOf(['updated']), session_id: Uuid, model: Nullable(Type.Object({ provider: Type.String(), model: Type.String() })) }) },
    handler: async ({ actor, params, body }) => {
      const session = await visible(deps.listing, actor, params.id);
      const { model } = body;
      // A model that nobody has is refused here, and not with the next message.
      if (model) await deps.resolveModel(model);
      const ids = await conversationOf(deps, actor, session);
      const writes = await Promise.all(ids.map(async (id) => deps.sessions.setModel(actor, await deps.sessions.get(actor, id), model)));
      await deps.commit([deps.closingStore.isOpen(session.id), ...writes.flat(), ...deps.changeEvents(session, 'changed')]);
      return reply(200, { status: 'updated', session_id: session.id, model });
    },
  });
