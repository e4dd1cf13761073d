/** Going on from an earlier place in a conversation: to say it otherwise, or to have it answered once more. */
import { notBothFields, Nullable, reply, type RouteDecl, Type, Uuid } from '@svc/api';
import type { Branch } from '../branching/branching.js';
import { route, type SessionRouteDeps } from './route-deps.js';
import { visible } from './sessions.js';
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

export const branchRoute = ({ listing, branch }: SessionRouteDeps): RouteDecl =>
  route({
    id: 'branchSession',
    method: 'POST',
    path: '/api/sessions/{id}/branch',
    summary: 'Branch a session',
    description:
      "The new session belongs to the same agent and starts with the messages up to the given place (`seq` of a message), including attachments; without a place, with all of them. This session and the agent's current one stay: send the new session's id with the next message. " +
      'An answer is copied together with its calls and their results, or not at all: `through_seq` is the last copied entry. An answer in progress cannot be copied. ' +
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
