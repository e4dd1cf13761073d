/** When a failed step is tried again. */
import type { Step } from './contract.js';

const SECOND_MS = 1_000;
const MAX_MS = 60_000;

/** ISO 8601. `attempt` counts from 1; `random` is a byte. */
export const retryAt = ({ retry }: Step, attempt: number, now: number, random: number): string => {
  const base = Math.min(MAX_MS, (retry.backoff_ms ?? SECOND_MS) * 2 ** (attempt - 1));
  const jitter = ((retry.jitter_pct ?? 0) / 100) * base * (random / 127.5 - 1);
  return new Date(now + Math.max(0, base + jitter)).toISOString();
};
