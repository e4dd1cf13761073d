/** What sessions declares to other areas: the append-only log of what was said, and its projection for a model. */
import { Actor, Nullable, OneOf, Origin, type Plain, SealedWrites, type Service, ToolFile, Type, defineEvent, defineService, defineWork, method } from '@svc/api';
import { ModelMessage, ProviderState } from '@svc/ext-llm/contract';

export { type CompactionAnswer, type GoingOn, SessionActive, SessionClosing, SessionCompacting, SessionSent } from './going-on.js';

export const EntryKind = OneOf(['user', 'assistant', 'tool_call', 'tool_result', 'recall', 'summary', 'note']);
export type EntryKind = Plain<typeof EntryKind>;

/** The upload that a part of a message stands for. */
export const FileRef = Type.Object({ id: Type.String(), name: Type.String(), contentType: Type.String(), sizeBytes: Type.Integer() });
export type FileRef = Plain<typeof FileRef>;

/** One content part. Images are kept by media type and base64 data; one with `file` has no data, and is read when a model is asked. Text with `file` was read from it. */
export const Part = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String(), file: Type.Optional(FileRef) }),
  Type.Object({ type: Type.Literal('image'), mediaType: Type.String(), data: Type.String(), file: Type.Optional(FileRef) }),
]);
export type Part = Plain<typeof Part>;

/** The texts among them, as they follow each other. */
export const textOfParts = (parts: readonly Part[] = []): string => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('');

/** What the model call took that an entry began with. */
const Used = Type.Object({ inputTokens: Type.Number(), outputTokens: Type.Number(), costMicros: Type.Number() });

/** The way a message came, where a channel says more than its name. */
export const Via = Type.Object({
  channel: Type.String({ minLength: 1, maxLength: 64, pattern: '^[a-z][a-z0-9_-]*$', description: 'Any name: telegram, webhook, a2a …' }),
  account: Type.Optional(Type.String({ maxLength: 200, description: 'Which of several accounts of the channel' })),
  chat: Type.Optional(Type.String({ maxLength: 200, description: 'The conversation there' })),
  sender: Type.Optional(Type.String({ maxLength: 200, description: 'Who wrote it there' })),
});
export type Via = Plain<typeof Via>;

export const EntryDraft = Type.Object({
  kind: EntryKind,
  runId: Nullable(Type.String()),
  parts: Type.Optional(Type.Array(Part, { description: 'user, assistant: text and images' })),
  callId: Type.Optional(Type.String({ description: 'tool_call and tool_result, as the six that follow' })),
  tool: Type.Optional(Type.String()),
  args: Type.Optional(Type.Unknown()),
  signature: Type.Optional(Type.String({ description: 'tool_call: data that the provider needs back with it. Entries of today have `state`' })),
  content: Type.Optional(Type.String()),
  isError: Type.Optional(Type.Boolean()),
  status: Type.Optional(Type.String()),
  origin: Type.Optional(Origin),
  via: Type.Optional(Via),
  files: Type.Optional(Type.Array(ToolFile, { description: 'tool_result: uploads beside the text' })),
  thoughts: Type.Optional(Type.String({ description: "The first entry of a model's answer: its thinking. Shown to people, never sent to a model" })),
  coversThrough: Type.Optional(Type.Integer({ description: 'summary: the last entry it covers' })),
  state: Type.Optional(ProviderState),
  used: Type.Optional(Used),
  recalled: Type.Optional(Type.Object({ id: Type.String(), by: Type.String({ description: 'The extension that remembers' }) }, { description: 'recall: what its text is known by' })),
});
export type EntryDraft = Plain<typeof EntryDraft>;

export const Entry = Type.Object({ ...EntryDraft.properties, seq: Type.Integer(), at: Type.String() });
export type Entry = Plain<typeof Entry>;

