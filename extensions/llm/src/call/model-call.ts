/** One model, asked until it answers or asking again is no use. Every attempt is noted. */
import type { Clock, Ids } from '@svc/api';
import { waitBefore } from './backoff.js';
import type { LlmConfig } from '../config.js';
import type { Attempt, DriverEvent, DriverTarget, LeftOut, ModelAnswer, ModelRequest, RetryWait, Usage } from '../contract.js';
import { isPassing, ModelFailure } from './model-failure.js';
import { estimateInput, estimateTokens, tokensOfChars, usageOf } from '../money/pricing.js';
import type { Resolved } from '../resolution.js';
import type { Drivers } from '../drivers/driver.js';
import { transportFailure } from '../drivers/exchange.js';

const MAX_ANSWER_CHARS = 8_000_000;
/** More of what it thought is neither shown nor kept. */
const MAX_THOUGHT_CHARS = 200_000;
/** A deadline that passed twice will pass again; each costs its whole length. */
const MAX_TIMEOUT_RETRIES = 1;

export interface CallDeps {
  drivers: Drivers;
  clock: Clock;
  ids: Ids;
}

export interface ModelCall {
  readonly resolved: Resolved;
  readonly request: ModelRequest;
  readonly config: LlmConfig;
  readonly signal: AbortSignal;
  /** Hears each piece of text as it comes; undefined when nobody listens. */
  readonly onText: ((text: string) => void) | undefined;
  readonly onThought: ((text: string) => void) | undefined;
  /** Hears what the model is asked without, before the first thing that it says. */
  readonly onLeftOut?: ((parameters: readonly LeftOut[]) => void) | undefined;
  /** What the wire cannot hold of the caller's parameters: the request goes without. */
  readonly leftOut: readonly LeftOut[];
  /** Hears why it takes longer. */
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
  readonly hasNextModel: boolean;
  /** Filled with what is tried. */
  readonly attempts: Attempt[];
}

export type CallResult =
  | { readonly ok: true; readonly answer: Said; readonly billed: readonly Usage[] }
  /** `spoken`: somebody has already heard a part of an answer, so no other answer may follow it. */
  | { readonly ok: false; readonly failure: ModelFailure; readonly billed: readonly Usage[]; readonly spoken: boolean };

/** What a model has said so far, or in the end. */
export interface Said {
  text: string;
  thoughts: string;
  /** Letters of all that it thought, kept or not. */
  thoughtChars: number;
  readonly calls: Array<{ id: string; name: string; argsText: string; signature?: string }>;
  stop: ModelAnswer['stop'] | undefined;
  /** What it was asked without, until that was told. */
  leftOut: readonly LeftOut[];
  inputTokens: number | undefined;
  outputTokens: number | undefined;
}

export const callModel = async (deps: CallDeps, call: ModelCall): Promise<CallResult> => {
  const billed: Usage[] = [];
  for (let retry = 1, timeouts = 0; ; retry++) {
    const startedAt = deps.clock.mono();
    const said: Said = { text: '', thoughts: '', thoughtChars: 0, calls: [], stop: undefined, leftOut: call.leftOut, inputTokens: undefined, outputTokens: undefined };
    const failure = await attempt(deps, call, said);
    const latencyMs = Math.round(deps.clock.mono() - startedAt);
    const usage = usageSoFar(call, said, failure === undefined);
    if (usage) billed.push(usage);
    if (!failure) {
      call.attempts.push({ provider: call.resolved.provider, model: call.resolved.model, status: 'ok', latencyMs, waitedMs: 0 });
      return { ok: true, answer: said, billed };
    }
    const spoken = said.text !== '' && call.onText !== undefined;
    if (failure.errorClass === 'timeout') timeouts++;
    const waitMs = spoken ? undefined : waitAfter(failure, { retry, timeouts, random: deps.ids.random(), hasNextModel: call.hasNextModel }, call.config);
    call.attempts.push(failedAttempt(call.resolved, failure, latencyMs, waitMs ?? 0));
    if (waitMs === undefined) return { ok: false, failure, billed, spoken };
    call.onWait?.({ retry, of: call.config.max_retries, ms: Math.round(waitMs), why: failure.errorClass, provider: call.resolved.provider });
    const cancelled = await sleep(deps.clock, waitMs, call.signal);
    if (cancelled) return { ok: false, failure: cancelled, billed, spoken: false };
  }
};

/** Milliseconds until the same model is asked again; undefined when that is no use. */
export const waitAfter = (
  failure: ModelFailure,
  { timeouts, ...input }: { readonly retry: number; readonly timeouts: number; readonly random: number; readonly hasNextModel: boolean },
  config: LlmConfig,
): number | undefined => {
  const mayRetry = isPassing(failure.errorClass) && input.retry <= config.max_retries && timeouts <= MAX_TIMEOUT_RETRIES;
  return mayRetry ? waitBefore({ ...input, hintMs: failure.retryAfterMs }, config) : undefined;
};

