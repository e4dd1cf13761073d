/** A model call that a run ended in the middle of: who was asked, what that used, and why it ended stand in its step. */
import { isSvcError, isTable, type StepOutcome, type SvcError } from '@svc/api';
import type { Attempt, Usage } from '@svc/ext-llm/contract';
import type { CutOutcome } from '../run-input.js';
import type { Progress } from './progress.js';

/** Undefined where no call was under way. Counts what was used with the rest of the run. `cause` is what the gateway threw. */
export const cutCall = (progress: Progress | undefined, cause: unknown, error: SvcError): StepOutcome | undefined => {
  if (progress?.calling === undefined) return undefined;
  const { attempts, spent } = reportedBy(cause);
  const last = attempts.at(-1);
  if (last) {
    progress.provider = last.provider;
    progress.model = last.model;
  }
  progress.inputTokens += spent.inputTokens;
  progress.outputTokens += spent.outputTokens;
  progress.costMicros += spent.costMicros;
  const outcome: CutOutcome = { ...spent, ...(last ? { provider: last.provider, model: last.model } : {}), attempts, code: error.code };
  return { seq: progress.calling, status: 'failed', outcome };
};

interface Reported {
  readonly attempts: readonly Attempt[];
  readonly spent: Pick<Usage, 'inputTokens' | 'outputTokens' | 'costMicros'>;
}

/** Put there by the gateway; another error, such as a lost lease, says nothing of the call. */
const reportedBy = (cause: unknown): Reported => {
  const details = isSvcError(cause) && isTable(cause.details) ? (cause.details as Partial<Reported>) : {};
  const { inputTokens = 0, outputTokens = 0, costMicros = 0 } = details.spent ?? {};
  return { attempts: details.attempts ?? [], spent: { inputTokens, outputTokens, costMicros } };
};
