/** Vectors by the Gemini protocol (https://ai.google.dev/api/embeddings#method:-models.batchembedcontents). */
import { isTable } from '@svc/api';
import type { DriverTarget } from '../../contract.js';
import { ModelFailure } from '../../call/model-failure.js';
import type { EmbedBatch, Embedded } from '../driver.js';
import { type ExchangeDeps, exchangeJson } from '../exchange.js';
import { tokensIn } from '../token-count.js';
import { KEY_HEADER, modelUrl, resourceOf } from './address.js';
import { GEMINI_CODES } from './gemini-codes.js';

const TASKS = { document: 'RETRIEVAL_DOCUMENT', query: 'RETRIEVAL_QUERY' } as const;

export const geminiEmbed = async (deps: ExchangeDeps, target: DriverTarget, { texts, dimensions, use }: EmbedBatch, signal: AbortSignal): Promise<Embedded> => {
  const each = {
    model: resourceOf(target.model),
    ...(use === undefined ? {} : { taskType: TASKS[use] }),
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  };
  const requests = texts.map((text) => ({ ...each, content: { parts: [{ text }] } }));
  const outgoing = { url: `${modelUrl(target)}:batchEmbedContents`, headers: { 'content-type': 'application/json' }, keyHeader: KEY_HEADER, codes: GEMINI_CODES, body: JSON.stringify({ requests }) };
  const { embeddings, usageMetadata } = await exchangeJson(deps, target, outgoing, signal);
  if (!Array.isArray(embeddings)) throw new ModelFailure('garbage', 'the answer contains no embeddings', { httpStatus: 200 });
  return { vectors: embeddings.map((one: unknown) => (isTable(one) ? one.values : undefined)), inputTokens: tokensIn(isTable(usageMetadata) ? usageMetadata.promptTokenCount : undefined) };
};
