/** Going on from an earlier place in a conversation: to say it otherwise, or to have it answered once more. */
import { notBothFields, Nullable, OneOf, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import type { Branch } from '../branching/branching.js';
import { route, type SessionRouteDeps } from './route-deps.js';
import { conversationOf, visible } from './sessions.js';
import { checkedLabel, LabelText, SessionPath } from './shapes.js';

const Seq = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description }));

const BranchBody = Type.Object(
  {
    before_seq: Seq('Copy the messages before this entry. Use the `seq` of a message to edit it or to get another answer'),
    after_seq: Seq('Copy the messages up to and including this entry'),
    label: Type.Optional(Nullable(LabelText, { description: 'What to call the new session' })),
  },
  notBothFields('before_seq', 'after_seq'),
);

export const versionRoutes = (deps: SessionRouteDeps): RouteDecl[] => [branchFrom(deps), choose(deps)];

const branchFrom = ({ listing, branch }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'branchSession',
    method: 'POST',
    path: '/api/sessions/{id}/branch',
    summary: 'Branch a session',
    description:
      "The new session belongs to the same agent and starts with the messages up to the given place (`seq` of a message), including attachments; without a place, with all of them. This session and the agent's current one stay: send the new session's id with the next message. " +
      'An answer is copied together with its calls and their results, or not at all: `through_seq` is the last copied entry. An answer in progress cannot be copied. ' +
      'The two are versions of one conversation, and the new one is chosen: see `POST /api/sessions/{id}/choose`. ' +
      'Copied messages have their cost, and are found by searches, only in the original session.',
    audit: 'session_branched',
    idempotent: true,
    params: SessionPath,
    body: BranchBody,
    bodyRule: 'optional',
    examples: {
      'edit a message': { before_seq: 7 },
      'continue after an answer, with a label': { after_seq: 12, label: 'Trip by train' },
      'a copy of all of it': {},
    },
    errors: [404, 409],
    responses: {
      200: Type.Object(
        {
          session_id: Uuid,
          agent_id: Uuid,
          label: Nullable(Type.String()),
          branched_from: Uuid,
          through_seq: Type.Integer({ description: 'The last entry that both sessions have; 0 where the new one begins empty' }),
        },
        { 'x-name': 'SessionBranch' },
      ),
    },
    handler: async (req) => {
      const { actor, params, body } = req;
      const source = await visible(listing, actor, params.id);
      const { before_seq: before, after_seq: after, label: asked = null } = body;
      const label = asked === null ? null : checkedLabel(asked);
      const answerOf = ({ ref, through }: Branch) => reply(200, { session_id: ref.id, agent_id: ref.agentId, label, branched_from: source.id, through_seq: through });
      return answerOf(
        await branch(actor, source, { before, after }, { ...(label === null ? {} : { label }), also: (made) => req.receipt(answerOf(made), { subject: made.ref.agentId, session: made.ref.id }) }),
      );
    },
  });

const choose = (deps: SessionRouteDeps): RouteDecl =>
  route({
    id: 'chooseSession',
    method: 'POST',
    path: '/api/sessions/{id}/choose',
    summary: 'Choose a version of a conversation',
    description:
      "Sessions that were branched from each other are versions of one conversation. The chosen one stands for it in lists with `versions=chosen`. If the agent's current session is another version, this one becomes the current one. A session without other versions is always chosen.",
    audit: 'session_chosen',
    params: SessionPath,
    errors: [404, 409],
    responses: { 200: Type.Object({ status: OneOf(['ok']), session_id: Uuid, conversation_id: Nullable(Uuid) }) },
    handler: async ({ actor, params }) => {
      const session = await visible(deps.listing, actor, params.id);
      const { conversationId } = session;
      if (conversationId !== null) {
        const [versions, agent] = await Promise.all([conversationOf(deps, actor, session), deps.agents.find(actor, session.agentId)]);
        const isCurrent = agent !== undefined && versions.includes(agent.sessionId);
        await deps.commit([
          deps.closingStore.isOpen(session.id),
          ...deps.versions.choose(session.id, conversationId),
          ...(isCurrent ? await deps.agents.setSession(actor, agent.id, session.id) : []),
          ...deps.changeEvents(session, 'changed'),
        ]);
      }
      return reply(200, { status: 'ok', session_id: session.id, conversation_id: conversationId });
    },
  });
