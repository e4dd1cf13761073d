/** What the steps of one run did: the journal has when and how each ended, the session what was said. */
import { type Actor, isSvcError, type Journal, type JournalRun, type JournalStep, Nullable, OneOf, type Static, Type, Uuid } from '@svc/api';
import type { Attempt } from '@svc/ext-llm/contract';
import { type Entry, type SessionsService, textOfParts } from '@svc/ext-sessions/contract';
import { isOver } from '../loop/endings.js';
import { inputOf, modelIntentOf, modelOutcomeOf, toMicrosUsd, toolIntentOf, toolOutcomeOf, usedBy } from '../run-input.js';

const SUMMARY_CHARS = 200;
/** Entries of one run that are looked at; a run of fifty iterations has some hundreds. */
const MAX_ENTRIES = 4_000;

const Duration = Nullable(Type.Integer(), { description: 'Milliseconds; null while it is active, or if the daemon stopped first' });

export const DecisionTrace = Type.Object(
  {
    tool_use_id: Type.String(),
    tool_name: Type.String(),
    input: Type.Unknown({ description: "The arguments of the call, by the tool's schema; null if the conversation was not stored" }),
    rationale: Nullable(Type.String(), { description: "The model's text before the call" }),
    recovered_from_text: Type.Boolean({ description: 'Always false: a call is taken as one only where the model made it as one' }),
    execution_ms: Duration,
    is_error: Type.Boolean(),
    output_summary: Type.String({ description: `The first ${SUMMARY_CHARS} characters of the result` }),
    iteration: Type.Integer({ description: 'Number of the model call that requested it; the first is 1' }),
    timestamp: Type.String({ format: 'date-time' }),
  },
  { 'x-name': 'DecisionTrace' },
);
export type DecisionTrace = Static<typeof DecisionTrace>;

const RunAttempt = Type.Object(
  {
    number: Type.Integer({ description: 'From 1' }),
    provider: Type.String(),
    model: Type.String(),
    key: Nullable(Type.String(), { description: 'The name of the key, if the provider has several' }),
    status: OneOf(['ok', 'failed', 'skipped'], { description: '`skipped`: not called, because it was known that it could not answer yet' }),
    failure: Nullable(Type.String(), { description: 'The kind of failure, such as `rate_limit`, `overloaded`, `timeout` or `half_stream`' }),
    message: Nullable(Type.String(), { description: "The provider's words, without secrets" }),
    http_status: Nullable(Type.Integer()),
    duration_ms: Type.Integer(),
    waited_ms: Type.Integer({ description: 'How long svc waited before the next attempt' }),
  },
  { 'x-name': 'RunAttempt' },
);

export const RunStep = Type.Object(
  {
    seq: Type.Integer(),
    kind: Type.String({ description: '`model` or `tool`' }),
    name: Type.String({ description: 'The model as provider/model, or the tool' }),
    status: Type.String({ description: '`running`, `done`, `failed`, `cancelled` or `denied`' }),
    started_at: Type.String({ format: 'date-time' }),
    ended_at: Nullable(Type.String({ format: 'date-time' })),
    duration_ms: Duration,
    input_tokens: Nullable(Type.Integer()),
    output_tokens: Nullable(Type.Integer()),
    cost_usd: Nullable(Type.Number()),
    attempts: Nullable(Type.Integer(), { description: 'Number of model calls for this step' }),
    attempt_list: Type.Array(RunAttempt, { description: 'Each of them, in order; empty for tools, and while the step is active' }),
    error: Nullable(Type.String(), { description: 'Why it failed: the code of the error that ended its run, or how the call of a tool ended' }),
  },
  { 'x-name': 'RunStep' },
);
export type RunStep = Static<typeof RunStep>;

export const TracedRun = Type.Object(
  {
    run_id: Uuid,
    session_id: Uuid,
    status: Type.String(),
    channel: Type.String({ description: 'Channel of the message: rest, sse, ws, openai, agent or cli' }),
    started_at: Type.String({ format: 'date-time' }),
    ended_at: Nullable(Type.String({ format: 'date-time' })),
    error: Nullable(Type.String()),
    prompt_source: Nullable(Type.String(), { description: 'What the base prompt is known by, if another extension replaced the one of the manifest' }),
  },
  { 'x-name': 'TracedRun' },
);

export const RecalledText = Type.Object(
  {
    id: Type.String(),
    by: Type.String({ description: 'The extension that remembers' }),
    source: Type.String({ description: 'Where it came from' }),
    labels: Type.Array(Type.String(), { description: 'Of text from outside' }),
    content: Type.String({ description: 'As the model read it' }),
  },
  { 'x-name': 'RecalledText' },
);

export interface TraceDeps {
  readonly journal: Journal;
  readonly sessions: SessionsService;
}

export const traceOf = async (deps: TraceDeps, actor: Actor, run: JournalRun) => {
  const steps = await deps.journal.steps(actor, run.id);
  const entries = await entriesOf(deps, actor, run, steps);
  return { run: shownRun(run), traces: tracesOf(steps, entries), recalled: recalledIn(entries), steps: steps.map((step) => shownStep(step, run)) };
};

export const endOf = (run: JournalRun): string | null => (isOver(run) ? run.updatedAt : null);

const shownRun = (run: JournalRun): Static<typeof TracedRun> => {
  const { sessionId, beside, door, via, prompt } = inputOf(run);
  return {
    run_id: run.id,
    session_id: beside?.sessionId ?? sessionId,
    status: run.status,
    channel: via?.channel ?? door,
    started_at: run.createdAt,
    ended_at: endOf(run),
    error: run.error?.message ?? null,
    prompt_source: prompt?.source ?? null,
  };
};

