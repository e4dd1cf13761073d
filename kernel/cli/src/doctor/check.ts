/** One thing that was looked at. The shape is also the wire shape of `doctor --json`. */
import type { DoctorFinding } from '@svc/api';

export interface Check {
  /** Stable name. */
  readonly check: string;
  readonly status: 'pass' | 'warn' | 'fail';
  readonly summary: string;
  /** What fixes it. */
  readonly hint?: string;
}

export const pass = (check: string, summary: string): Check => ({ check, status: 'pass', summary });
export const warn = (check: string, summary: string, hint?: string): Check => ({ check, status: 'warn', summary, ...(hint === undefined ? {} : { hint }) });
export const fail = (check: string, summary: string, hint?: string): Check => ({ check, status: 'fail', summary, ...(hint === undefined ? {} : { hint }) });

/** As the daemon finds it. */
export const fromFinding = ({ check, result, message, fix }: DoctorFinding): Check => ({ check, status: result, summary: message, ...(fix === undefined ? {} : { hint: fix }) });
