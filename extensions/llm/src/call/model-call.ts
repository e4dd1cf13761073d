/** One model, asked until it answers or asking again is no use. Every attempt is noted. */
import type { Clock, Ids } from '@svc/api';
import { waitBefore } from './backoff.js';
import type { LlmConfig } from '../config.js';
import type { Attempt, DriverTarget, ModelErrorClass, ModelRequest, RetryWait, Usage } from '../contract.js';
import { type Health, isOfKey, type Place } from '../health/health.js';
import type { KeyOrder, NamedKey } from '../health/keys.js';
import type { Resolved } from '../resolution.js';
import type { Drivers } from '../drivers/driver.js';
import { transportFailure } from '../drivers/exchange.js';
import { admit } from './admission.js';
import { isPassing, ModelFailure } from './model-failure.js';
import { type Listener, nothingSaid, type Said, take, usageSoFar } from './said.js';
import { sleep } from './sleep.js';

/** A deadline that passed twice will pass again; each costs its whole length. */
const MAX_TIMEOUT_RETRIES = 1;

export interface CallDeps {
  drivers: Drivers;
  clock: Clock;
  ids: Ids;
  health: Health;
  keys: KeyOrder;
}

export interface ModelCall extends Listener {
  readonly resolved: Resolved;
  readonly request: ModelRequest;
  readonly config: LlmConfig;
  readonly signal: AbortSignal;
  /** When the whole answer has to be there, on the monotonic clock. */
  readonly endsAt: number;
  /** Receives why it takes longer. */
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
  /** Takes back the text so far, before the model is called again. Undefined where nobody can: then half an answer is an error. */
  readonly onDiscarded?: ((discarded: Discarded) => void) | undefined;
  /** A failed attempt used this, and another one follows: it is settled and the next one reserved. What it throws ends the call. */
  readonly onBilled?: ((usage: Usage) => Promise<void>) | undefined;
  readonly hasNextModel: boolean;
  /** Filled with what is tried. */
  readonly attempts: Attempt[];
}

export interface Discarded {
  readonly why: ModelErrorClass;
  readonly provider: string;
}

export type CallResult =
  | { readonly ok: true; readonly answer: Said; readonly billed: readonly Usage[] }
  /** `spoken`: a part of an answer was shown; another may follow only where that can be taken back. */
  | { readonly ok: false; readonly failure: ModelFailure; readonly billed: readonly Usage[]; readonly spoken: boolean };

export const callModel = async (deps: CallDeps, call: ModelCall): Promise<CallResult> => {
  const { resolved, config, attempts } = call;
  const keys = deps.keys.of(resolved.record);
  const billed: Usage[] = [];
  for (let retry = 1, timeouts = 0, rotations = 0; ; ) {
    const admitted = admit(deps, { ...call, provider: resolved.provider, model: resolved.model, keys });
    const admission = admitted instanceof Promise ? await admitted : admitted;
    if (admission.key === undefined) {
      if (admission.failure.errorClass !== 'cancelled') attempts.push({ ...failedAttempt(resolved, admission.failure, 0, 0), skipped: true });
      return { ok: false, failure: admission.failure, billed, spoken: false };
    }
    const { key } = admission;
    const place = { provider: resolved.provider, model: resolved.model, key: key.name };
    const startedAt = deps.clock.mono();
    const said = nothingSaid(call.leftOut);
    const failure = await attempt(deps, call, said, key);
    const latencyMs = Math.round(deps.clock.mono() - startedAt);
    const usage = usageSoFar(call, said, failure === undefined || failure.isOfAnswer);
    if (usage) billed.push(usage);
    deps.keys.used(place.provider, place.key);
    if (!failure) {
      deps.health.answered(place);
      attempts.push({ provider: resolved.provider, model: resolved.model, status: 'ok', ...named(key), latencyMs, waitedMs: 0 });
      return { ok: true, answer: said, billed };
    }
    const spoken = said.text !== '' && call.onText !== undefined;
    if (failure.errorClass === 'timeout') timeouts++;
    const { waitMs, isOther } = nextTry(deps, call, keys, place, failure, { retry, timeouts, rotations });
    const goesOn = waitMs !== undefined && (!spoken || call.onDiscarded !== undefined) && waitMs < call.endsAt - deps.clock.mono();
    attempts.push({ ...failedAttempt(resolved, failure, latencyMs, goesOn ? waitMs : 0), ...named(key) });
    if (!goesOn) return { ok: false, failure, billed, spoken };
    if (spoken) call.onDiscarded?.({ why: failure.errorClass, provider: resolved.provider });
    if (usage) await call.onBilled?.(usage);
    if (isOther) rotations++;
    else {
      call.onWait?.({ retry, of: config.max_retries, ms: Math.round(waitMs), why: failure.errorClass, provider: resolved.provider });
      const cancelled = await sleep(deps.clock, waitMs, call.signal);
      if (cancelled) return { ok: false, failure: cancelled, billed, spoken: false };
      retry++;
    }
  }
};

