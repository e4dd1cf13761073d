/**
 * Messages beside the conversation: a side question (`ephemeral`), an `incognito` message, and a request that brings its own
 * history (`stateless`).
 *
 * B1  Each runs in a session of its own, so that a crash loses nothing while it runs. That session goes in the commit that ends the run.
 * B2  A side question reads nothing of the conversation, adds nothing to it and uses no tools.
 * B3  An incognito message reads the conversation. Neither it nor its answer stands in a row once the run has ended.
 * B4  A stateless request is answered from the messages that it brings, all of them and no others, and uses tools like any other.
 */
import type { Actors, JournalRun, Write } from '@svc/api';
import type { EntryDraft, SessionsService } from '@svc/ext-sessions/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import { resultEntry } from './client-tools/result-entry.js';
import type { RunDraft, RunResult } from './contract.js';
import { type Beside, inputOf, type RunInput } from './run-input.js';

const NOT_KEPT = 'The answer to an incognito message is sent once and not stored.';
const ASIDE = /^\/btw\s+/;

/** Whether a person wrote it: other text is no command, however it begins. */
export const isTyped = ({ door, cause }: Pick<RunDraft, 'door' | 'cause'>): boolean =>
  door !== 'agent' && (cause === undefined ? door !== 'internal' : cause.kind === 'message' || cause.kind === 'channel');

/** `/btw what time is it?` is the question beside the conversation, on every channel. */
export function withoutAsidePrefix(draft: RunDraft): RunDraft {
  if (draft.history || draft.origin || !isTyped(draft)) return draft;
  const first = draft.parts.findIndex((part) => part.type === 'text');
  const part = draft.parts[first];
  if (part?.type !== 'text' || !ASIDE.test(part.text)) return draft;
  return { ...draft, ephemeral: true, parts: draft.parts.with(first, { type: 'text', text: part.text.replace(ASIDE, '') }) };
}

export const besideOf = (draft: RunDraft, sessionId: string): Beside | undefined =>
  draft.history ? { sessionId, kind: 'stateless' } : draft.ephemeral ? { sessionId, kind: 'ephemeral' } : draft.incognito ? { sessionId, kind: 'incognito' } : undefined;

/** Only where there are any: fingerprints of other requests stay what they were. */
export const besideWords = (draft: RunDraft): unknown[] => [
  ...(draft.ephemeral || draft.incognito || draft.thinking !== undefined ? [draft.ephemeral ?? false, draft.incognito ?? false, draft.thinking ?? null] : []),
  ...(draft.showThinking === undefined ? [] : ['show_thinking', draft.showThinking]),
  ...(draft.parameters || draft.history ? [draft.parameters ?? null, draft.history ?? null] : []),
  ...(draft.clientTools ? ['client_tools', draft.clientTools] : []),
  ...(draft.tools ? ['tools', draft.tools] : []),
];

/** The conversation that a run belongs to, as clients know it. */
export const conversationOf = (input: RunInput): string => input.beside?.sessionId ?? input.sessionId;

/** What events say of a run. */
export const factOf = (run: Pick<JournalRun, 'id' | 'ownerId' | 'input'>): { runId: string; agentId: string; sessionId: string; ownerId: string } => {
  const input = inputOf(run);
  return { runId: run.id, agentId: input.agentId, sessionId: conversationOf(input), ownerId: run.ownerId };
};

/** Writes that take away what a run beside the conversation leaves; they join the commit that ends it. */
export const leftovers = async (deps: LeftoverDeps, input: RunInput): Promise<readonly Write[]> => {
  if (!input.beside) return [];
  const system = deps.actors.system('leftovers');
  return [...(await deps.sessions.discard(system, input.sessionId)), ...(await deps.tools.forget(system, input.sessionId))];
};

export interface LeftoverDeps {
  readonly sessions: Pick<SessionsService, 'discard'>;
  readonly tools: Pick<ToolsService, 'forget'>;
  readonly actors: Actors;
}

/** A run that ends before its message stood anywhere else keeps no incognito words in its row, and no history that is another's to keep. */
export const withoutMessage = ({ parts: _parts, history: _history, ...input }: RunInput): { input?: RunInput } =>
  input.beside?.kind === 'incognito' || input.beside?.kind === 'stateless' ? { input } : {};

/** What a run begins with: its message, after those that a stateless request brought. */
export const openingOf = ({ parts, history = [], origin, via }: RunInput, runId: string): EntryDraft[] =>
  parts
    ? [...history.flatMap((message) => earlierOf(message, runId)), ...(parts.length === 0 ? [] : [{ kind: 'user' as const, runId, parts, ...(origin ? { origin } : {}), ...(via ? { via } : {}) }])]
    : [];

const earlierOf = ({ role, parts, calls = [], results = [], origin }: NonNullable<RunDraft['history']>[number], runId: string): EntryDraft[] => [
  ...results.map(({ callId, tool, content }) => resultEntry(runId, callId, tool, content)),
  ...(parts.length === 0 ? [] : [{ kind: role, runId, parts, ...(origin ? { origin } : {}) }]),
  ...calls.map(({ id, name, args }) => ({ kind: 'tool_call' as const, runId, callId: id, tool: name, args })),
];

/** What an incognito message brought was said to whoever listened, and stands in no row. */
export const keptResult = (input: RunInput, result: RunResult): RunResult => (input.beside?.kind === 'incognito' && result.response !== '' ? { ...result, response: NOT_KEPT } : result);