export const targetOf = ({ provider, wireModel, record }: Resolved, timeoutMs: number | undefined, config: LlmConfig): DriverTarget => ({
  provider,
  model: wireModel,
  baseUrl: record.base_url,
  ...(record.secret === null ? {} : { secret: record.secret }),
  timeoutMs: timeoutMs ?? config.request_timeout_secs * 1_000,
  idleTimeoutMs: config.idle_timeout_secs * 1_000,
});

export const failedAttempt = (choice: { provider: string; model: string }, failure: ModelFailure, latencyMs: number, waitedMs: number): Attempt => ({
  provider: choice.provider,
  model: choice.model,
  status: 'error',
  errorClass: failure.errorClass,
  message: failure.message,
  ...(failure.httpStatus === undefined ? {} : { httpStatus: failure.httpStatus }),
  latencyMs,
  waitedMs,
});

/** Runs the driver once, filling `said`. Gives what went wrong. */
const attempt = async (deps: CallDeps, call: ModelCall, said: Said): Promise<ModelFailure | undefined> => {
  const { resolved, request, config, signal } = call;
  if (signal.aborted) return new ModelFailure('cancelled', 'the call was cancelled');
  const { record } = resolved;
  const target = targetOf(resolved, request.timeoutMs, config);
  try {
    const driver = deps.drivers(record.wire, record.name);
    await driver.ask(target, request, signal, (event) => take(said, event, call));
  } catch (error) {
    return transportFailure(error, signal);
  }
  if (said.stop === undefined) return new ModelFailure('half_stream', 'the stream ended in the middle of the answer');
  // A cancel between the last event and here still is a cancel: the run it belongs to has ended.
  return signal.aborted ? new ModelFailure('cancelled', 'the call was cancelled') : undefined;
};

const take = (said: Said, event: DriverEvent, { onText, onThought, onLeftOut, leftOut }: Pick<ModelCall, 'onText' | 'onThought' | 'onLeftOut' | 'leftOut'>): void => {
  if (event.type !== 'left_out' && said.leftOut.length > 0) {
    onLeftOut?.(said.leftOut);
    said.leftOut = [];
  }
  switch (event.type) {
    case 'left_out':
      said.leftOut = [...leftOut, ...event.leftOut];
      return;
    case 'text':
      if (said.text.length + event.text.length > MAX_ANSWER_CHARS) throw new ModelFailure('garbage', 'the answer is longer than 8 million letters');
      said.text += event.text;
      onText?.(event.text);
      return;
    case 'thought':
      takeThought(said, event.text, onThought);
      return;
    case 'call':
      said.calls.push({ id: event.id, name: event.name, argsText: event.argsText, ...(event.signature === undefined ? {} : { signature: event.signature }) });
      return;
    case 'usage':
      said.inputTokens = event.inputTokens ?? said.inputTokens;
      said.outputTokens = event.outputTokens ?? said.outputTokens;
      return;
    case 'stop':
      said.stop = event.reason;
  }
};

const takeThought = (said: Said, text: string, onThought: ((text: string) => void) | undefined): void => {
  const kept = text.slice(0, MAX_THOUGHT_CHARS - said.thoughts.length);
  said.thoughtChars += text.length;
  said.thoughts += kept;
  if (kept !== '') onThought?.(kept);
};

/** What is billed: the provider's numbers, else an estimate. A failure without a word or a number costs nothing. */
const usageSoFar = ({ resolved, request }: ModelCall, said: Said, isWhole: boolean): Usage | undefined => {
  const isSilent = said.text === '' && said.thoughtChars === 0 && said.inputTokens === undefined && said.outputTokens === undefined;
  if (isSilent && !isWhole) return undefined;
  const estimated = said.inputTokens === undefined || said.outputTokens === undefined || (!isWhole && (said.text !== '' || said.thoughtChars > 0));
  const inputTokens = said.inputTokens ?? estimateInput(request);
  // In the middle of a stream the provider's count is the one it began with.
  const counted = isWhole ? (said.outputTokens ?? estimateOutput(said)) : Math.max(said.outputTokens ?? 0, estimateOutput(said));
  return usageOf(resolved.price, { inputTokens, outputTokens: counted, estimated });
};

/** What was thought is paid for like what was said. */
const estimateOutput = (said: Said): number => estimateTokens(said.text) + tokensOfChars(said.thoughtChars) + said.calls.reduce((sum, call) => sum + estimateTokens(call.name + call.argsText), 0);

/** What ended the wait before its time. */
export const sleep = async (clock: Clock, ms: number, signal: AbortSignal): Promise<ModelFailure | undefined> => {
  try {
    await clock.sleep(ms, signal);
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return signal.aborted ? new ModelFailure('cancelled', 'the call was cancelled') : undefined;
};