/** When the same model is called again, and whether at once with another key; no time where that is no use. */
const nextTry = (
  deps: CallDeps,
  { config, hasNextModel }: ModelCall,
  keys: readonly NamedKey[],
  place: Place,
  failure: ModelFailure,
  { retry, timeouts, rotations }: { readonly retry: number; readonly timeouts: number; readonly rotations: number },
): { readonly waitMs: number | undefined; readonly isOther: boolean } => {
  const random = deps.ids.random();
  const own = waitAfter(failure, { retry, timeouts, random, hasNextModel }, config);
  deps.health.failed(place, failure, own, config);
  if (keys.length < 2 || !isOfKey(failure.errorClass)) return { waitMs: own, isOther: false };
  const names = keys.map(({ name }) => name);
  const freeInMs = deps.health.readyInMs(place.provider, place.model, names);
  if (freeInMs === 0 && rotations < keys.length - 1) return { waitMs: 0, isOther: true };
  // Another key may be free sooner than the one that failed.
  return { waitMs: retry > config.max_retries ? undefined : waitBefore({ retry, hintMs: freeInMs, random, hasNextModel }, config), isOther: false };
};

export const named = ({ name }: NamedKey): { key?: string } => (name === '' ? {} : { key: name });

/** Milliseconds until the same model is asked again; undefined when that is no use. */
export const waitAfter = (
  failure: ModelFailure,
  { timeouts, ...input }: { readonly retry: number; readonly timeouts: number; readonly random: number; readonly hasNextModel: boolean },
  config: LlmConfig,
): number | undefined => {
  const mayRetry = isPassing(failure.errorClass) && input.retry <= config.max_retries && timeouts <= MAX_TIMEOUT_RETRIES;
  return mayRetry ? waitBefore({ ...input, hintMs: failure.retryAfterMs }, config) : undefined;
};

export const targetOf = ({ provider, wireModel, record }: Resolved, timeoutMs: number | undefined, config: LlmConfig, { ref }: Pick<NamedKey, 'ref'> = { ref: record.secret }): DriverTarget => ({
  provider,
  model: wireModel,
  baseUrl: record.base_url,
  ...(ref === null ? {} : { secret: ref }),
  timeoutMs: timeoutMs ?? config.request_timeout_secs * 1_000,
  idleTimeoutMs: config.idle_timeout_secs * 1_000,
  cachesPrompt: config.prompt_caching,
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

/** An answer with nothing in it is none. One that was filtered, or cut at its limit, says so by its reason. */
const nothingIn = ({ text, calls, stop, thoughtChars }: Said): ModelFailure | undefined => {
  if (calls.length > 0 || text.trim() !== '' || stop === 'content_filter' || stop === 'length') return undefined;
  return new ModelFailure('server', thoughtChars > 0 ? 'the model thought, and then answered with nothing' : 'the model answered with nothing', { httpStatus: 200, isOfAnswer: true });
};

/** Runs the driver once, filling `said`. Gives what went wrong. */
const attempt = async (deps: CallDeps, call: ModelCall, said: Said, key: NamedKey): Promise<ModelFailure | undefined> => {
  const { resolved, request, config, signal, endsAt } = call;
  if (signal.aborted) return new ModelFailure('cancelled', 'the call was cancelled');
  const { record } = resolved;
  const leftMs = Math.max(1, Math.floor(endsAt - deps.clock.mono()));
  const target = targetOf(resolved, Math.min(request.timeoutMs ?? config.request_timeout_secs * 1_000, leftMs), config, key);
  let isSilent = true;
  try {
    const driver = deps.drivers(record.wire, record.name);
    await driver.ask(target, request, signal, (event) => {
      if (isSilent && event.type !== 'left_out') {
        isSilent = false;
        deps.health.alive({ provider: resolved.provider, model: resolved.model, key: key.name });
      }
      take(said, event, call);
    });
  } catch (error) {
    return transportFailure(error, signal);
  }
  if (said.stop === undefined) return new ModelFailure('half_stream', 'the stream ended in the middle of the answer');
  const empty = nothingIn(said);
  if (empty && !signal.aborted) return empty;
  // A cancel between the last event and here still is a cancel: the run it belongs to has ended.
  return signal.aborted ? new ModelFailure('cancelled', 'the call was cancelled') : undefined;
};
