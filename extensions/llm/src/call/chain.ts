/**
 * The chain of one call.
 *
 * L1  Each model of the chain is tried once, in order; its own retries are part of that try.
 * L2  Every attempt stands in the answer, or in the error's details.
 * L3  Once a part of an answer was shown, no other follows it, unless the caller can take it back: then it is told to. Half an answer is an error.
 * L4  What a failed attempt used is billed too, and settled before the next attempt is reserved.
 * L6  A request that is longer than the window of its model is not sent: the next model is asked, or the caller is told.
 * L5  All of it ends within the time of a turn: waits that would last longer are not begun.
 */
import { type AtOnce, isSvcError, type SvcError } from '@svc/api';
import type { LlmConfig } from '../config.js';
import type { Attempt, LeftOut, ModelErrorClass, ModelRequest, Parameters, RetryWait, Usage } from '../contract.js';
import { llmErrors } from '../errors.js';
import { estimateInput } from '../money/pricing.js';
import { type CallDeps, callModel, type Discarded, failedAttempt } from './model-call.js';
import { ModelFailure } from './model-failure.js';
import { heldBy } from './parameters.js';
import type { Said } from './said.js';
import type { Choice, Resolved } from '../resolution.js';
import { withOwnState } from './own-state.js';
import { unthought, withRoom } from './thinking.js';

const MAX_MODELS = 10;

export interface ChainDeps extends CallDeps {
  resolve(choice: Choice): AtOnce<Resolved>;
  /** Config's fallbacks, tried after the request's own. */
  fallbacks(): AtOnce<readonly Choice[]>;
  /** Told when a provider refused its key. */
  keyRefused(provider: string): Promise<void>;
  /** Told when a provider refused a request as too long, with its estimate. */
  tooLong(refused: Choice, tokens: number, said: string): void;
  /** Told when a provider answered. */
  keyTaken(provider: string): void;
}

export interface ChainCall {
  readonly request: ModelRequest;
  readonly config: LlmConfig;
  readonly signal: AbortSignal;
  readonly onText: ((text: string) => void) | undefined;
  readonly onThought: ((text: string) => void) | undefined;
  readonly onWasThought?: (() => void) | undefined;
  readonly onLeftOut?: ((parameters: readonly LeftOut[]) => void) | undefined;
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
  readonly onDiscarded?: ((discarded: Discarded) => void) | undefined;
  /** Settles what a failed attempt used, and reserves the next. What it throws ends the call. */
  readonly onBilled?: ((bill: Bill, attempts: readonly Attempt[]) => Promise<void>) | undefined;
}

export interface Bill {
  readonly provider: string;
  readonly model: string;
  readonly usage: Usage;
}

export type ChainResult = { readonly attempts: readonly Attempt[]; readonly bills: readonly Bill[] } & (
  | { readonly ok: true; readonly resolved: Resolved; readonly said: Said }
  | { readonly ok: false; readonly error: SvcError }
);

interface Failed {
  readonly choice: Choice;
  readonly failure: ModelFailure;
  /** Where the model could not even be called. */
  readonly refused?: SvcError;
}

export const runChain = async (deps: ChainDeps, call: ChainCall): Promise<ChainResult> => {
  const chain = await modelsOf(deps, call.request);
  const attempts: Attempt[] = [];
  const bills: Bill[] = [];
  const failed: Failed[] = [];
  const endsAt = deps.clock.mono() + Math.max(call.config.turn_timeout_secs * 1_000, call.request.timeoutMs ?? 0);
  for (const [index, choice] of chain.entries()) {
    const resolved = await tryResolve(deps, choice, call.request);
    if ('refused' in resolved) {
      attempts.push(failedAttempt(choice, resolved.failure, 0, 0));
      failed.push(resolved);
      continue;
    }
    const { kept, leftOut } = checkParameters(resolved, call.request.parameters);
    const request = fitted(call.request, resolved, leftOut.length === 0 ? call.request.parameters : kept);
    const tooLong = longerThanWindow(resolved, request);
    if (tooLong) {
      attempts.push({ ...failedAttempt(resolved, tooLong, 0, 0), skipped: true });
      failed.push({ choice: resolved, failure: tooLong });
      continue;
    }
    const hasNextModel = index < chain.length - 1;
    const billOf = (usage: Usage): Bill => ({ provider: resolved.provider, model: resolved.model, usage });
    const settled: Usage[] = [];
    const onBilled = async (usage: Usage): Promise<void> => {
      settled.push(usage);
      const bill = billOf(usage);
      bills.push(bill);
      await call.onBilled?.(bill, attempts);
    };
    const unasked = [...leftOut, ...unthought(call.request, request, resolved.canThink)];
    const result = await callModel(deps, { ...call, resolved, request, leftOut: unasked, hasNextModel, endsAt, attempts, onBilled });
    const unsettled = result.billed.filter((usage) => !settled.includes(usage)).map(billOf);
    bills.push(...unsettled);
    if (result.ok) {
      deps.keyTaken(resolved.provider);
      return { ok: true, resolved, said: result.answer, attempts, bills };
    }
    failed.push({ choice: resolved, failure: result.failure });
    if (result.failure.errorClass === 'context_too_long') deps.tooLong(resolved, estimateInput(request), result.failure.message);
    if (result.failure.errorClass === 'auth') await deps.keyRefused(resolved.provider);
    const mayGoOn = result.failure.errorClass !== 'cancelled' && hasNextModel && deps.clock.mono() < endsAt && (!result.spoken || call.onDiscarded !== undefined);
    if (!mayGoOn) break;
    if (result.spoken) call.onDiscarded?.({ why: result.failure.errorClass, provider: resolved.provider });
    for (const bill of unsettled) await call.onBilled?.(bill, attempts);
  }
  return { ok: false, error: chainError(failed, attempts), attempts, bills };
};

