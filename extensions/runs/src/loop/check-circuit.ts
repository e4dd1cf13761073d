/**
 * How often a check of a tool call that could not be made is asked again.
 *
 * C1  A check that fails refuses the call, whatever else is so.
 * C2  The first time it is asked again for some 13 s: its area may be stopping, or cannot read the database now.
 * C3  Once it failed for all that time, each further call of the tool asks once, until one is answered; calls of other tools
 *     ask for a second and a half. `svc doctor` and the refusal say since when.
 */
import type { Clock, DoctorFinding } from '@svc/api';
import type { CallDecision } from '@svc/ext-tools/contract';

const FIRST_WAIT_MS = 100;
const LAST_WAIT_MS = 6_400;
const LAST_WAIT_OF_OTHERS_MS = 800;
/** Tools that are named in one finding. */
const MAX_NAMED = 5;
const COULD_NOT = 'hook_failed';

export interface CheckCircuit {
  /** `ask` decides about one call of the tool. Rejects where `signal` is aborted meanwhile. */
  decide(tool: string, ask: () => Promise<CallDecision>, isLeaving: () => boolean, signal: AbortSignal): Promise<CallDecision>;
  findings(): DoctorFinding[];
}

export const createCheckCircuit = (clock: Clock): CheckCircuit => {
  /** Tools whose checks failed for good, with the time. As many as there are tools at most. */
  const open = new Map<string, string>();
  const lastWaitMs = (tool: string): number => (open.has(tool) ? 0 : open.size > 0 ? LAST_WAIT_OF_OTHERS_MS : LAST_WAIT_MS);
  return {
    async decide(tool, ask, isLeaving, signal) {
      for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
        const decision = await ask();
        if (decision.code !== COULD_NOT) {
          open.delete(tool);
          return decision;
        }
        if (isLeaving()) return decision;
        if (waitMs > lastWaitMs(tool)) {
          const since = open.get(tool) ?? clock.iso();
          open.set(tool, since);
          return { ...decision, reason: `${decision.reason ?? 'The check could not be made.'} Checks of this tool have failed since ${since}.` };
        }
        await clock.sleep(waitMs, signal);
      }
    },
    findings: () => {
      if (open.size === 0) return [{ check: 'ToolCheckCircuit', result: 'pass', message: 'Tool calls can be checked.' }];
      const named = [...open].slice(0, MAX_NAMED).map(([tool, since]) => `${tool} (since ${since})`);
      const more = open.size > MAX_NAMED ? ` and ${open.size - MAX_NAMED} more` : '';
      return [{ check: 'ToolCheckCircuit', result: 'fail', message: `Tool calls are refused because their checks fail: ${named.join(', ')}${more}.`, fix: 'svc logs' }];
    },
  };
};
