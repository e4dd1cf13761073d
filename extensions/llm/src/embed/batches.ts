/** Texts in batches, as providers take them. Each batch is small enough that reading its vectors holds nobody up. */
import type { Resolved } from '../resolution.js';

interface BatchLimit {
  readonly texts: number;
  /** Of all texts of a batch; one that is longer goes alone, and its provider says what it thinks of it. */
  readonly tokens: number;
}

const USUAL: BatchLimit = { texts: 64, tokens: 50_000 };
/** Where less is taken, by provider. OpenAI (2,048 texts of 300,000 tokens) and Gemini (100 texts) take more than the usual batch. */
const LIMITS: Readonly<Record<string, BatchLimit>> = {
  mistral: { texts: 64, tokens: 16_000 },
  builtin: { texts: 64, tokens: 20_000 },
};
/** No common text has more tokens than a third of its UTF-8 bytes. */
const BYTES_PER_TOKEN = 3;

export const ceilingOf = (text: string): number => Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);

export const batchesOf = (texts: readonly string[], { provider }: Pick<Resolved, 'provider'>): string[][] => {
  const limit = LIMITS[provider] ?? USUAL;
  const batches: string[][] = [];
  let batch: string[] = [];
  let tokens = 0;
  for (const text of texts) {
    const size = ceilingOf(text);
    if (batch.length > 0 && (batch.length >= limit.texts || tokens + size > limit.tokens)) {
      batches.push(batch);
      batch = [];
      tokens = 0;
    }
    batch.push(text);
    tokens += size;
  }
  return batch.length === 0 ? batches : [...batches, batch];
};
