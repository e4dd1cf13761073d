/**
 * Whether an agent may dream.
 *
 * G1  An agent dreams once within its hours. One that failed is tried again after an hour, three times a day at most; one that a person stopped is not.
 * G2  A person who asks for a dream skips hours and conversations, and neither the consent of the agent nor a dream under way.
 */
import type { Agent } from '@svc/ext-agents/contract';
import type { AutoDreamConfig } from './config.js';
import type { DreamRow } from './tables.js';

const HOUR_MS = 3_600_000;
const MAX_FAILURES_A_DAY = 3;

export interface Gates {
  readonly minHours: number;
  readonly minSessions: number;
}

export const gatesOf = ({ manifest }: Pick<Agent, 'manifest'>, config: AutoDreamConfig): Gates => ({
  minHours: manifest.auto_dream_min_hours ?? config.min_hours,
  minSessions: manifest.auto_dream_min_sessions ?? config.min_sessions,
});

/** Milliseconds since the epoch; undefined for an agent that never dreamt. */
export const nextAt = (row: DreamRow | undefined, { minHours }: Gates): number | undefined => {
  if (!row) return undefined;
  const regular = Date.parse(row.started_at) + minHours * HOUR_MS;
  if (row.status !== 'failed') return regular;
  const again = Date.parse(row.ended_at ?? row.started_at) + HOUR_MS;
  if (row.failures < MAX_FAILURES_A_DAY) return again;
  const tomorrow = Date.parse(`${row.failed_on ?? row.started_at.slice(0, 10)}T00:00:00.000Z`) + 24 * HOUR_MS;
  return Math.max(again, tomorrow);
};

/** Failures counted for today, with one more. */
export const failedAgain = (row: DreamRow, now: number): Pick<DreamRow, 'failures' | 'failed_on'> => {
  const today = new Date(now).toISOString().slice(0, 10);
  return { failures: row.failed_on === today ? row.failures + 1 : 1, failed_on: today };
};
