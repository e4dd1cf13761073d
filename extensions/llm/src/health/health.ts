/**
 * What is known of providers, their keys and their models: who can be asked now, and when the others can.
 *
 * H1  A failure concerns what it says something of: the network a provider, overload a model, a refusal (401) or an unpaid bill a key,
 *     a rate limit or a missing permission (403) a key with a model.
 * H2  A limit, an unpaid bill and a refusal count from the first time; what may have hit one call alone counts from the third time in a row.
 * H3  After its time, one call tries. Others wait for what comes of it: it answers, and all go on, or the time grows.
 * H4  A refused key is used again when it was changed, or after 5 s, since keys are also repaired at the provider. Where no other model is left,
 *     each call tries it, and one without credit (call/admission.ts).
 * H5  It is cached in memory, by process: another process finds out for itself, and a restart forgets. At most 2,000 troubles are cached.
 */
import type { Clock, Ids } from '@svc/api';
import type { LlmConfig } from '../config.js';
import type { ModelErrorClass } from '../contract.js';
import type { ModelFailure } from '../call/model-failure.js';

export type TroubleKind = 'unreachable' | 'overloaded' | 'failing' | 'limited' | 'out_of_credit' | 'refused';

/** What a call is made with. `key` is empty for a provider without keys. */
export interface Place {
  readonly provider: string;
  readonly model: string;
  readonly key: string;
}

/** `model` or `key` is left out where the trouble concerns all of them. */
export interface Trouble {
  readonly kind: TroubleKind;
  readonly provider: string;
  readonly model?: string;
  readonly key?: string;
  /** In a row. */
  readonly failures: number;
  /** Milliseconds from now until it is tried again; 0 when the next call tries. */
  readonly inMs: number;
}

export type Chosen =
  | { readonly key: string }
  /** Nothing can be asked before `inMs` have passed, because of this. */
  | { readonly inMs: number; readonly trouble: Trouble };

export interface Health {
  /** With which of these keys a model is called now. Whoever calls tells what came of it, by `alive`, `answered` or `failed`. */
  choose(provider: string, model: string, keys: readonly string[]): Chosen;
  /** Milliseconds until one of them can be used; infinite where all are refused or unpaid. Begins no trial. */
  readyInMs(provider: string, model: string, keys: readonly string[]): number;
  /** The answer has begun: whoever waits for this trial can go on. */
  alive(place: Place): void;
  answered(place: Place): void;
  /** `waitMs`: what the caller itself waits, where it asks again. */
  failed(place: Place, failure: ModelFailure, waitMs: number | undefined, config: LlmConfig): void;
  /** The keys of a provider may be others now. */
  keysChanged(provider: string): void;
  troubles(): readonly Trouble[];
}

interface Known {
  readonly kind: TroubleKind;
  readonly provider: string;
  readonly model: string | undefined;
  readonly key: string | undefined;
  failures: number;
  untilMs: number;
  isTried: boolean;
}

const MAX_KNOWN = 2_000;
const REFUSED_MS = 5_000;
const UNPAID_MS = 60_000;
const MAX_UNPAID_MS = 3_600_000;
/** How often whoever waits for a trial looks. */
const LOOK_MS = 250;

const KINDS: Readonly<Partial<Record<ModelErrorClass, TroubleKind>>> = {
  network: 'unreachable',
  overloaded: 'overloaded',
  server: 'failing',
  timeout: 'failing',
  half_stream: 'failing',
  rate_limit: 'limited',
  credit: 'out_of_credit',
  auth: 'refused',
};
/** H2. */
const COUNTS_FROM: Readonly<Record<TroubleKind, number>> = { unreachable: 3, overloaded: 3, failing: 3, limited: 1, out_of_credit: 1, refused: 1 };

/** Failures that another key may not have. */
export const isOfKey = (errorClass: ModelErrorClass): boolean => errorClass === 'rate_limit' || errorClass === 'credit' || errorClass === 'auth';

interface State {
  readonly clock: Pick<Clock, 'mono'>;
  readonly ids: Pick<Ids, 'random'>;
  readonly known: Map<string, Known>;
  /** When each key was limited last, so that the one that rests longest is next. */
  readonly limitedAt: Map<string, number>;
}

export const createHealth = (deps: { readonly clock: Pick<Clock, 'mono'>; readonly ids: Pick<Ids, 'random'> }): Health => {
  const state: State = { clock: deps.clock, ids: deps.ids, known: new Map(), limitedAt: new Map() };
  const { known } = state;
  return {
    choose: (provider, model, keys) => choose(state, provider, model, keys),
    readyInMs: (provider, model, keys) => {
      const [best] = ranked(state, provider, model, keys);
      return best === undefined ? 0 : best.open.some(({ kind }) => kind === 'refused' || kind === 'out_of_credit') ? Number.POSITIVE_INFINITY : best.inMs;
    },
    alive: (place) => {
      for (const one of troublesOf(state, place)) one.isTried = false;
      known.delete(scopeOf(place.provider));
    },
    answered: (place) => {
      for (const scope of scopesOf(place)) known.delete(scope);
    },
    failed: (place, failure, waitMs, config) => failed(state, place, failure, waitMs, config),
    keysChanged: (provider) => {
      for (const [scope, one] of known) if (one.provider === provider && one.key !== undefined) known.delete(scope);
      for (const name of state.limitedAt.keys()) if (name.startsWith(`${provider}\n`)) state.limitedAt.delete(name);
    },
    troubles: () => [...known.values()].filter(isOpen).map((one) => shown(state, one)),
  };
};

