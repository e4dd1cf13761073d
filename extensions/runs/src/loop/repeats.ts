/**
 * The same request again, from a client that sends by itself.
 *
 * R6  A client's automatic resend attaches to the run it began.
 * R7  At /v1 a failure that a repeat cannot fix is answered again from its row for a minute, to the same caller with the
 *     same request: many clients send again whatever the answer says. Nothing is stored or asked twice, unless somebody
 *     changed a key, a setting or an agent meanwhile.
 */
import type { Actor, Clock, Journal, JournalRun, RunFilter } from '@svc/api';
import { runErrors } from '../errors.js';
import { RUN_KIND } from '../run-input.js';

/** Clients give up resending long before this. */
const RESEND_WINDOW_MS = 900_000;
/** Since the failure or its last repetition. LangChain waits 64 s at most between two tries. */
const REPEAT_WINDOW_MS = 65_000;
/** Since the failure itself: all of LangChain's seven tries, and no longer for a person who asks again and again. */
const REPEATED_AT_MOST_MS = 130_000;
const MAX_LOOKED_AT = 100;
const MAX_FAILURES_LOOKED_AT = 20;
const MAX_REMEMBERED = 500;

export interface Asked {
  readonly among: Pick<RunFilter, 'lane' | 'subject'>;
  readonly fingerprint: string;
  readonly isResend: boolean;
}

export interface Repeats {
  /** The run that answers this request already, if there is one. */
  find(actor: Actor, asked: Asked): Promise<JournalRun | undefined>;
  /** Somebody changed something: what failed before may succeed now. */
  forget(): void;
}

export const createRepeats = (deps: { journal: Pick<Journal, 'list'>; clock: Clock }): Repeats => {
  let fixedAt = deps.clock.now();
  /** When a failure was last repeated, by run, oldest first. */
  const repeated = new Map<string, number>();
  const remember = (runId: string): void => {
    repeated.delete(runId);
    repeated.set(runId, deps.clock.now());
    const [oldest] = repeated.keys();
    if (repeated.size > MAX_REMEMBERED && oldest !== undefined) repeated.delete(oldest);
  };
  const isFresh = (run: JournalRun): boolean => {
    const failedAt = Date.parse(run.updatedAt);
    const now = deps.clock.now();
    return failedAt >= fixedAt && now - failedAt < REPEATED_AT_MOST_MS && now - (repeated.get(run.id) ?? failedAt) < REPEAT_WINDOW_MS;
  };
  return {
    find: async (actor, asked) => {
      const resent = asked.isResend ? await findResent(deps, actor, asked) : undefined;
      if (resent) return resent;
      const failed = await deps.journal.list({ actor, kind: RUN_KIND, ...asked.among, status: ['failed'], limit: MAX_FAILURES_LOOKED_AT });
      const same = failed.find((run) => run.fingerprint === asked.fingerprint && run.error?.retry === false && isFresh(run));
      if (same) remember(same.id);
      return same;
    },
    forget: () => {
      fixedAt = deps.clock.now();
      repeated.clear();
    },
  };
};

/** The newest with the same request, begun not long ago. One that ended because its client was gone is asked anew. */
const findResent = async ({ journal, clock }: { journal: Pick<Journal, 'list'>; clock: Clock }, actor: Actor, { among, fingerprint }: Asked): Promise<JournalRun | undefined> => {
  const recent = await journal.list({ actor, kind: RUN_KIND, ...among, limit: MAX_LOOKED_AT });
  const since = clock.now() - RESEND_WINDOW_MS;
  return recent.find((run) => run.fingerprint === fingerprint && Date.parse(run.createdAt) >= since && run.error?.code !== runErrors.unwatched().code);
};
