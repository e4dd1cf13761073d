/** What a run does about a database that cannot be used now: it is left for its next life, which goes on from the last stored step. */
import { isSvcError, type LeasedRun, type Streams, type SvcError } from '@svc/api';
import { RunFrames } from '../contract.js';

const NOT_WRITTEN = 'journal_not_written';
/** Somebody was first, which is not for lack of a database. */
const CONFLICT = 'storage_conflict';
/** A run that meets it again and again ends: what it writes may be what the database does not take. */
const MOST_ATTEMPTS = 50;

export const isUnsaved = (error: SvcError): boolean => error.code === NOT_WRITTEN;

/** Whether this is no failure of the run. Who stopped a run wants it to end. */
export const isForRecovery = (run: LeasedRun, error: unknown): error is SvcError =>
  isSvcError(error) && error.retry && error.code !== CONFLICT && (isUnsaved(error) || error.code.startsWith('storage_')) && run.attempt < MOST_ATTEMPTS && !run.signal.aborted;

export const sayError = (streams: Streams, topic: string, error: SvcError): void =>
  streams.publish(RunFrames, topic, 'error', {
    error: error.message,
    code: error.code,
    status: error.status,
    ...(error.hint ? { hint: error.hint } : {}),
    ...retryAfterOf(error),
    ...attemptsOf(error),
  });

const retryAfterOf = (error: SvcError): object => (error.status === 429 && error.headers?.['retry-after'] ? { retry_after_secs: Number(error.headers['retry-after']) } : {});

/** Every attempt shows in the trace of the error as well. */
const attemptsOf = (error: SvcError): object => (error.details && typeof error.details === 'object' && 'attempts' in error.details ? { attempts: error.details.attempts } : {});
