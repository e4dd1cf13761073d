/** Tags: set for a conversation, and counted over all. */
import { OneOf, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import { checkedTags, tagsIn, TagTexts } from '../tagging/tags.js';
import { route, type SessionRouteDeps } from './route-deps.js';
import { conversationOf, visible } from './sessions.js';
import { SessionPath } from './shapes.js';

export const tagRoutes = (deps: SessionRouteDeps): RouteDecl[] => [set(deps), list(deps)];

const set = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'setSessionTags',
    method: 'PUT',
    path: '/api/sessions/{id}/tags',
    summary: 'Tag a conversation',
    description: 'All versions of it. The tags replace those that it has; an empty list removes them. Up to 8 tags; capitals make no difference. Lists find conversations by a tag with `tag`.',
    audit: 'session_tagged',
    params: SessionPath,
    body: Type.Object({ tags: TagTexts }),
    examples: { 'two words': { tags: ['lisbon', 'trip'] }, 'in another script': { tags: ['出差'] }, 'no tags': { tags: [] } },
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['updated']), session_id: Uuid, tags: Type.Array(Type.String(), { description: 'As they are stored: in small letters, each once' }) }) },
    handler: async ({ actor, params, body }) => {
      const session = await visible(deps.listing, actor, params.id);
      const tags = checkedTags(body.tags);
      const ids = await conversationOf(deps, actor, session);
      await deps.commit([deps.closingStore.isOpen(session.id), deps.closingStore.setTags(ids, tags), ...deps.changeEvents(session, 'changed')]);
      return reply(200, { status: 'updated', session_id: session.id, tags: [...tags] });
    },
  });

const list = ({ listing }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'listSessionTags',
    method: 'GET',
    path: '/api/sessions/tags',
    summary: 'List tags',
    description: 'Tags of conversations that you may see, the most used first, with how many conversations have each. Of the 5,000 newest conversations that have tags.',
    cost: 2,
    responses: { 200: Type.Object({ tags: Type.Array(Type.Object({ tag: Type.String(), count: Type.Integer() })) }) },
    handler: async ({ actor }) => {
      const counts = new Map<string, number>();
      for (const tag of (await listing.tagged(actor)).flatMap(tagsIn)) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      const tags = [...counts].map(([tag, count]) => ({ tag, count })).sort((one, other) => other.count - one.count || (one.tag < other.tag ? -1 : 1));
      return reply(200, { tags });
    },
  });
