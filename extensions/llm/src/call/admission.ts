/** Before each attempt: with which key a model is called, or why it is not called yet. */
import type { AtOnce, Clock } from '@svc/api';
import type { LlmConfig } from '../config.js';
import type { ModelErrorClass, RetryWait } from '../contract.js';
import type { Health, Trouble, TroubleKind } from '../health/health.js';
import type { NamedKey } from '../health/keys.js';
import { LONG_HINT_MS } from './backoff.js';
import { ModelFailure } from './model-failure.js';
import { sleep } from './sleep.js';

export interface Asking {
  readonly provider: string;
  readonly model: string;
  readonly keys: readonly NamedKey[];
  readonly hasNextModel: boolean;
  readonly config: LlmConfig;
  readonly signal: AbortSignal;
  /** On the monotonic clock. */
  readonly endsAt: number;
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
}

/** `key` is undefined where the call was not let through. */
export type Admission = { readonly key: NamedKey } | { readonly key?: undefined; readonly failure: ModelFailure };

const NO_KEY: NamedKey = { name: '', ref: null };
const keyNamed = (keys: readonly NamedKey[], name: string | undefined): NamedKey => keys.find((key) => key.name === name) ?? NO_KEY;

/** A person sees waits from this length. */
const SHOWN_MS = 500;

interface AdmissionDeps {
  readonly health: Health;
  readonly clock: Clock;
}

/** Answers at once where nothing stands in the way, as mostly. */
export const admit = (deps: AdmissionDeps, asking: Asking): AtOnce<Admission> => {
  const { provider, model, keys } = asking;
  const names = keys.map(({ name }) => name);
  const chosen = deps.health.choose(provider, model, names);
  return 'key' in chosen ? { key: keyNamed(keys, chosen.key) } : admitLater(deps, asking, names);
};

/** Waits while that is worth it: not where another model can be asked. A key that needs a person is tried where no other model is left. */
const admitLater = async (deps: AdmissionDeps, asking: Asking, names: readonly string[]): Promise<Admission> => {
  const { provider, model, keys, config, signal } = asking;
  const mostMs = asking.hasNextModel ? LONG_HINT_MS : config.max_wait_ms;
  for (let waitedMs = 0; ; ) {
    const chosen = deps.health.choose(provider, model, names);
    if ('key' in chosen) return { key: keyNamed(keys, chosen.key) };
    const { inMs, trouble } = chosen;
    const needsPerson = trouble.kind === 'refused' || trouble.kind === 'out_of_credit';
    // People repair it at the provider, too, and whoever writes again wants it tried.
    if (needsPerson && !asking.hasNextModel) return { key: keyNamed(keys, trouble.key) };
    if (needsPerson || waitedMs + inMs > mostMs || inMs >= asking.endsAt - deps.clock.mono()) return { failure: known(trouble, inMs) };
    if (inMs >= SHOWN_MS) asking.onWait?.({ retry: 0, of: config.max_retries, ms: Math.round(inMs), why: CLASSES[trouble.kind], provider });
    const cancelled = await sleep(deps.clock, Math.ceil(inMs), signal);
    if (cancelled) return { failure: cancelled };
    waitedMs += Math.ceil(inMs);
  }
};

const CLASSES: Readonly<Record<TroubleKind, ModelErrorClass>> = {
  unreachable: 'network',
  overloaded: 'overloaded',
  failing: 'server',
  limited: 'rate_limit',
  out_of_credit: 'credit',
  refused: 'auth',
};

const WHAT: Readonly<Record<TroubleKind, string>> = {
  unreachable: 'it could not be reached',
  overloaded: 'it was overloaded',
  failing: 'it failed',
  limited: 'its rate limit was reached',
  out_of_credit: 'the account of its key had no credit',
  refused: 'its key was refused',
};

const known = ({ kind, key, failures }: Trouble, inMs: number): ModelFailure => {
  const often = failures > 1 ? ` ${failures} times in a row` : '';
  const which = key === undefined || key === '' ? '' : ` (key ${key})`;
  return new ModelFailure(CLASSES[kind], `not called, because ${WHAT[kind]}${often}${which}; the next try is in ${Math.ceil(inMs / 1_000)} s`, { retryAfterMs: inMs });
};