/** L1: the same model twice in a chain is asked once. */
const modelsOf = async (deps: ChainDeps, request: ModelRequest): Promise<Choice[]> => {
  const seen = new Set<string>();
  return [{ provider: request.provider, model: request.model }, ...request.fallbacks, ...(await deps.fallbacks())].filter(({ provider, model }) => {
    const key = `${provider}\n${model}`;
    if (seen.has(key) || seen.size >= MAX_MODELS) return false;
    seen.add(key);
    return true;
  });
};

const tryResolve = async (deps: ChainDeps, choice: Choice, request: ModelRequest): Promise<Resolved | (Failed & { refused: SvcError })> => {
  try {
    const resolved = await deps.resolve(choice);
    checkParameters(resolved, request.parameters);
    return resolved;
  } catch (error) {
    if (!isSvcError(error)) throw error;
    const errorClass: ModelErrorClass = error.code.startsWith('llm_provider_key') ? 'auth' : error.code === 'llm_model_not_found' ? 'model_not_found' : 'bad_request';
    return { choice, failure: new ModelFailure(errorClass, error.message), refused: error };
  }
};

/** What the wire holds of these. Throws `llm_parameter_unsupported`. */
export const checkParameters = ({ record, provider, model }: Resolved, asked: Parameters | undefined): { kept: Parameters | undefined; leftOut: readonly LeftOut[] } => {
  const held = heldBy(record.wire, asked);
  if (held.refused) throw llmErrors.parameter_unsupported(held.refused.parameter, provider, model, held.refused.why);
  return held;
};

/** A model is never asked for more than it can give: some refuse the whole request for that. */
const fitted = ({ parameters: _asked, ...request }: ModelRequest, { info, canThink, provider, model }: Resolved, parameters: Parameters | undefined): ModelRequest =>
  withRoom({ ...request, messages: withOwnState(request.messages, { provider, model }), ...(parameters ? { parameters } : {}) }, { canThink, maxOutputTokens: info?.max_output_tokens });

/** Of the estimate: texts have more or fewer letters to a token, and what may yet fit is asked. */
const WINDOW_MARGIN = 1.25;

/** A request that no model of this window can read is not sent. Of a model that the catalog does not know, the provider decides. */
const longerThanWindow = ({ info }: Resolved, request: ModelRequest): ModelFailure | undefined => {
  if (info === undefined) return undefined;
  const tokens = estimateInput(request);
  if (tokens <= info.context_window * WINDOW_MARGIN) return undefined;
  return new ModelFailure('context_too_long', `not called, because the request has about ${tokens} tokens and the model reads ${info.context_window}`);
};

const FACTORY: Readonly<Record<ModelErrorClass, (provider: string, model: string, said: string) => SvcError>> = {
  auth: llmErrors.provider_auth,
  credit: llmErrors.provider_credit,
  rate_limit: llmErrors.provider_rate_limited,
  overloaded: llmErrors.provider_overloaded,
  model_not_found: llmErrors.provider_model_missing,
  context_too_long: llmErrors.context_too_long,
  content: llmErrors.content_refused,
  bad_request: llmErrors.provider_rejected,
  timeout: llmErrors.provider_timeout,
  network: llmErrors.provider_unreachable,
  server: llmErrors.provider_failed,
  half_stream: llmErrors.half_stream,
  garbage: llmErrors.provider_garbage,
  cancelled: llmErrors.cancelled,
};

export const chainError = (failed: readonly Failed[], attempts: readonly Attempt[]): SvcError => {
  const last = failed.at(-1);
  const details = { attempts };
  if (!last || last.failure.errorClass === 'cancelled') return llmErrors.cancelled().with({ details });
  const headers = last.failure.retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(last.failure.retryAfterMs / 1_000)) };
  const first = failed[0];
  if (failed.length === 1 && first) return one(first).with({ details, headers, cause: first.failure });
  const tried = failed.map((one) => `${one.choice.provider}/${one.choice.model}: ${one.failure.message}`).join(' · ');
  // Where each of them refused, asking them all again is no use either.
  const retry = failed.some((each) => one(each).retry);
  return llmErrors.all_models_failed(failed.length, tried).with({ retry, details, headers, cause: last.failure });
};

const one = ({ choice: { provider, model }, failure, refused }: Failed): SvcError => {
  if (refused) return refused;
  return failure.parameter === undefined ? FACTORY[failure.errorClass](provider, model, failure.message) : llmErrors.parameter_unsupported(failure.parameter, provider, model, failure.message);
};
