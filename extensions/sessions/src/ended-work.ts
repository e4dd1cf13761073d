/** Work about a session that ends where it fails: the session is as usable as before, and whoever wants it begins it again. */
import { isSvcError, type Journal, type LeasedRun, type Logger } from '@svc/api';

interface EndDeps {
  readonly journal: Pick<Journal, 'advance'>;
  readonly log: Pick<Logger, 'warn'>;
  /** Aborted when this generation has no more time: its work goes on in the next. */
  readonly closing: AbortSignal;
}

interface Failing {
  readonly code: string;
  /** Where the failure has no words for people. */
  readonly message: string;
  /** In the log, where the end itself could not be stored. */
  readonly unstored: string;
  note(cause: unknown): void;
}

export const orEnd = async ({ closing, journal, log }: EndDeps, run: LeasedRun, work: () => Promise<void>, failing: Failing): Promise<void> => {
  try {
    await work();
  } catch (cause) {
    if (closing.aborted) throw cause;
    failing.note(cause);
    const message = isSvcError(cause) ? cause.message : failing.message;
    await journal.advance(run, { finish: { status: 'failed', error: { code: failing.code, message } } }).catch((again: unknown) => log.warn(failing.unstored, { run: run.id, cause: again }));
  }
};
