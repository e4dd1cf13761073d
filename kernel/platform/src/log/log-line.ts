/** What one line of the log is. */
import type { Plain } from './fields.js';

export const LEVELS = ['trace', 'debug', 'info', 'warn', 'error'] as const;

export type LogLevel = (typeof LEVELS)[number];

export interface LogLine {
  /** Grows by one per line of this process. */
  readonly seq: number;
  readonly timestamp: string;
  readonly level: LogLevel;
  /** The area that speaks. */
  readonly target: string;
  readonly message: string;
  readonly ext?: string;
  readonly generation?: number;
  readonly request_id?: string;
  readonly fields: Readonly<Record<string, Plain>>;
}
