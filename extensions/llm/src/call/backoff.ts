/** How long to wait before a model is asked again. */
import type { LlmConfig } from '../config.js';

/** A provider that hints at more than this is left for the next model of the chain, where there is one. */
export const LONG_HINT_MS = 10_000;

export interface WaitInput {
  /** 1 before the first retry. */
  readonly retry: number;
  readonly hintMs: number | undefined;
  /** In [0, 1). */
  readonly random: number;
  readonly hasNextModel: boolean;
}

/**
 * Milliseconds to wait, or undefined when waiting is no use: base·2^(n−1), capped, half of it either way left to
 * chance so that callers who failed together do not come back together, and never less than the provider asked for.
 */
export const waitBefore = ({ retry, hintMs, random, hasNextModel }: WaitInput, config: LlmConfig): number | undefined => {
  if (hintMs !== undefined && (hintMs > config.max_wait_ms || (hasNextModel && hintMs > LONG_HINT_MS))) return undefined;
  const exponential = Math.min(config.retry_base_ms * 2 ** (retry - 1), config.max_wait_ms);
  return Math.round(Math.max(exponential * (0.5 + random), hintMs ?? 0));
};
