/** How the frames of a run look on each protocol, and what a client that comes back after a restart still has to get. */
import { type JournalRun, type JournalStep, type Streams, sse } from '@svc/api';
import { type Entry, textOfParts } from '@svc/ext-sessions/contract';
import type { RunFrame, RunFrames, RunResult } from '../contract.js';
import { socketCodeOf } from './socket-errors.js';
import { type ModelOutcome, modelOutcomeOf, type ToolOutcome } from '../run-input.js';

/** The events of a stream: chunk, tool_use, tool_result, done; `phase` and `error` beside them. */
export const sseText = (frame: RunFrame): string | undefined =>
  frame.type === 'tool_input' ? undefined : sse(frame.type, frame.type === 'done' ? { done: true, usage: frame.data.usage, result: frame.data.result } : frame.data, frame.id);

/** The frame that announces an attempt which a client has already been told of. */
export const isRestartOf = (frame: RunFrame, attempt: number | undefined): boolean => frame.type === 'phase' && frame.data.phase === 'restarted' && frame.data.attempt === attempt;

/** Where a run's topic stands: what a step's outcome keeps, so that a client that comes back is given what it has not seen. */
export const placeIn = (streams: Streams, topic: string): { frames: number; attempt: number } => {
  const { seq, attempt } = streams.here(topic) ?? { seq: 0, attempt: 0 };
  return { frames: seq, attempt };
};

/** WebSocket frames. Every frame names its place, from which a client that was cut off can resume. */
export const wsText = (frame: RunFrame, messageId: string | undefined): string =>
  JSON.stringify({ ...toWs(frame), frame_id: frame.id, ...(messageId !== undefined && frame.final ? { message_id: messageId } : {}) });

/** Of what a tool is called with, for people to look at. */
const MAX_INPUT_CHARS = 500;

function toWs({ type, data }: RunFrame): object {
  switch (type) {
    case 'phase':
      return data.phase === 'thinking' ? { type: 'thinking' } : { type: 'phase', ...data };
    case 'thinking_delta':
      return { type: 'thinking_delta', content: data.content };
    case 'chunk':
      return { type: 'text_delta', content: data.content };
    case 'tool_use':
      return { type: 'tool_start', tool: data.tool, id: data.id };
    case 'tool_input':
      return { type: 'tool_end', tool: data.tool, id: data.id, input: JSON.stringify(data.input ?? {}).slice(0, MAX_INPUT_CHARS) };
    case 'tool_result':
      return { type: 'tool_result', tool: data.tool, id: data.id, result: data.result, is_error: data.is_error, ...(data.files ? { files: data.files } : {}) };
    case 'done':
      return toWsResponse(data.result, data.command);
    case 'error':
      return {
        type: 'error',
        content: data.error,
        code: socketCodeOf(data.code, data.status),
        reason: data.code,
        ...(data.hint ? { hint: data.hint } : {}),
        ...(data.retry_after_secs ? { retry_after_secs: data.retry_after_secs } : {}),
      };
  }
}

const toWsResponse = (result: RunResult, command: unknown): object => ({
  type: 'response',
  content: result.response,
  input_tokens: result.input_tokens,
  output_tokens: result.output_tokens,
  iterations: result.iterations,
  cost_usd: result.cost_usd,
  session_id: result.session_id,
  finish: result.finish,
  ...(command === undefined ? {} : { command }),
});

/** A frame that has no number yet. */
type Draft = { [T in keyof RunFrames]: { readonly type: T; readonly data: RunFrames[T] } }[keyof RunFrames];

export interface Seen {
  readonly attempt: number;
  readonly seq: number;
}

/** `<run>.<attempt>.<seq>`, as `Last-Event-ID` brings it. */
export function parseFrameId(id: string): (Seen & { readonly runId: string }) | undefined {
  const [, runId, attempt, seq] = /^([0-9a-f-]{36})\.(\d{1,6})\.(\d{1,9})$/.exec(id) ?? [];
  return runId === undefined ? undefined : { runId, attempt: Number(attempt), seq: Number(seq) };
}

