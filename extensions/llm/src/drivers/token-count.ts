/** Tokens as a provider counts them. What is no count (text, a negative number, a fraction, one that no model reaches) is not believed: the gateway estimates instead. */
const MAX_TOKENS = 100_000_000;

export const tokensIn = (value: unknown): number | undefined => (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= MAX_TOKENS ? value : undefined);

/** The sum of parts; unknown where the first is, or where one that was sent is no count. Parts that were not sent are none. */
export const tokensOfParts = (first: unknown, ...others: readonly unknown[]): number | undefined => {
  let sum = tokensIn(first);
  for (const other of others) {
    if (other === undefined || other === null) continue;
    const count = tokensIn(other);
    sum = sum === undefined || count === undefined ? undefined : sum + count;
  }
  return sum;
};

export interface CacheCounts {
  /** As the provider says them: what is no count is left out. */
  readonly read?: unknown;
  readonly write?: unknown;
}

export interface UsageEvent {
  readonly type: 'usage';
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
}

/** Members of a usage event: only what is known stands in it. Tokens of a cache are among those of the input. */
export const usageEvent = (inputTokens: number | undefined, outputTokens: number | undefined, { read, write }: CacheCounts = {}): UsageEvent => ({
  type: 'usage',
  ...cacheCount('cacheReadTokens', read),
  ...cacheCount('cacheWriteTokens', write),
  ...(inputTokens === undefined ? {} : { inputTokens }),
  ...(outputTokens === undefined ? {} : { outputTokens }),
});

const cacheCount = (name: 'cacheReadTokens' | 'cacheWriteTokens', value: unknown): Partial<UsageEvent> => {
  const count = tokensIn(value);
  return count === undefined ? {} : { [name]: count };
};

/** The higher of two counts; what is no count changes nothing. */
export const higher = (known: number | undefined, value: unknown): number | undefined => {
  const count = tokensIn(value);
  return count === undefined || (known !== undefined && known >= count) ? known : count;
};