const recalledIn = (entries: readonly Entry[]): Array<Static<typeof RecalledText>> =>
  entries.flatMap(({ kind, recalled, origin, content = '' }) =>
    kind === 'recall' ? [{ id: recalled?.id ?? '', by: recalled?.by ?? '', source: origin?.source ?? '', labels: [...(origin?.labels ?? [])], content }] : [],
  );

/** Nothing of a message beside a conversation is kept, and a session may be gone by now. */
const entriesOf = async ({ sessions }: TraceDeps, actor: Actor, run: JournalRun, steps: readonly JournalStep[]): Promise<readonly Entry[]> => {
  const first = steps.map(modelOutcomeOf).find((outcome) => outcome !== undefined);
  const { sessionId, beside, said } = inputOf(run);
  if (!first || beside) return [];
  const read = await sessions.entries(actor, sessionId, { after: Math.min(first.from, (said?.from ?? first.from + 1) - 1), limit: MAX_ENTRIES }).catch((cause: unknown) => {
    if (isSvcError(cause) && cause.code === 'session_not_found') return [];
    throw cause;
  });
  return read.filter(({ runId }) => runId === run.id);
};

const tracesOf = (steps: readonly JournalStep[], entries: readonly Entry[]): DecisionTrace[] => {
  const calls = new Map(entries.flatMap((entry, index) => (entry.kind === 'tool_call' ? [[entry.callId, { entry, rationale: saidBefore(entries, index) }] as const] : [])));
  const results = new Map(entries.flatMap((entry) => (entry.kind === 'tool_result' ? [[entry.callId, entry] as const] : [])));
  let iteration = 0;
  return steps.flatMap((step) => {
    if (step.kind === 'model') iteration += 1;
    if (step.kind !== 'tool') return [];
    const call = calls.get(step.key);
    return [
      {
        tool_use_id: step.key,
        tool_name: toolIntentOf(step).tool,
        input: call?.entry.args ?? null,
        rationale: call?.rationale ?? null,
        recovered_from_text: false,
        execution_ms: step.endedAt === null ? null : Date.parse(step.endedAt) - Date.parse(step.startedAt),
        is_error: step.status === 'failed',
        output_summary: (results.get(step.key)?.content ?? '').slice(0, SUMMARY_CHARS),
        iteration,
        timestamp: step.startedAt,
      },
    ];
  });
};

/** The text of the answer that a call belongs to: calls follow it one after another. */
const saidBefore = (entries: readonly Entry[], index: number): string | null => {
  const before = entries.slice(0, index).findLast((entry) => entry.kind !== 'tool_call');
  if (before?.kind !== 'assistant') return null;
  const text = textOfParts(before.parts);
  return text === '' ? null : text;
};

export const statusOf = (step: JournalStep): string => {
  if (step.kind === 'tool' && toolIntentOf(step).denied !== undefined) return 'denied';
  return step.status === 'intent' ? 'running' : step.status;
};

/** One that its run ended in the middle of ended with it. */
export const shownStep = (step: JournalStep, run: JournalRun): RunStep => {
  const outcome = usedBy(step);
  const isCut = step.status === 'intent' && isOver(run);
  const endedAt = isCut ? run.updatedAt : step.endedAt;
  return {
    seq: step.seq,
    kind: step.kind,
    name: nameOf(step),
    status: isCut || (step.kind === 'model' && step.status === 'failed' && isOver(run)) ? (run.status === 'cancelled' ? 'cancelled' : 'failed') : statusOf(step),
    started_at: step.startedAt,
    ended_at: endedAt,
    duration_ms: endedAt === null ? null : Date.parse(endedAt) - Date.parse(step.startedAt),
    input_tokens: outcome?.inputTokens ?? null,
    output_tokens: outcome?.outputTokens ?? null,
    cost_usd: outcome?.costMicros === undefined ? null : toMicrosUsd(outcome.costMicros),
    attempts: outcome?.attempts?.filter(({ skipped }) => !skipped).length ?? null,
    attempt_list: (outcome?.attempts ?? []).map(shownAttempt),
    error: isCut ? (run.error?.code ?? null) : failureOf(step),
  };
};

const shownAttempt = ({ provider, model, key, status, skipped, errorClass, message, httpStatus, latencyMs, waitedMs }: Attempt, index: number): Static<typeof RunAttempt> => ({
  number: index + 1,
  provider,
  model,
  key: key ?? null,
  status: skipped ? 'skipped' : status === 'ok' ? 'ok' : 'failed',
  failure: errorClass ?? null,
  message: message ?? null,
  http_status: httpStatus ?? null,
  duration_ms: Math.round(latencyMs),
  waited_ms: Math.round(waitedMs),
});

const failureOf = (step: JournalStep): string | null => {
  if (step.status !== 'failed') return null;
  return step.kind === 'tool' ? (toolOutcomeOf(step)?.status ?? null) : ((step.outcome as { code?: string } | null)?.code ?? null); // what the journal keeps of a step that threw
};

/** The model that answered, or the one that was to be asked. */
export const nameOf = (step: JournalStep): string => {
  if (step.kind === 'tool') return toolIntentOf(step).tool;
  const { provider, model } = { ...modelIntentOf(step), ...usedBy(step) };
  return `${provider}/${model}`;
};
