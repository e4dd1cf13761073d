/** What a security system reports of itself: the answer of the hook security.report. */
import type { Plain } from './declare/plain.js';
import { OneOf, Type } from './schema/schema.js';

/** `active`: tried, and it holds. `degraded`: a part of it holds. `inactive`: switched off. `failed`: tried, and it does not hold, or could not be tried. */
export const SecurityState = OneOf(['active', 'degraded', 'inactive', 'failed']);
export type SecurityState = Plain<typeof SecurityState>;

export const SecurityFinding = Type.Object({
  name: Type.String({ description: 'As GET /api/security names it' }),
  state: SecurityState,
  detail: Type.Optional(Type.String({ description: 'What was tried and seen, in a sentence' })),
});
export type SecurityFinding = Plain<typeof SecurityFinding>;

/** What one probe saw. */
export interface SecurityLook {
  readonly state: SecurityState;
  readonly detail: string;
}

/** A tap of SecurityReport. `look` tries the real system; if it throws, the system is `failed` for that reason. */
export const securityProbe = (name: string, look: () => SecurityLook | Promise<SecurityLook>) => async (): Promise<SecurityFinding> => {
  try {
    return { name, ...(await look()) };
  } catch (error) {
    return { name, state: 'failed', detail: `The check failed: ${error instanceof Error ? error.message : String(error)}` };
  }
};
