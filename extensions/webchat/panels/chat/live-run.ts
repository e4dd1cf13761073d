/** A run as it is seen while it goes on: what its events made of it so far. */
import type { EventOf, OutputOf } from '@svc/kit';

export type RunEvent = EventOf<'streamMessage'> | EventOf<'followSession'>;
type ToolResult = Extract<RunEvent, { type: 'tool_result' }>['data'];

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input?: unknown;
  readonly result?: string;
  readonly isError?: boolean;
  /** Of this browser's clock, both: only their distance is shown. */
  readonly began?: number;
  readonly ended?: number;
  readonly missing?: ToolResult['missing'];
}

export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** What the model thought; `isOpen` while it goes on. */
  | { readonly kind: 'thoughts'; readonly text: string; readonly isOpen?: boolean }
  | { readonly kind: 'tool'; readonly call: ToolCall };

export interface Attached {
  readonly file_id: string;
  readonly filename: string;
  readonly content_type: string;
  readonly size: number;
}

export interface Question {
  readonly text: string;
  readonly attachments: readonly Attached[];
}

export interface LiveRun {
  /** Of this tab; also the Idempotency-Key of what was sent here. */
  readonly id: string;
  /** Of the daemon, as soon as something was heard. */
  readonly runId?: string;
  /** What was sent from here; undefined where the run is only followed. */
  readonly question?: Question;
  readonly parts: readonly Part[];
  readonly phase: 'sending' | 'queued' | 'thinking' | 'waiting' | 'retrying' | 'writing' | 'working' | 'lost' | 'over';
  readonly detail?: string;
  readonly attempt?: number;
  /** What a person has to decide before it goes on. */
  readonly approvalId?: string;
  /** Why it ended without an answer. */
  readonly failure?: { readonly error: string; readonly hint?: string | undefined; readonly code: string };
  readonly result?: Extract<RunEvent, { type: 'done' }>['data']['result'];
  /** The name of the slash command that answers, where no model does. */
  readonly command?: string;
}

export type SessionRun = OutputOf<'listSessionRuns'>['runs'][number];

/** States of a run that is not over. */
export const GOING_ON: readonly string[] = ['queued', 'running', 'waiting'];

export type History = OutputOf<'getSession'>;

export const newLiveRun = (id: string, question?: Question): LiveRun => ({ id, parts: [], phase: question ? 'sending' : 'thinking', ...(question ? { question } : {}) });

const withText = (parts: readonly Part[], text: string): readonly Part[] => {
  const last = parts.at(-1);
  return last?.kind === 'text' ? [...parts.slice(0, -1), { kind: 'text', text: last.text + text }] : [...parts, { kind: 'text', text }];
};

const withThoughts = (parts: readonly Part[], text: string): readonly Part[] => {
  const last = parts.at(-1);
  return last?.kind === 'thoughts' ? [...parts.slice(0, -1), { ...last, text: last.text + text }] : [...parts, { kind: 'thoughts', text, isOpen: true }];
};

/** Whatever comes next, it has thought. */
const closed = (parts: readonly Part[]): readonly Part[] => {
  const last = parts.at(-1);
  return last?.kind === 'thoughts' && last.isOpen ? [...parts.slice(0, -1), { kind: 'thoughts', text: last.text }] : parts;
};

/** What was written or thought after the last tool is void: it comes again. */
const withoutOpenText = (parts: readonly Part[]): readonly Part[] => parts.slice(0, parts.findLastIndex(({ kind }) => kind === 'tool') + 1);

const withoutOpenThoughts = (parts: readonly Part[]): readonly Part[] => (parts.at(-1)?.kind === 'thoughts' ? parts.slice(0, -1) : parts);

const withCall = (parts: readonly Part[], call: ToolCall): readonly Part[] => {
  const at = parts.findIndex((part) => part.kind === 'tool' && part.call.id === call.id);
  const known = parts[at];
  if (known?.kind !== 'tool') return [...parts, { kind: 'tool', call }];
  return parts.with(at, { kind: 'tool', call: { ...known.call, ...call } });
};

/** The run's own id stands before its frames' numbers. */
const runIdOf = (event: RunEvent): string | undefined => event.id?.split('.', 1)[0];

/** The run after this event. `now` in ms. */
export const after = (run: LiveRun, event: RunEvent, now: number): LiveRun => {
  const { detail: _detail, attempt: _attempt, approvalId: _approvalId, ...rest } = run;
  const known: LiveRun = { ...rest, ...(runIdOf(event) === undefined ? {} : { runId: runIdOf(event) as string }) }; // undefined was ruled out
  switch (event.type) {
    case 'phase': {
      const { phase, detail, attempt, approval_id: approvalId } = event.data;
      if (phase === 'restarted') return { ...known, parts: withoutOpenText(known.parts), phase: 'thinking' };
      if (phase === 'command') return { ...known, phase: 'working', command: detail ?? '' };
      const parts = phase === 'retrying' ? withoutOpenThoughts(known.parts) : known.parts;
      const waits = phase === 'waiting' && approvalId ? { approvalId } : {};
      return { ...known, parts, phase: phase === 'adjusted' ? 'thinking' : phase, ...(detail === undefined ? {} : { detail }), ...(attempt === undefined ? {} : { attempt }), ...waits };
    }
    case 'thinking_delta':
      return { ...known, parts: withThoughts(known.parts, event.data.content), phase: 'thinking' };
    case 'chunk':
      return { ...known, parts: withText(closed(known.parts), event.data.content), phase: 'writing' };
    case 'tool_use':
      return { ...known, parts: withCall(closed(known.parts), { id: event.data.id, name: event.data.tool, began: now }), phase: 'working' };
    case 'tool_result': {
      const { tool, id, input, result, is_error, missing } = event.data;
      return { ...known, parts: withCall(known.parts, { id, name: tool, input, result, isError: is_error, ended: now, ...(missing ? { missing } : {}) }), phase: 'thinking' };
    }
    case 'done': {
      const { result } = event.data;
      const reported = closed(known.parts);
      const parts = reported.some((part) => part.kind === 'text') || result.response === '' ? reported : withText(reported, result.response);
      return { ...known, parts, phase: 'over', result };
    }
    case 'error':
      return { ...known, parts: closed(known.parts), phase: 'over', failure: { error: event.data.error, hint: event.data.hint, code: event.data.code } };
  }
};

const lengthOf = (parts: readonly Part[]): number => parts.reduce((sum, part) => sum + (part.kind === 'tool' ? 1 : part.text.length), 0);

/** A run that is heard from its beginning again: what is shown of it stays until as much was heard. */
export const caughtUp = (shown: LiveRun, received: LiveRun): LiveRun =>
  received.phase === 'over' || lengthOf(received.parts) >= lengthOf(shown.parts) ? received : { ...received, parts: shown.parts };
