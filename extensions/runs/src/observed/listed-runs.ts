/** A run as lists show it: its row, and what its steps have used so far. */
import { type JournalRun, type JournalStep, Nullable, OneOf, RUN_CAUSES, type Static, Type, Uuid } from '@svc/api';
import { conversationOf } from '../beside.js';
import { Via } from '../contract.js';
import { causeOf } from '../tasks/tasks.js';
import { isOver } from '../loop/endings.js';
import { type Rating, RunRating } from '../ratings/rating-shape.js';
import { inputOf, modelOutcomeOf, toMicrosUsd, usedBy } from '../run-input.js';
import { endOf, nameOf, RunStep, shownStep } from './traces.js';

export const RunStatusText = OneOf(['queued', 'running', 'waiting', 'done', 'failed', 'cancelled']);

const runFields = {
  run_id: Uuid,
  agent_id: Uuid,
  session_id: Uuid,
  parent_run_id: Nullable(Type.String(), { description: 'The run that began it' }),
  root_id: Type.String({ description: 'The run at the beginning of all that led to this one; its own id if no run did' }),
  cause: Type.Object({ kind: OneOf(RUN_CAUSES), id: Nullable(Type.String()) }, { description: 'Why there is a run, with the id of the agent, job, webhook …' }),
  status: RunStatusText,
  channel: Type.String({ description: 'Channel of the message: rest, sse, ws, openai, agent, cli, internal, or the name of another one' }),
  via: Nullable(Type.Object(Via.properties), { description: 'The way the message came, if a channel said more than its name' }),
  is_aside: Type.Boolean({ description: 'It is not part of the conversation: a side question, an incognito message, or a stateless request' }),
  started_at: Type.String({ format: 'date-time', description: 'When its message was accepted' }),
  ended_at: Nullable(Type.String({ format: 'date-time' })),
  step_count: Type.Integer({ description: 'Calls of models and of tools' }),
  input_tokens: Type.Integer(),
  output_tokens: Type.Integer(),
  cost_usd: Type.Number(),
  model: Nullable(Type.String(), { description: 'As provider/model: the last one that answered, or the one that was asked; null while none was' }),
  error: Nullable(
    Type.Object({
      code: Type.String(),
      message: Type.String(),
      hint: Type.Optional(Type.String()),
      retry: Type.Boolean({ description: 'Whether you can send the same message again' }),
    }),
    { description: 'Why it failed or was cancelled' },
  ),
  waiting: Nullable(Type.Object({ reason: Type.String(), approval_id: Type.String(), until: Nullable(Type.String({ format: 'date-time' })) }), { description: 'The reason why it waits' }),
};

export const ListedRun = Type.Object({ ...runFields, agent_name: Nullable(Type.String(), { description: 'null if the agent was deleted' }) }, { 'x-name': 'ListedRun' });
const WaitingMessage = Type.Object(
  { content: Type.String(), attachments: Type.Array(Type.Object({ file_id: Type.String(), filename: Type.String(), content_type: Type.String(), size: Type.Integer() })) },
  { description: 'The message of a queued run: it is part of the conversation, and waits for its turn. Once the run has begun, it is in the history', 'x-name': 'WaitingMessage' },
);
export const SessionRun = Type.Object({ ...runFields, steps: Type.Array(RunStep), rating: RunRating, message: Type.Optional(WaitingMessage) }, { 'x-name': 'SessionRun' });

type RunFields = Omit<Static<typeof ListedRun>, 'agent_name'>;

export const shownRun = (run: JournalRun, steps: readonly JournalStep[]): RunFields => {
  const input = inputOf(run);
  const cause = causeOf(run);
  const outcomes = steps.flatMap((step) => usedBy(step) ?? []);
  const sumOf = (key: 'inputTokens' | 'outputTokens' | 'costMicros'): number => outcomes.reduce((sum, outcome) => sum + (outcome[key] ?? 0), 0);
  return {
    run_id: run.id,
    agent_id: input.agentId,
    session_id: conversationOf(input),
    parent_run_id: run.parentId,
    status: run.status,
    root_id: run.rootId,
    cause: { kind: cause.kind, id: cause.id ?? null },
    channel: input.via?.channel ?? input.door,
    via: input.via ?? null,
    is_aside: input.beside !== undefined,
    started_at: run.createdAt,
    ended_at: endOf(run),
    step_count: steps.length,
    input_tokens: sumOf('inputTokens'),
    output_tokens: sumOf('outputTokens'),
    cost_usd: toMicrosUsd(sumOf('costMicros')),
    model: modelOf(steps),
    error: errorOf(run),
    waiting: run.status === 'waiting' && run.wait ? { reason: run.wait.reason, approval_id: run.wait.wakeKey, until: run.wait.until } : null,
  };
};

export const shownSessionRun = (run: JournalRun, steps: readonly JournalStep[], rating: Rating | undefined): Static<typeof SessionRun> => ({
  ...shownRun(run, steps),
  steps: steps.map((step) => shownStep(step, run)),
  rating: rating ?? null,
  ...(run.status === 'queued' ? { message: waitingMessage(run) } : {}),
});

/** As the history shows it later: what was read from a file is for the model, people see the file. */
const waitingMessage = (run: JournalRun): Static<typeof WaitingMessage> => {
  const { parts = [] } = inputOf(run);
  return {
    content: parts.flatMap((part) => (part.type === 'text' && !part.file ? [part.text] : [])).join('\n'),
    attachments: parts.flatMap(({ file }) => (file ? [{ file_id: file.id, filename: file.name, content_type: file.contentType, size: file.sizeBytes }] : [])),
  };
};

const modelOf = (steps: readonly JournalStep[]): string | null => {
  const calls = steps.filter(({ kind }) => kind === 'model');
  const last = calls.findLast((step) => modelOutcomeOf(step)) ?? calls.at(-1);
  return last ? nameOf(last) : null;
};

const errorOf = (run: JournalRun): RunFields['error'] => {
  if (!run.error || !isOver(run)) return null;
  const { code, message, hint, retry = false } = run.error;
  return { code, message, ...(hint === undefined ? {} : { hint }), retry };
};
