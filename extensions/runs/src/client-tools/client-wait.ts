/**
 * The row of a run whose sender runs tools.
 *
 * W1  A run that called tools of its sender waits in the journal, like one that waits for a person: it holds nothing, and survives a restart.
 * W2  Only whoever sent the message may answer its calls. An id of anybody else's call is refused like one that never was.
 * W3  All calls of an answer are answered at once, each once. The same results again are the same answer; other ones are refused.
 * W4  A run that nobody answers in time fails. A new message in its session takes its place, and every call has a result.
 */
import { type JournalRun, type LeasedRun, uuidOfHex } from '@svc/api';
import type { ClientCalls, ClientTurn } from './shapes.js';

export const CLIENT_REASON = 'waits for its sender, who runs the tools';

/** Tokens and model calls of the run. */
export interface Spent {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly iterations: number;
}

/** The calls that were answered last. */
export interface Answered {
  readonly ids: readonly string[];
  /** Hash of the results. */
  readonly hash: string;
}

export interface ClientWait {
  readonly client: ClientCalls;
  /** Id of the frame that told of the calls: what follows it is the next answer. */
  readonly place: string;
  /** Until then. */
  readonly spent: Spent;
  readonly answered?: Answered;
  /** Set by whoever answered the calls. */
  readonly turn?: ClientTurn;
}

/** Undefined for a run that never waited for its sender. */
export const clientWaitOf = ({ wait }: Pick<JournalRun, 'wait'>): ClientWait | undefined => (wait?.reason === CLIENT_REASON ? (wait.data as ClientWait) : undefined);

/** What is asked of its sender now. */
export const openCallsOf = (run: JournalRun): ClientCalls | undefined => (run.status === 'waiting' ? clientWaitOf(run)?.client : undefined);

/** W4. Its time is up, and these are still the calls that it waited for. */
export const isExpired = (run: LeasedRun, callId: string, now: string): boolean => {
  const waited = clientWaitOf(run);
  return waited?.turn === undefined && run.wait?.until != null && run.wait.until <= now && (waited?.client.calls.some(({ id }) => id === callId) ?? false);
};

export const wakeKeyOf = (runId: string): string => `client:${runId}`;

const CALL_ID = /^call_([A-Za-z0-9_-]{22})_[0-9a-z]{1,12}$/;

/** It names its run, so that whoever answers it needs to name nothing else. At most 40 characters, as every provider takes them. */
export const clientCallId = (runId: string, seq: number, index: number): string =>
  `call_${Buffer.from(runId.replaceAll('-', ''), 'hex').toString('base64url')}_${seq.toString(36)}z${index.toString(36)}`;

/** Undefined for an id that is not of this form. */
export function runOfCall(callId: string): string | undefined {
  const [, text] = CALL_ID.exec(callId) ?? [];
  return text === undefined ? undefined : uuidOfHex(Buffer.from(text, 'base64url').toString('hex'));
}

const ONE_OF_ITS_STEP = /^call_[A-Za-z0-9_-]{22}_([0-9a-z]+)z[0-9a-z]+$/;

/** Names the step of the run that made it, which all calls of one answer have in common. Undefined for an id that is not of this form. */
export const stepOfCall = (callId: string): string | undefined => ONE_OF_ITS_STEP.exec(callId)?.[1];
