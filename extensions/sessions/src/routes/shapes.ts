/** What several operations of sessions answer or take. */
import { defineList, isUuid, Nullable, OneOf, textForm, TextOf, tokensOfChars, Type, Uuid, UuidText } from '@svc/api';
import type { AgentBrief } from '@svc/ext-agents/contract';
import { sessionsErrors } from '../errors.js';
import { TagText } from '../tagging/tags.js';
import { durationOf, type ListedSession, shownLabel } from '../listing.js';

export const AgentPath = Type.Object({ id: UuidText('Agent id') });
export const SessionPath = Type.Object({ id: UuidText('Session id') });
export const SessionQuery = Type.Object({ session_id: Type.Optional(UuidText('A session of the agent; by default, its current one')) });

const DEFAULT_PAGE = 50;
const MAX_PAGE = 500;

export const Paging = {
  limit: Type.Optional(Type.Integer({ minimum: 1, default: DEFAULT_PAGE, description: `How many at most; more than ${MAX_PAGE} is ${MAX_PAGE}` })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, default: 0, description: 'How many to leave out' })),
};

/** What the answer says of itself, too: a client that asks for everything gets a page. */
export const limitOf = (asked: number | undefined): number => Math.min(asked ?? DEFAULT_PAGE, MAX_PAGE);

export const SessionSummary = Type.Object(
  {
    id: Uuid,
    session_id: Uuid,
    agent_id: Uuid,
    agent_name: Nullable(Type.String(), { description: 'null if the agent was deleted' }),
    label: Nullable(Type.String(), { description: 'The label; otherwise the title that a model made, or the first 60 characters of the first message' }),
    is_labelled: Type.Boolean({ description: 'Whether the label was set' }),
    message_count: Type.Integer({ description: 'As `GET /api/agents/{id}/session` shows them' }),
    context_window_tokens: Type.Integer({ description: "Estimated tokens of the model's input" }),
    total_tokens: Type.Integer({ description: 'Input and output of its model calls' }),
    input_tokens: Type.Integer(),
    output_tokens: Type.Integer(),
    cost_usd: Type.Number(),
    created_at: Type.String(),
    last_message_at: Nullable(Type.String()),
    duration_ms: Nullable(Type.Integer(), { description: 'From the first to the last message' }),
    active: Type.Boolean({ description: 'It has an active or queued run' }),
    is_canonical: Type.Boolean({ description: "It is the agent's current one" }),
    branched_from: Nullable(Uuid, { description: 'The session that it was branched from; it may be deleted' }),
    conversation_id: Nullable(Uuid, { description: 'The same for all versions of a conversation: sessions that were branched from each other. null if there is only this one' }),
    is_archived: Type.Boolean(),
    tags: Type.Array(Type.String()),
    is_chosen: Type.Boolean({ description: 'It is the chosen version of its conversation; true if there is only this one' }),
    deleted_at: Type.Optional(Type.String({ description: 'Set for deleted sessions' })),
    restorable_until: Type.Optional(Type.String({ description: 'Set for deleted sessions: when it is erased' })),
  },
  { 'x-name': 'SessionSummary' },
);

const VERSIONS = OneOf(['all', 'chosen'], {
  description: 'Sessions that were branched from each other are versions of one conversation. `chosen`: one of each conversation, the chosen one. Default all',
});
const ARCHIVED = OneOf(['all', 'no', 'only'], { description: '`no`: without archived sessions, `only`: nothing else. Default all' });
const DELETED = OneOf(['no', 'only'], {
  description: '`only`: deleted conversations that can be restored, one entry for each, the newest first; only `agent_id`, `limit` and `offset` narrow them. Default no',
});
const LIST = { item: SessionSummary, as: ['sessions', 'items'], sort: ['created_at', 'last_message_at'], limit: { default: DEFAULT_PAGE, max: MAX_PAGE }, name: 'SessionList' } as const;
export const SessionsOfAgent = defineList({ ...LIST, filters: { versions: VERSIONS, archived: ARCHIVED, tag: TagText } });
export const SessionList = defineList({ ...LIST, filters: { agent_id: UuidText('Only of this agent'), versions: VERSIONS, archived: ARCHIVED, deleted: DELETED, tag: TagText } });

/** Of requests about a session: to mean its whole conversation. */
export const AllVersions = Type.Optional(Type.Boolean({ default: false, description: 'Also all other versions of its conversation' }));

/** Not spaces alone. */
const LABEL = textForm('^ *[\\p{L}\\p{M}\\p{N}_-][\\p{L}\\p{M}\\p{N} _-]*$', { maxLength: 128 });
export const LabelText = TextOf(LABEL, { minLength: 1, maxLength: 128, description: 'Letters of any script, digits, spaces, hyphens and underscores' });

/** Throws `sessions_invalid_label`. */
export const checkedLabel = (label: string): string => {
  if (!LABEL.fits(label)) throw sessionsErrors.invalid_label();
  return label.trim();
};

/** As ids are kept. Throws `sessions_invalid_session_id`. */
export const checkedId = (sessionId: string): string => {
  if (!isUuid(sessionId)) throw sessionsErrors.invalid_session_id(sessionId.slice(0, 80));
  return sessionId.toLowerCase();
};

export const summaryOf = (session: ListedSession, agent: AgentBrief | undefined, active: ReadonlySet<string>) => ({
  id: session.id,
  session_id: session.id,
  agent_id: session.agentId,
  agent_name: agent?.name ?? null,
  label: shownLabel(session),
  is_labelled: session.label !== null,
  message_count: session.messages,
  context_window_tokens: tokensOfChars(session.contextChars),
  total_tokens: session.inputTokens + session.outputTokens,
  input_tokens: session.inputTokens,
  output_tokens: session.outputTokens,
  cost_usd: session.costMicros / 1_000_000,
  created_at: session.createdAt,
  last_message_at: session.lastAt,
  duration_ms: durationOf(session),
  active: active.has(session.id),
  is_canonical: agent?.sessionId === session.id,
  branched_from: session.branchedFrom,
  conversation_id: session.conversationId,
  is_archived: session.isArchived,
  tags: [...session.tags],
  is_chosen: session.isChosen,
});
