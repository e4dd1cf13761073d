/** A client that comes back names the last frame it saw; this finds what it still has to get, on any protocol. */
import type { Actors, Actor, Journal, Streams } from '@svc/api';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { type RunFrame, RunFrames } from '../contract.js';
import { runErrors } from '../errors.js';
import { missedFrames, parseFrameId, type Seen } from '../frames/frames.js';
import { inputOf, modelOutcomeOf } from '../run-input.js';
import { attach } from '../service.js';

export interface ResumeDeps {
  readonly journal: Journal;
  readonly actors: Actors;
  readonly streams: Streams;
  readonly sessions: Pick<SessionsService, 'entries'>;
}

export interface Resumed {
  readonly runId: string;
  /** Where the topic goes on for this client. */
  readonly after: string | number;
  /** Frames of an earlier life of the daemon, to be given first. */
  readonly missed: readonly RunFrame[];
  /** The attempt that the missed frames announce. */
  readonly attempt: number;
}

/** Entries of one run that a client which comes back may be given at once. */
const MAX_RESUMED_ENTRIES = 4_000;

/** Undefined when `lastFrameId` names no frame; throws `run_not_found` when its run is not this agent's, or not this actor's. */
export async function findResumed(deps: ResumeDeps, actor: Actor, agentId: string, lastFrameId: string): Promise<Resumed | undefined> {
  const seen = parseFrameId(lastFrameId);
  if (!seen) return undefined;
  const run = await deps.journal.get(actor, seen.runId);
  if (!run || inputOf(run).agentId !== agentId) throw runErrors.not_found(seen.runId);
  if ((await deps.streams.state(run.id))?.attempt === seen.attempt) {
    await deps.streams.attach(RunFrames, run.id, lastFrameId);
    return { runId: run.id, after: lastFrameId, missed: [], attempt: seen.attempt };
  }
  const { missed, attempt } = await missedOf(deps, actor, run.id, seen);
  // From where the rows end: what another process says after that is not given twice, and a part that does not arrive is noticed.
  const last = missed.at(-1)?.id ?? lastFrameId;
  await attach(deps, run, inputOf(run).sessionId, last);
  return { runId: run.id, after: last, missed, attempt };
}

/** What the projection of a stream is told of it: nothing where nothing was missed. */
export const missedBy = ({ missed, attempt }: Resumed): { readonly frames: readonly RunFrame[]; readonly attempt: number } | undefined =>
  missed.length === 0 ? undefined : { frames: missed, attempt };

async function missedOf(deps: ResumeDeps, actor: Actor, runId: string, seen: Seen): Promise<Pick<Resumed, 'missed' | 'attempt'>> {
  const steps = await deps.journal.steps(actor, runId);
  const began = steps.flatMap((step) => modelOutcomeOf(step)?.from ?? []);
  const run = await deps.journal.get(actor, runId);
  if (!run) throw runErrors.not_found(runId);
  // What an incognito or side message said is gone with its end.
  const isGone = inputOf(run).beside !== undefined && ['done', 'failed', 'cancelled'].includes(run.status);
  const entries = began.length > 0 && !isGone ? await deps.sessions.entries(actor, inputOf(run).sessionId, { after: Math.min(...began), limit: MAX_RESUMED_ENTRIES }) : [];
  // Looked at last: a step that ends from here on is in the topic, and nowhere else.
  const live = await deps.streams.state(runId);
  const willRestart = run.status === 'running' && (live?.seq ?? 0) === 0;
  const attempt = willRestart ? run.attempt + 1 : run.attempt;
  const own = entries.filter((entry) => entry.runId === runId);
  return { missed: missedFrames(run, steps, own, seen, { attempt, live: live?.attempt }), attempt };
}