/** A conversation that was held elsewhere, or what was added to it since. */
export const RestoredSession = Type.Object({
  id: Type.String({ format: 'uuid' }),
  agentId: Type.String(),
  label: Nullable(Type.String()),
  tags: Type.Array(Type.String(), { description: 'Short words in small letters' }),
  createdAt: Type.String(),
  isArchived: Type.Optional(Type.Boolean()),
  branch: Type.Optional(
    Type.Object({
      from: Type.String({ description: 'The session that it goes on from' }),
      through: Type.Integer({ description: 'The last entry that both have' }),
      conversation: Type.String({ description: 'The first of the sessions that were branched from each other' }),
    }),
  ),
  isUnchosen: Type.Optional(Type.Boolean({ description: 'Another version of its conversation goes on' })),
  after: Type.Integer({ description: 'The newest entry that is there; 0 for a new session' }),
  entries: Type.Array(Type.Object({ ...EntryDraft.properties, at: Type.String() })),
});
export type RestoredSession = Plain<typeof RestoredSession>;

export const SessionRef = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  ownerId: Type.String(),
  seq: Type.Integer({ description: 'Number of the newest entry; 0 for an empty session' }),
  mark: Type.Optional(Type.String({ description: 'Identifies the newest entry. An append conflicts if another entry is the newest' })),
  aside: Type.Optional(Type.Boolean({ description: 'Set if it is separate from the conversation: not listed, and deleted when its run ends' })),
  thinking: Type.Optional(Type.Boolean({ description: 'Set if thinking was switched on or off for the session' })),
  model: Type.Optional(Type.Object({ provider: Type.String(), model: Type.String() }, { description: "Set if the session has a model of its own, in place of the agent's" })),
});
export type SessionRef = Plain<typeof SessionRef>;

export const Projection = Type.Object({
  messages: Type.Array(ModelMessage),
  throughSeq: Type.Integer({ description: 'The newest entry the projection saw' }),
  repaired: Type.Integer({ description: 'Repairs that were needed to pair every call with a result, for logs' }),
});
export type Projection = Plain<typeof Projection>;

/** A conversation that will be discarded, and perhaps the one it goes on from: neither is compacted for it. */
export const Aside = Type.Object({ history: Type.Optional(SessionRef), isWhole: Type.Optional(Type.Boolean({ description: 'Read from its first entry, however many there are' })) });
export type Aside = Plain<typeof Aside>;

export const Compacted = Type.Object({
  summarised: Type.Integer({ description: 'Messages that were summarised; 0 if the session was short enough' }),
  kept: Type.Integer({ description: 'Messages that were not summarised' }),
  summaryChars: Type.Integer({ description: 'Length of the summary' }),
  message: Type.String({ description: 'One sentence for a person' }),
});
export type Compacted = Plain<typeof Compacted>;

/** Sessions in which something was said, and those begun since the time asked for. */
export const SessionCount = Type.Object({ all: Type.Integer(), recent: Type.Integer() });
export type SessionCount = Plain<typeof SessionCount>;

/** A session as lists show it. */
export const SessionInfo = Type.Object({
  id: Type.String(),
  agentId: Type.String(),
  label: Nullable(Type.String(), { description: 'The label; by default, the beginning of the first message' }),
  createdAt: Type.String(),
  messages: Type.Integer(),
  inputTokens: Type.Integer(),
  outputTokens: Type.Integer(),
  costMicros: Type.Integer(),
  isActive: Type.Boolean({ description: 'It has an active run' }),
  isCurrent: Type.Boolean({ description: 'Messages without a session id go there' }),
});
export type SessionInfo = Plain<typeof SessionInfo>;

export const Pressure = OneOf(['low', 'medium', 'high', 'critical'], { description: 'below half of the window, below seven tenths, below 85 per cent, and above' });

export const CONTEXT_PARTS = ['instructions', 'tools', 'people', 'answers', 'tool_calls', 'tool_results'] as const;
export const ContextPart = Type.Object({ part: OneOf(CONTEXT_PARTS), tokens: Type.Integer() });
export const Context = Type.Object({
  usedTokens: Type.Integer(),
  maxTokens: Type.Integer(),
  percent: Type.Number(),
  model: Type.String(),
  pressure: Pressure,
  parts: Type.Array(ContextPart, { description: 'What is sent, by part; all of them add up to `usedTokens`' }),
});
export type Context = Plain<typeof Context>;

