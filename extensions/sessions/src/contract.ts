/** What sessions offers: the append-only log of what was said, and its projection for a model. */
import type { Actor, Write } from '@svc/api';
import type { ModelMessage } from '@svc/ext-llm/contract';

export type EntryKind = 'user' | 'assistant' | 'tool_call' | 'tool_result' | 'summary' | 'note';

/** One content part. Images are kept by media type and base64 data. */
export type Part = { readonly type: 'text'; readonly text: string } | { readonly type: 'image'; readonly mediaType: string; readonly data: string };

export interface EntryDraft {
  readonly kind: EntryKind;
  readonly runId: string | null;
  /** user, assistant: text and images. */
  readonly parts?: readonly Part[];
  /** tool_call and tool_result. */
  readonly callId?: string;
  readonly tool?: string;
  readonly args?: unknown;
  readonly content?: string;
  readonly isError?: boolean;
  readonly status?: string;
  /** summary: the last entry it covers. */
  readonly coversThrough?: number;
}

export interface Entry extends EntryDraft {
  readonly seq: number;
  readonly at: string;
}

export interface SessionRef {
  readonly id: string;
  readonly agentId: string;
  readonly ownerId: string;
  /** Number of the newest entry; 0 for an empty session. */
  readonly seq: number;
  /** Set where somebody said whether the model shall think before it answers. */
  readonly thinking?: boolean;
}

export interface Projection {
  readonly messages: readonly ModelMessage[];
  /** The newest entry the projection saw. */
  readonly throughSeq: number;
  /** What had to be repaired to pair every call with a result, for logs. */
  readonly repaired: number;
}

/** A conversation that will be discarded, and perhaps the one it goes on from: neither is compacted for it. */
export interface Aside {
  readonly history?: SessionRef;
}

export interface Compacted {
  /** Messages that the summary stands for; 0 when the session was short enough. */
  readonly summarised: number;
  /** One sentence for a person. */
  readonly message: string;
}

/** Sessions in which something was said. */
export interface SessionCount {
  readonly all: number;
  /** Of those, begun since the time asked for. */
  readonly recent: number;
}

export interface SessionsService {
  /** How many sessions these agents have; agents without one are left out. */
  counts(actor: Actor, agentIds: readonly string[], since: string): Promise<ReadonlyMap<string, SessionCount>>;
  total(actor: Actor): Promise<number>;
  /** The session that a caller names: it is there, or it is the agent's current one. Throws `invalid_session_id`, `session_not_found`. */
  named(actor: Actor, agent: { readonly id: string; readonly sessionId: string }, sessionId: string): Promise<SessionRef>;
  /** The session of a run that was accepted: it need not have a row yet. Throws `session_not_found` for another agent's. */
  ensure(actor: Actor, agentId: string, sessionId: string): Promise<SessionRef>;
  /** Begins a fresh session; the writes join the caller's commit. */
  create(actor: Actor, agentId: string, options?: { id?: string; label?: string }): Promise<{ ref: SessionRef; writes: Write[] }>;
  get(actor: Actor, sessionId: string): Promise<SessionRef>;
  /** The agent that a session belongs to, whoever may see it; undefined when there is none. */
  agentOf(sessionId: string): Promise<string | undefined>;
  /** Writes that set or forget what `SessionRef.thinking` says. */
  setThinking(ref: SessionRef, isOn: boolean | null): Promise<Write[]>;
  /** Writes that take a session away with all its entries. */
  discard(sessionId: string): Promise<Write[]>;
  /** Summarises all but the newest messages now, and waits for it. Throws `compaction_failed`, `compaction_busy`. */
  compact(actor: Actor, agent: { readonly id: string; readonly sessionId: string }, sessionId: string): Promise<Compacted>;
  /** Writes that append entries after `ref.seq`; a writer that raced conflicts. `next` is the ref after the commit. Throws `session_not_found` for somebody else's. */
  append(actor: Actor, ref: SessionRef, entries: readonly EntryDraft[]): Promise<{ writes: Write[]; next: SessionRef }>;
  /**
   * A pure projection of the log: provider-neutral messages in which every tool call has its result.
   * At most `maxMessages` of them, but always the newest request. `staged` names the last entries up to `ref.seq` that stand in no commit yet: they are read from here.
   */
  project(actor: Actor, ref: SessionRef, options: { budgetTokens: number; maxMessages?: number; staged?: readonly EntryDraft[]; aside?: Aside }): Promise<Projection>;
  entries(actor: Actor, sessionId: string, range?: { after?: number; limit?: number }): Promise<Entry[]>;
}

declare module '@svc/api' {
  interface ServiceMap {
    sessions: SessionsService;
  }
}