const scopeOf = (provider: string, model = '', key = ''): string => `${provider}\n${model}\n${key}`;

const scopesOf = ({ provider, model, key }: Place): readonly string[] => [scopeOf(provider), scopeOf(provider, model), scopeOf(provider, '', key), scopeOf(provider, model, key)];

const troublesOf = ({ known }: State, place: Place): readonly Known[] => scopesOf(place).flatMap((scope) => known.get(scope) ?? []);

const isOpen = ({ kind, failures }: Known): boolean => failures >= COUNTS_FROM[kind];

const readyInMs = ({ clock }: State, { untilMs, isTried }: Known): number => Math.max(untilMs - clock.mono(), isTried ? LOOK_MS : 0);

const shown = (state: State, one: Known): Trouble => ({
  kind: one.kind,
  provider: one.provider,
  ...(one.model === undefined ? {} : { model: one.model }),
  ...(one.key === undefined ? {} : { key: one.key }),
  failures: one.failures,
  inMs: Math.max(0, one.untilMs - state.clock.mono()),
});

interface Candidate {
  readonly place: Place;
  readonly open: readonly Known[];
  readonly inMs: number;
  readonly limitedAt: number;
}

/** Those that can be used soonest first, then those that were not limited for longest; refused ones only where there is no other. */
const ranked = (state: State, provider: string, model: string, keys: readonly string[]): readonly Candidate[] => {
  const all = (keys.length === 0 ? [''] : keys).map((key): Candidate => {
    const place = { provider, model, key };
    const open = troublesOf(state, place).filter(isOpen);
    return { place, open, inMs: Math.max(0, ...open.map((one) => readyInMs(state, one))), limitedAt: state.limitedAt.get(`${provider}\n${key}`) ?? -1 };
  });
  const accepted = all.filter(({ open }) => !open.some(({ kind }) => kind === 'refused'));
  return (accepted.length > 0 ? accepted : all).toSorted((a, b) => a.inMs - b.inMs || a.limitedAt - b.limitedAt);
};

const choose = (state: State, provider: string, model: string, keys: readonly string[]): Chosen => {
  const [first = ''] = keys;
  // The common case: nothing is known of anybody.
  if (state.known.size === 0 && state.limitedAt.size === 0) return { key: first };
  const [best] = ranked(state, provider, model, keys);
  const [blocking] = (best?.open ?? []).toSorted((a, b) => readyInMs(state, b) - readyInMs(state, a));
  if (!best || !blocking) return { key: best?.place.key ?? first };
  if (best.inMs > 0) return { inMs: best.inMs, trouble: shown(state, blocking) };
  for (const one of best.open) one.isTried = true;
  return { key: best.place.key };
};

const failed = (state: State, place: Place, failure: ModelFailure, waitMs: number | undefined, config: LlmConfig): void => {
  for (const one of troublesOf(state, place)) one.isTried = false;
  const kind = failure.isOfAnswer ? undefined : KINDS[failure.errorClass];
  if (kind === undefined) {
    // It was reached, took the key, and refused this request: that says nothing against it.
    if (failure.httpStatus !== undefined) state.known.delete(scopeOf(place.provider));
    return;
  }
  const { model, key } = concerned(kind, place, failure);
  const scope = scopeOf(place.provider, model, key);
  const before = state.known.get(scope);
  const failures = before?.kind === kind ? before.failures + 1 : 1;
  makeRoom(state);
  state.known.set(scope, { kind, provider: place.provider, model, key, failures, untilMs: state.clock.mono() + restMs(state, kind, failures, failure, waitMs, config), isTried: false });
  if (isOfKey(failure.errorClass)) state.limitedAt.set(`${place.provider}\n${place.key}`, state.clock.mono());
};

/** H1. */
const concerned = (kind: TroubleKind, { model, key }: Place, { httpStatus }: ModelFailure): { model: string | undefined; key: string | undefined } => {
  if (kind === 'unreachable') return { model: undefined, key: undefined };
  if (kind === 'overloaded' || kind === 'failing') return { model, key: undefined };
  if (kind === 'out_of_credit') return { model: undefined, key };
  return kind === 'refused' && httpStatus !== 403 ? { model: undefined, key } : { model, key };
};

/** What the provider asked for, else what the caller waits, else doubled each time, half of it left to chance. */
const restMs = ({ ids }: State, kind: TroubleKind, failures: number, { retryAfterMs }: ModelFailure, waitMs: number | undefined, config: LlmConfig): number => {
  if (kind === 'refused') return REFUSED_MS;
  if (kind === 'out_of_credit') return Math.min(UNPAID_MS * 2 ** (failures - 1), MAX_UNPAID_MS);
  if (retryAfterMs !== undefined) return retryAfterMs;
  if (waitMs !== undefined) return waitMs;
  const doubled = Math.min(config.retry_base_ms * 2 ** Math.max(0, failures - COUNTS_FROM[kind]), config.max_wait_ms);
  return doubled * (0.5 + ids.random());
};

/** The oldest goes: it is tried again sooner than it might be. */
const makeRoom = ({ known, limitedAt }: State): void => {
  for (const map of [known, limitedAt]) {
    const [oldest] = map.keys();
    if (map.size >= MAX_KNOWN && oldest !== undefined) map.delete(oldest);
  }
};