export const Wiped = Type.Object({
  sessionId: Type.String({ description: 'The new one' }),
  deleted: Type.Integer({ description: 'Sessions that went' }),
  keptUntil: Nullable(Type.String({ description: 'Until when they can come back' })),
});
export type Wiped = Plain<typeof Wiped>;

const AgentPlace = Type.Object({ id: Type.String(), sessionId: Type.String() }, { description: 'An agent, by id and current session' });
const Id = Type.String();

/** What `compact` and a session that has grown long begin. */
export const Compaction = defineWork('compaction', '1.0.0', {
  input: Type.Object({ agentId: Type.String(), sessionId: Type.String(), through: Type.Integer({ description: 'The last entry that the summary covers' }), isAsked: Type.Optional(Type.Boolean()) }),
  result: Type.Undefined(),
});

/** A model names a conversation. */
export const Titling = defineWork('title', '1.0.0', { input: Type.Object({ agentId: Type.String(), sessionId: Type.String() }), result: Type.Undefined() });

/** One turn of the cleaning up that [session] asks for. */
export const Cleanup = defineWork('session-cleanup', '1.0.0', { input: Type.Object({ turn: Type.Integer() }), result: Type.Object({ deleted: Type.Integer() }) });

export const Sessions = defineService('sessions', '1.5.0', {
  /** How many sessions these agents have, by agent; agents without one are left out. */
  counts: method([Actor, Type.Array(Id), Type.String({ description: 'ISO time' })], Type.Record(Type.String(), SessionCount), { what: 'reads your conversations' }),
  total: method([Actor], Type.Integer(), { what: 'reads your conversations' }),
  /** How many conversations an agent that the actor may see has, in which something was said; versions of one count once. */
  conversations: method([Actor, Id], Type.Integer(), { what: 'reads your conversations' }),
  /** The session that a caller names: it is there, or it is the agent's current one. Throws `invalid_session_id`, `session_not_found`. */
  named: method([Actor, AgentPlace, Id], SessionRef, { what: 'reads your conversations' }),
  /**
   * The session of a run that was accepted: it need not have a row yet. Throws `session_not_found` for another agent's.
   * Its place may be one of a moment ago: whoever meets a conflict asks `again`, and the database is looked at.
   */
  ensure: method(
    [Actor, Id, Id, Type.Optional(Type.Object({ again: Type.Optional(Type.Boolean()), aside: Type.Optional(Type.Boolean({ description: 'A new one is separate from the conversation' })) }))],
    SessionRef,
  ),
  /** Begins a fresh session; the writes join the caller's commit. */
  create: method([Actor, Id, Type.Optional(Type.Object({ id: Type.Optional(Id), label: Type.Optional(Type.String()) }))], Type.Object({ ref: SessionRef, writes: SealedWrites })),
  get: method([Actor, Id], SessionRef, { what: 'reads your conversations' }),
  /** The agent's sessions of this label that the actor may see, newest first; two at most, because labels need not be unique. */
  labelled: method([Actor, Id, Type.String()], Type.Array(SessionRef), { what: 'reads your conversations' }),
  /** The agent that a session belongs to, whoever may see it; nothing when there is none. */
  agentOf: method([Id], Type.Union([Id, Type.Undefined()])),
  /** Writes that set or forget what `SessionRef.thinking` says. */
  setThinking: method([Actor, SessionRef, Nullable(Type.Boolean())], SealedWrites),
  /** Writes that set or forget what `SessionRef.model` says. */
  setModel: method([Actor, SessionRef, Nullable(Type.Object({ provider: Type.String(), model: Type.String() }))], SealedWrites),
  /** Empties texts that an extension recalled into a session, by the ids it knows them by: what it forgets is not to be found there. Answers how many. */
  eraseRecalled: method([Actor, Id, Type.Object({ by: Type.String(), ids: Type.Array(Type.String()) })], Type.Integer()),
  /** Writes that take a session away with all its entries. */
  discard: method([Actor, Id], SealedWrites),
  /** Summarises all but the newest messages now, and waits for it. Throws `compaction_failed`, `compaction_busy`. */
  compact: method([Actor, AgentPlace, Id], Compacted),
  /** Writes that append entries after `ref.seq`; a writer that raced conflicts. `next` is the ref after the commit. */
  append: method([Actor, SessionRef, Type.Array(EntryDraft)], Type.Object({ writes: SealedWrites, next: SessionRef })),
  /**
   * Writes that give conversations of another program to the actor, entries at the times of then. The commit conflicts where a session was deleted
   * here, or where an entry is not the one that follows. Lists and searches show them soon after.
   */
  restore: method([Actor, Type.Array(RestoredSession)], SealedWrites),
  /** The newest entry of each of these sessions that are the actor's; 0 for an empty one. */
  newestOf: method([Actor, Type.Array(Id)], Type.Record(Type.String(), Type.Integer())),
  /**
   * A pure projection of the log: provider-neutral messages in which every tool call has its result.
   * At most `maxMessages` of them, but always the newest request. `staged` names the last entries up to `ref.seq` that stand in no commit yet: they are read from here.
   */
  project: method(
    [Actor, SessionRef, Type.Object({ budgetTokens: Type.Number(), maxMessages: Type.Optional(Type.Number()), staged: Type.Optional(Type.Array(EntryDraft)), aside: Type.Optional(Aside) })],
    Projection,
    { what: 'reads your conversations' },
  ),
  /** What a model would read of a session, in estimated tokens, and how much it can. */
  context: method([Actor, AgentPlace, Id], Context, { what: 'reads your conversations' }),
  /** Deletes every session of the agent and begins a new one; what runs in them is stopped. They can come back for `[trash] days`. */
  wipe: method([Actor, AgentPlace], Wiped),
  /** Deletes one, which can come back until `keptUntil`; null where it is erased at once. */
  remove: method([Actor, AgentPlace, Id], Type.Object({ sessionId: Type.String({ description: 'The current one then' }), keptUntil: Nullable(Type.String()) })),
  /** Erases one at once, and answers which is the agent's current one then. */
  erase: method([Actor, AgentPlace, Id], Id),
  /** Nothing where nothing was said in it yet. */
  describe: method([Actor, AgentPlace, Id], Type.Union([SessionInfo, Type.Undefined()]), { what: 'reads your conversations' }),
  /** The newest sessions of an agent. */
  recent: method([Actor, AgentPlace, Type.Integer({ description: 'How many at most' })], Type.Array(SessionInfo), { what: 'reads your conversations' }),
  /**
   * Entries after `after` as the run sees them that goes on with the session in this process: also those that it is about to commit.
   * An entry whose commit fails gives its number to another one, so ask for the last one that you know as well, and compare.
   */
  newest: method([Actor, Id, Type.Object({ after: Type.Integer(), limit: Type.Integer() })], Type.Array(Entry), { what: 'reads your conversations' }),
  entries: method([Actor, Id, Type.Optional(Type.Object({ after: Type.Optional(Type.Integer()), limit: Type.Optional(Type.Integer()) }))], Type.Array(Entry), { what: 'reads your conversations' }),
});
export type SessionsService = Service<typeof Sessions>;

/** Which session an agent speaks in is `agent.changed`; what is said in one is told by the events of runs. */
export const SessionChanged = defineEvent(
  'session.changed',
  '1.0.0',
  Type.Object({
    sessionId: Type.Optional(Type.String({ description: 'Missing if several sessions of the agent were deleted together' })),
    agentId: Type.String(),
    ownerId: Type.String(),
    change: OneOf(['begun', 'changed', 'deleted'], { description: '`changed`: its label, its title, which version is chosen, how it thinks, or its summary' }),
  }),
  { what: 'session', permission: 'sessions.read', owner: 'ownerId', id: 'sessionId', session: 'sessionId', agent: 'agentId', state: 'change' },
);
/** A daemon reads what was said into the catalogue: the others on its database leave that to it. */
export const EntriesRead = defineEvent('session.entries_read', '1.0.0', Type.Object({ by: Type.String() }));
export type SessionChanged = Plain<(typeof SessionChanged)['data']>;