/**
 * Frames of completed steps that a client which saw `seen` of an earlier attempt has not had whole, but for those
 * that the topic itself still holds (`live`). The `restarted` phase voids the text after the last tool frame, and that
 * text is sent again. Each id names a place from which the rest can be asked for once more.
 */
export function missedFrames(run: JournalRun, steps: readonly JournalStep[], entries: readonly Entry[], seen: Seen, view: { readonly attempt: number; readonly live: number | undefined }): RunFrame[] {
  const drafts: Array<Draft & { place: Seen }> = [{ type: 'phase', data: { phase: 'restarted', attempt: view.attempt }, place: seen }];
  const ended = steps.flatMap((step) => (step.status === 'intent' ? [] : [{ step, ...endOf(step) }])).sort((a, b) => a.attempt - b.attempt || a.seq - b.seq);
  for (const { step, attempt, seq } of ended) {
    if (attempt === view.live || hasSeen(seen, { attempt, seq }, step.kind === 'model')) continue;
    const frames = framesOf(step, entries);
    // The last frame stands where the step ended, the one before it (the beginning of a call) just before that.
    drafts.push(...frames.map((frame, index) => ({ ...frame, place: { attempt, seq: seq - (frames.length - 1 - index) } })));
  }
  return drafts.map(({ place: at, ...draft }) => ({ ...draft, id: `${run.id}.${at.attempt}.${at.seq}`, seq: at.seq, attempt: at.attempt, final: false }));
}

/** How far a run's frames had come when its last step ended; undefined when none has. */
export const reachedBy = (steps: readonly JournalStep[]): Seen | undefined =>
  steps
    .filter((step) => step.status !== 'intent')
    .map(endOf)
    .reduce<Seen | undefined>((last, end) => (last && (last.attempt > end.attempt || (last.attempt === end.attempt && last.seq >= end.seq)) ? last : end), undefined);

function endOf(step: JournalStep): Seen {
  const { attempt = step.attempt, frames } = step.outcome as Partial<ModelOutcome | ToolOutcome> & { frames: number };
  return { attempt, seq: frames };
}

/** Text with nothing after it was voided, however much of it came. */
const hasSeen = (seen: Seen, end: Seen, isText: boolean): boolean => end.attempt < seen.attempt || (end.attempt === seen.attempt && (isText ? end.seq < seen.seq : end.seq <= seen.seq));

function framesOf(step: JournalStep, entries: readonly Entry[]): Draft[] {
  const model = modelOutcomeOf(step);
  if (model) {
    const made = entries.filter((entry) => entry.seq > model.from && entry.seq <= model.through + 1);
    const thoughts = made.find((entry) => entry.thoughts !== undefined)?.thoughts;
    const said = made.find((entry) => entry.kind === 'assistant');
    const text = textOfParts(said?.parts);
    return [
      ...(thoughts === undefined ? [] : [{ type: 'thinking_delta' as const, data: { content: thoughts } }]),
      ...(text === '' ? [] : [{ type: 'chunk' as const, data: { content: text, done: false as const } }]),
    ];
  }
  const call = entries.find((entry) => entry.kind === 'tool_call' && entry.callId === step.key);
  const result = entries.find((entry) => entry.kind === 'tool_result' && entry.callId === step.key);
  return [
    { type: 'tool_use', data: { tool: call?.tool ?? '', id: step.key } },
    { type: 'tool_input', data: { tool: call?.tool ?? '', id: step.key, input: call?.args ?? {} } },
    {
      type: 'tool_result',
      data: {
        tool: call?.tool ?? '',
        id: step.key,
        input: call?.args ?? {},
        is_error: result?.isError ?? false,
        result: result?.content ?? '',
        ...(result?.files ? { files: shownFiles(result.files) } : {}),
      },
    },
  ];
}

/** Files that a call gave, as clients read them. */
export const shownFiles = (files: NonNullable<Entry['files']>) => files.map(({ id, name, mediaType }) => ({ file_id: id, filename: name, content_type: mediaType }));
