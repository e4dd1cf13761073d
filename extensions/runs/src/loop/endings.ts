/**
 * The ends of runs that are not driven here: cancelled in the queue or in a wait, ended by another process, or over long ago.
 *
 * E1  The row of a run says how it ended. Whoever follows its topic here is given that end, whichever process wrote it.
 * E2  Another process sends its frames and the final one itself; only when they stay away is the end said from the row.
 *     Whoever was given only a part of a run is hung up on then, comes back, and is given the rest from the rows.
 * E3  The event `run.ended` can be lost on its way from another process: what is followed here is looked for every few seconds.
 */
import type { Actors, Journal, JournalRun, Logger, RunError, Streams, SvcError } from '@svc/api';
import { RunFrames, type RunResult } from '../contract.js';
import { runErrors } from '../errors.js';
import { reachedBy } from '../frames/frames.js';
import { answerOf } from '../run-input.js';

export interface EndingDeps {
  readonly journal: Pick<Journal, 'get' | 'steps'>;
  readonly streams: Streams;
  readonly actors: Actors;
}

const OVER: ReadonlySet<string> = new Set(['done', 'failed', 'cancelled']);
/** How long the frames of another process have to arrive after its run ended. */
const GRACE_MS = 1_000;
export const POLL_EVERY_MS = 3_000;

export const isOver = (run: Pick<JournalRun, 'status'>): boolean => OVER.has(run.status);

export const toRunError = ({ code, message, status, retry, hint }: SvcError): RunError => ({ code, message, status, retry, ...(hint === undefined ? {} : { hint }) });

export const publishDone = ({ streams }: Pick<EndingDeps, 'streams'>, topic: string, result: RunResult): void =>
  streams.publish(RunFrames, topic, 'done', { done: true, usage: { input_tokens: result.input_tokens, output_tokens: result.output_tokens }, result });

const publishError = ({ streams }: Pick<EndingDeps, 'streams'>, topic: string, { message, code, status = 500, hint }: RunError): void =>
  streams.publish(RunFrames, topic, 'error', { error: message, code, status, ...(hint === undefined ? {} : { hint }) });

/** Ends the topic of a run that nobody drives any more, where it is known here. */
export async function sayEnd(deps: EndingDeps, run: JournalRun, error: SvcError): Promise<void> {
  if (await takeOver(deps, run)) publishError(deps, run.id, toRunError(error));
}

/** The same, of a run whose row says how it ended. A topic that is not known here is begun. */
export async function sayEndOf(deps: EndingDeps, run: JournalRun): Promise<void> {
  if (!deps.streams.here(run.id)) deps.streams.open(RunFrames, run.id, { attempt: 0 });
  if (!(await takeOver(deps, run))) return;
  const result = answerOf(run);
  if (result) publishDone(deps, run.id, result);
  // Rows of an older daemon know no status.
  else publishError(deps, run.id, run.error ?? toRunError(runErrors.internal()));
}

/** Makes the topic one that is written here. False when there is none, or it has ended. */
async function takeOver({ journal, streams, actors }: EndingDeps, run: JournalRun): Promise<boolean> {
  const here = streams.here(run.id);
  if (!here || here.ended || here.own) return here?.ended === false;
  const reached = reachedBy(await journal.steps(actors.system('endings'), run.id));
  // The rest may have come meanwhile.
  const now = streams.here(run.id);
  if (!now || now.ended) return false;
  streams.open(RunFrames, run.id, { attempt: now.attempt + 1, ...(reached ? { reached } : {}) });
  return true;
}

export interface EndKeeperDeps extends EndingDeps {
  readonly log: Logger;
  /** Whether this generation drives the run: then it says the end itself. */
  isDriven(runId: string): boolean;
  later(ms: number, fn: () => Promise<void>): void;
}

export interface EndKeeper {
  /** Some process says that the run has ended. */
  ended(runId: string): Promise<void>;
  /** Looks at whatever is followed here and driven elsewhere, or by nobody. */
  look(): Promise<void>;
}

export const createEndKeeper = (deps: EndKeeperDeps): EndKeeper => {
  const lookAt = async (runId: string): Promise<void> => {
    if (deps.isDriven(runId)) return;
    const run = await deps.journal.get(deps.actors.system('endings'), runId);
    if (run && isOver(run) && !deps.isDriven(runId)) await sayEndOf(deps, run);
  };
  const safely = (runId: string): Promise<void> => lookAt(runId).catch((error: unknown) => deps.log.warn('the outcome of a run could not be read; svc tries again', { run: runId, error }));
  return {
    ended: async (runId) => {
      const here = deps.streams.here(runId);
      if (!here || here.ended) return;
      if (here.own) await safely(runId);
      else deps.later(GRACE_MS, () => safely(runId));
    },
    look: async () => {
      for (const runId of deps.streams.watched()) await safely(runId);
    },
  };
};
