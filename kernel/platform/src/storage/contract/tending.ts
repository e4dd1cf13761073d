/**
 * Keeps the database file itself nearly current: who copies it without its -wal, or loses the -wal, loses seconds.
 * When something was written after a rest the mark goes up, so that a copy of before is known to be older; when it
 * rests again, and every minute under steady load, all that is committed is brought into the file.
 */
import type { Logger } from '@svc/api';
import type { DatabaseIdentity } from './migrations/identity.js';
import type { WriteQueue } from './write-queue.js';

/** Calls without a write after which the database rests. */
const RESTS_AFTER = 3;
const CHECKPOINT_AT_LATEST = 60;

export interface TendingDeps {
  readonly queue: Pick<WriteQueue, 'exclusive'>;
  readonly identity: DatabaseIdentity;
  /** Takes out of the file what deleted rows left in it; false when it has to look again. */
  forget(): Promise<boolean>;
  /** Brings what is committed into the file; false when a reader still needs what stood before. */
  checkpoint(): Promise<boolean>;
  /** Anything that is another value after each write. */
  activity(): string;
  readonly log: Logger;
}

export interface Tending {
  /** To be called every second. Never rejects: a full disk is tried again. */
  tend(): Promise<void>;
  /** Before the end: a copy made since the last rest is older than what is left here. */
  leave(): Promise<void>;
}

export const createTending = (deps: TendingDeps): Tending => {
  let seen = '';
  /** Undefined until the first checkpoint of this life, which does not wait for a rest: migrations were just applied. */
  let kept: string | undefined;
  let noted: string | undefined;
  let rests = RESTS_AFTER;
  let turns = 0;
  let isForgotten = true;
  let isTroubled = false;

  const note = async (now: string): Promise<void> => {
    if (noted === undefined || noted === kept) await deps.queue.exclusive(() => deps.identity.advance());
    noted = now;
  };
  const look = async (): Promise<void> => {
    if (!(await deps.identity.isSettled())) return;
    const now = deps.activity();
    rests = now === seen ? rests + 1 : Math.min(rests, kept === undefined ? RESTS_AFTER : 0);
    seen = now;
    if (now === kept && isForgotten) return;
    if (now !== kept) await note(now);
    turns += 1;
    if (rests < RESTS_AFTER && turns < CHECKPOINT_AT_LATEST) return;
    const [forgetting] = await Promise.allSettled([deps.forget()]);
    isForgotten = forgetting.status === 'fulfilled' && forgetting.value;
    if (!(await deps.queue.exclusive(deps.checkpoint))) return;
    turns = 0;
    kept = now;
    noted = now;
    if (forgetting.status === 'rejected') throw forgetting.reason;
  };
  const guarded = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
      isTroubled = false;
    } catch (error) {
      if (!isTroubled) deps.log.warn('Database maintenance failed; svc tries again every second.', { error });
      isTroubled = true;
    }
  };
  return {
    tend: () => guarded(look),
    leave: () =>
      guarded(async () => {
        if (deps.identity.problem() === undefined && deps.activity() !== kept) await note(deps.activity());
      }),
  };
};
