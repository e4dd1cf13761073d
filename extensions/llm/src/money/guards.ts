/** Limits of a call beside those of its agent and of all agents. */
import type { CallContext } from '../contract.js';

export interface CallGuard {
  /** Whether a call has to be asked about here. */
  applies(context: CallContext): boolean;
  /**
   * Of a call whose row is committed. False where only calls on their way are too much: one of them may leave something over.
   * Throws where nothing will.
   */
  fits(context: CallContext, costMicros: number, isLastTry: boolean): Promise<boolean>;
}

/** A call fits where each of them says so. */
export const allOf = (guards: readonly CallGuard[]): CallGuard => ({
  applies: (context) => guards.some((guard) => guard.applies(context)),
  fits: async (context, costMicros, isLastTry) => {
    for (const guard of guards) if (guard.applies(context) && !(await guard.fits(context, costMicros, isLastTry))) return false;
    return true;
  },
});
