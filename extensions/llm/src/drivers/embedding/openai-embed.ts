/** Vectors by OpenAI's protocol (https://platform.openai.com/docs/api-reference/embeddings), which local servers speak too. */
import { isTable } from '@svc/api';
import type { DriverTarget } from '../../contract.js';
import { ModelFailure } from '../../call/model-failure.js';
import type { EmbedBatch, Embedded } from '../driver.js';
import { type ExchangeDeps, exchangeJson } from '../exchange.js';
import { OPENAI_CODES } from '../openai-codes.js';
import { tokensIn } from '../token-count.js';

export const openaiEmbed = async (deps: ExchangeDeps, target: DriverTarget, { texts, dimensions }: EmbedBatch, signal: AbortSignal): Promise<Embedded> => {
  const outgoing = {
    url: `${target.baseUrl}/embeddings`,
    headers: { 'content-type': 'application/json' },
    keyHeader: 'authorization',
    keyPrefix: 'Bearer ',
    codes: OPENAI_CODES,
    body: JSON.stringify({ model: target.model, input: texts, ...(dimensions === undefined ? {} : { dimensions }) }),
  };
  const { data, usage } = await exchangeJson(deps, target, outgoing, signal);
  if (!Array.isArray(data)) throw new ModelFailure('garbage', 'the answer contains no embeddings', { httpStatus: 200 });
  const vectors: unknown[] = Array.from({ length: data.length });
  for (const [place, one] of data.entries()) {
    if (!isTable(one)) continue;
    // Without an index they stand in the order of the texts.
    const index = typeof one.index === 'number' ? one.index : place;
    if (index >= 0 && index < vectors.length) vectors[index] = one.embedding;
  }
  return { vectors, inputTokens: tokensIn(isTable(usage) ? usage.prompt_tokens : undefined) };
};
