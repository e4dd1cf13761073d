import type { Clock } from '@svc/api';
import { ModelFailure } from './model-failure.js';

/** What ended the wait before its time. */
export const sleep = async (clock: Clock, ms: number, signal: AbortSignal): Promise<ModelFailure | undefined> => {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return signal.aborted ? new ModelFailure('cancelled', 'the call was cancelled') : undefined;
};
