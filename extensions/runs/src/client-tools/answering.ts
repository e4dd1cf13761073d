/** Takes results of a sender's tools to the run that waits for them (W2 and W3 in client-wait.ts). */
import { createHash } from 'node:crypto';
import { type Actor, type Actors, AuditRecorded, auditFact, type Clock, type Events, type Ids, type Journal, type JournalRun, isSvcError, toolCallNote } from '@svc/api';
import type { EntryDraft, SessionsService } from '@svc/ext-sessions/contract';
import { factOf } from '../beside.js';
import { RunChanged, type Submitted } from '../contract.js';
import { runErrors } from '../errors.js';
import { isOver } from '../loop/endings.js';
import { inputOf } from '../run-input.js';
import { type ClientWait, clientWaitOf, runOfCall, wakeKeyOf } from './client-wait.js';
import { resultEntry } from './result-entry.js';
import type { ClientAnswer, ClientResult } from './shapes.js';

export interface AnsweringDeps {
  readonly journal: Journal;
  readonly sessions: Pick<SessionsService, 'append' | 'ensure'>;
  readonly actors: Actors;
  readonly events: Events;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Follows a run that goes on, or says again how it ended, or for what it waits now. */
  attach(run: JournalRun, after: string): Promise<Submitted>;
}

/** Others that may answer, or write to the session, at the same time. */
const MAX_RACES = 8;
const MAX_RESULT_CHARS = 200_000;

export async function answerCalls(deps: AnsweringDeps, actor: Actor, { agentId, results, turn }: ClientAnswer): Promise<Submitted> {
  const runId = oneRun(results);
  for (const { content } of results) if (content.length > MAX_RESULT_CHARS) throw runErrors.result_too_large(content.length, MAX_RESULT_CHARS);
  for (let races = 0; ; races++) {
    const run = await deps.journal.get(deps.actors.system('client calls'), runId);
    const waited = run && clientWaitOf(run);
    // W2
    if (!run || !waited || inputOf(run).clientOf !== actor.id || inputOf(run).agentId !== agentId) throw runErrors.call_not_found(results[0]?.callId ?? '');
    const { answered, client } = waited;
    if (answered && isSame(answered.ids, results)) {
      if (answered.hash !== hashOf(results)) throw runErrors.calls_answered();
      return again(deps, run, waited);
    }
    if (waited.turn !== undefined) throw runErrors.calls_over('they were answered before');
    if (isOver(run)) throw runErrors.calls_over(run.error?.message ?? 'the run has ended');
    checkComplete(client.calls, results);
    if (await takeUp(deps, actor, run, waited, results, turn, races === MAX_RACES)) return deps.attach(run, waited.place);
  }
}

/** The same results once more: what was answered then, or is being answered now. */
const again = async (deps: AnsweringDeps, run: JournalRun, { place }: ClientWait): Promise<Submitted> => ({ ...(await deps.attach(run, place)), replayed: true });

function oneRun(results: readonly ClientResult[]): string {
  const runs = new Set(results.map(({ callId }) => runOfCall(callId)));
  const [runId] = runs;
  const unknown = results.find(({ callId }) => runOfCall(callId) === undefined);
  if (runId === undefined || unknown) throw runErrors.call_not_found(unknown?.callId ?? '');
  if (runs.size > 1) throw runErrors.results_mixed();
  return runId;
}

const isSame = (ids: readonly string[], results: readonly ClientResult[]): boolean => ids.length === results.length && results.every(({ callId }) => ids.includes(callId));

/** W3. */
function checkComplete(calls: ReadonlyArray<{ readonly id: string }>, results: readonly ClientResult[]): void {
  const given = new Set(results.map(({ callId }) => callId));
  if (given.size < results.length) throw runErrors.results_twice();
  const unknown = results.find(({ callId }) => !calls.some(({ id }) => id === callId));
  if (unknown) throw runErrors.call_not_found(unknown.callId);
  const missing = calls.filter(({ id }) => !given.has(id));
  if (missing.length > 0) throw runErrors.results_missing(missing.map(({ id }) => id).join(', '));
}

/** False when somebody else was first: look again. */
async function takeUp(deps: AnsweringDeps, actor: Actor, run: JournalRun, waited: ClientWait, results: readonly ClientResult[], turn: ClientAnswer['turn'], isLast: boolean): Promise<boolean> {
  const { agentId, sessionId } = inputOf(run);
  const system = deps.actors.system('client calls', run.ownerId);
  const ref = await deps.sessions.ensure(system, agentId, sessionId, { again: true });
  const { writes } = await deps.sessions.append(system, ref, entriesOf(run.id, waited, results));
  const data: ClientWait = { ...waited, answered: { ids: results.map(({ callId }) => callId), hash: hashOf(results) }, turn };
  const facts = waited.client.calls.map(({ id, name, args }) =>
    deps.events.event(AuditRecorded, auditFact(deps, toolCallNote({ actor, agentId, runId: run.id, callId: id, tool: name, digest: '', args, status: 'completed', code: undefined }))),
  );
  const changed = deps.events.event(RunChanged, { ...factOf(run), status: 'queued' });
  try {
    return await deps.journal.wake(system, wakeKeyOf(run.id), data, [...writes, ...facts, changed]);
  } catch (error) {
    if (isLast || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    return false;
  }
}

/** In the order of the calls. */
export const entriesOf = (runId: string, { client }: Pick<ClientWait, 'client'>, results: readonly ClientResult[]): EntryDraft[] =>
  client.calls.flatMap(({ id, name }) => {
    const given = results.find(({ callId }) => callId === id);
    return given ? [resultEntry(runId, id, name, given.content)] : [];
  });

const hashOf = (results: readonly ClientResult[]): string =>
  createHash('sha256')
    .update(JSON.stringify(results.map(({ callId, content }) => [callId, content]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1))))
    .digest('hex');
