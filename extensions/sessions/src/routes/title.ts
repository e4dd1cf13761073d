/** A name for a conversation, made by a model. */
import { Nullable, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import { route, type SessionRouteDeps } from './route-deps.js';
import { visible } from './sessions.js';
import { SessionPath } from './shapes.js';

export const titleRoute = ({ listing, titler }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'titleSession',
    method: 'POST',
    path: '/api/sessions/{id}/title',
    summary: 'Let a model name a conversation',
    description:
      'Once the conversation has an answer: a short call of the model that `[session] title_model` names, or else of the agent, within its budget. All versions of the conversation get the title. Nothing happens if the session has a title or a label, if `[session] titles` is false, or if no model answers. A label always stands before the title.',
    cost: 10,
    audit: 'session_named',
    params: SessionPath,
    errors: [404],
    responses: { 200: Type.Object({ session_id: Uuid, title: Nullable(Type.String(), { description: 'null if it has none' }) }) },
    handler: async ({ actor, params }) => {
      const session = await visible(listing, actor, params.id);
      return reply(200, { session_id: session.id, title: await titler.name(session) });
    },
  });
