/**
 * Vectors of texts.
 *
 * V1  One model makes them all. There is no fallback: vectors of two models cannot be compared.
 * V2  There is one for each text, in their order, all of one length and of finite numbers; anything else is an error.
 * V3  What they cost is reserved before and charged after, to the agent's ledger, as of any call; what a failed one used is charged too.
 * V4  Texts, batches and answers are bounded.
 */
import type { Clock, Ids } from '@svc/api';
import { admit } from '../call/admission.js';
import { failedAttempt, named, targetOf, waitAfter } from '../call/model-call.js';
import { ModelFailure } from '../call/model-failure.js';
import { sleep } from '../call/sleep.js';
import type { LlmConfig } from '../config.js';
import type { Attempt, EmbedRequest } from '../contract.js';
import type { Driver, Embedded } from '../drivers/driver.js';
import { transportFailure } from '../drivers/exchange.js';
import { llmErrors } from '../errors.js';
import type { Health } from '../health/health.js';
import type { KeyOrder } from '../health/keys.js';
import { estimateTokens } from '../money/pricing.js';
import type { Resolved } from '../resolution.js';
import { batchesOf } from './batches.js';

const MAX_TEXTS = 1_024;
const MAX_CHARS = 2_000_000;
const MAX_DIMENSIONS = 16_384;

export interface EmbeddingDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly health: Health;
  readonly keys: KeyOrder;
}

export interface EmbeddingCall {
  readonly resolved: Resolved;
  readonly embed: NonNullable<Driver['embed']>;
  readonly request: EmbedRequest;
  readonly config: LlmConfig;
  readonly signal: AbortSignal;
}

export interface EmbeddingResult {
  readonly vectors: number[][];
  substitute: string | undefined;
  readonly attempts: Attempt[];
  inputTokens: number;
  /** Whether some of the tokens were counted from the texts. */
  estimated: boolean;
  failure: ModelFailure | undefined;
}

/** Throws `llm_embed_invalid`. */
export const checkTexts = ({ texts, dimensions }: EmbedRequest): void => {
  if (texts.length === 0 || texts.length > MAX_TEXTS) throw llmErrors.embed_invalid(`there are ${texts.length}, and 1 to ${MAX_TEXTS} are taken at once`);
  const empty = texts.findIndex((text) => text.trim() === '');
  if (empty >= 0) throw llmErrors.embed_invalid(`number ${empty} is empty`);
  const chars = texts.reduce((sum, text) => sum + text.length, 0);
  if (chars > MAX_CHARS) throw llmErrors.embed_invalid(`they have ${chars} characters, and ${MAX_CHARS} are taken at once`);
  if (dimensions !== undefined && (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > MAX_DIMENSIONS)) {
    throw llmErrors.embed_invalid(`a vector has 1 to ${MAX_DIMENSIONS} dimensions`);
  }
};

/** One batch after the other, until one fails. */
export const embedAll = async (deps: EmbeddingDeps, call: EmbeddingCall): Promise<EmbeddingResult> => {
  const result: EmbeddingResult = { vectors: [], attempts: [], substitute: undefined, inputTokens: 0, estimated: false, failure: undefined };
  for (const texts of batchesOf(call.request.texts, call.resolved)) {
    const batch = await embedBatch(deps, call, texts, result.attempts);
    if (batch instanceof ModelFailure) return { ...result, failure: batch };
    result.inputTokens += batch.inputTokens ?? texts.reduce((sum, text) => sum + estimateTokens(text), 0);
    result.estimated ||= batch.inputTokens === undefined;
    result.substitute = batch.substitute;
    try {
      result.vectors.push(...vectorsIn(batch, texts.length, result.vectors[0]?.length));
    } catch (error) {
      return { ...result, failure: transportFailure(error, call.signal) };
    }
  }
  return result;
};

const embedBatch = async (deps: EmbeddingDeps, { resolved, embed, request, config, signal }: EmbeddingCall, texts: readonly string[], attempts: Attempt[]): Promise<Embedded | ModelFailure> => {
  const { dimensions, use } = request;
  const batch = { texts: [...texts], ...(dimensions === undefined ? {} : { dimensions }), ...(use === undefined ? {} : { use }) };
  const { provider, model } = resolved;
  const keys = deps.keys.of(resolved.record);
  const endsAt = deps.clock.mono() + config.turn_timeout_secs * 1_000;
  for (let retry = 1, timeouts = 0; ; retry++) {
    const admission = await admit(deps, { provider, model, keys, hasNextModel: false, config, signal, endsAt });
    if (admission.key === undefined) {
      attempts.push({ ...failedAttempt(resolved, admission.failure, 0, 0), skipped: true });
      return admission.failure;
    }
    const { key } = admission;
    const place = { provider, model, key: key.name };
    const startedAt = deps.clock.mono();
    const embedded = await once(() => embed(targetOf(resolved, request.timeoutMs, config, key), batch, signal), signal);
    const latencyMs = Math.round(deps.clock.mono() - startedAt);
    deps.keys.used(provider, key.name);
    if (!(embedded instanceof ModelFailure)) {
      deps.health.answered(place);
      attempts.push({ provider, model, status: 'ok', ...named(key), latencyMs, waitedMs: 0 });
      return embedded;
    }
    if (embedded.errorClass === 'timeout') timeouts++;
    const waitMs = waitAfter(embedded, { retry, timeouts, random: deps.ids.random(), hasNextModel: false }, config);
    deps.health.failed(place, embedded, waitMs, config);
    attempts.push({ ...failedAttempt(resolved, embedded, latencyMs, waitMs ?? 0), ...named(key) });
    if (waitMs === undefined) return embedded;
    const cancelled = await sleep(deps.clock, waitMs, signal);
    if (cancelled) return cancelled;
  }
};

const once = async (ask: () => Promise<Embedded>, signal: AbortSignal): Promise<Embedded | ModelFailure> => {
  if (signal.aborted) return new ModelFailure('cancelled', 'the call was cancelled');
  try {
    return await ask();
  } catch (error) {
    return transportFailure(error, signal);
  }
};

/** V2. */
const vectorsIn = ({ vectors }: Embedded, count: number, length: number | undefined): number[][] => {
  const garbage = (what: string): ModelFailure => new ModelFailure('garbage', what, { httpStatus: 200 });
  if (vectors.length !== count) throw garbage(`the answer has ${vectors.length} vectors for ${count} texts`);
  let wanted = length;
  return vectors.map((vector) => {
    if (!isVector(vector)) throw garbage('the answer contains an invalid vector');
    wanted ??= vector.length;
    if (vector.length !== wanted) throw garbage('the vectors of the answer are not of one length');
    return vector;
  });
};

const isVector = (value: unknown): value is number[] => Array.isArray(value) && value.length > 0 && value.length <= MAX_DIMENSIONS && value.every((one) => Number.isFinite(one));
