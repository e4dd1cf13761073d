/** How a run hands its calls to its sender: it waits for the results, or ends with the calls where the sender brings everything again. */
import type { Actors, Advance, Clock, Streams } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import { factOf, keptResult, leftovers } from '../beside.js';
import { RunChanged, RunEnded, RunFrames } from '../contract.js';
import { publishDone } from '../loop/endings.js';
import { type CommitDeps, commitProgress, type Progress, resultOf, usageSince } from '../loop/progress.js';
import type { OpenCall } from '../loop/tool-phase.js';
import { CLIENT_REASON, clientWaitOf, type ClientWait, wakeKeyOf } from './client-wait.js';
import type { ClientCalls } from './shapes.js';

export interface HandingDeps extends CommitDeps {
  readonly streams: Streams;
  readonly clock: Pick<Clock, 'now'>;
  readonly actors: Actors;
  readonly sessions: SessionsService;
  readonly tools: Pick<ToolsService, 'forget'>;
  clientToolsSecs(): number;
}

export const handToClient = async (deps: HandingDeps, progress: Progress, calls: readonly OpenCall[]): Promise<'ended' | 'waiting'> => {
  const client: ClientCalls = {
    calls: calls.map(({ id, name, args }) => ({ id, name, args })),
    text: progress.said,
    usage: usageSince(progress),
    ...(progress.leftOut.length === 0 ? {} : { left_out: progress.leftOut }),
  };
  return progress.input.beside ? endWith(deps, progress, client) : waitWith(deps, progress, client);
};

/** A stateless request has no conversation that could go on: the next one brings the calls with their results. */
async function endWith(deps: HandingDeps, progress: Progress, client: ClientCalls): Promise<'ended' | 'waiting'> {
  const result = { ...resultOf(progress, client.text, 'tool_calls'), client };
  const finish: Advance['finish'] = { status: 'done', result: keptResult(progress.input, result) };
  const ended = deps.events.event(RunEnded, { ...factOf(progress.run), status: 'done' });
  await commitProgress(deps, progress, { finish, also: [ended, ...(await leftovers(deps, progress.input))] });
  publishDone(deps, progress.run.id, result);
  return 'ended';
}

/** W1. */
async function waitWith(deps: HandingDeps, progress: Progress, client: ClientCalls): Promise<'ended' | 'waiting'> {
  const { run, inputTokens, outputTokens, iterations } = progress;
  deps.streams.flush(run.id);
  const { attempt = 0, seq = 0 } = deps.streams.here(run.id) ?? {};
  const answered = clientWaitOf(run)?.answered;
  const data: ClientWait = { client, place: `${run.id}.${attempt}.${seq + 1}`, spent: { inputTokens, outputTokens, iterations }, ...(answered ? { answered } : {}) };
  const until = new Date(deps.clock.now() + deps.clientToolsSecs() * 1_000).toISOString();
  const waiting = deps.events.event(RunChanged, { ...factOf(run), status: 'waiting' });
  await deps.journal.wait(run, { reason: CLIENT_REASON, wakeKey: wakeKeyOf(run.id), data, until }, { also: [waiting] });
  deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'waiting', detail: CLIENT_REASON, client });
  deps.streams.flush(run.id);
  return 'waiting';
}
