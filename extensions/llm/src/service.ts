/** The gateway: what other areas ask of models goes through here, whatever the provider. The rules of a call are in chain.ts. */
import {
  type Actor,
  atOnce,
  type AtOnceService,
  type ConfigHandle,
  type Clock,
  type Ids,
  isSvcError,
  type RowCache,
  type Logger,
  readOneCached,
  type ServiceMethods,
  type Write,
  whenKnown,
} from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { callsOf, stateOf } from './call/answer-parts.js';
import { chainError, checkParameters, type Bill, type ChainCall, type ChainDeps, type ChainResult, runChain } from './call/chain.js';
import type { Discarded } from './call/model-call.js';
import { LlmSection } from './config.js';
import type { AnswerPiece, Attempt, CallContext, EmbedAnswer, EmbedRequest, Llm, LlmService, LeftOut, ModelAnswer, ModelRequest, Parameters, RetryWait, Usage } from './contract.js';
import type { Drivers } from './drivers/driver.js';
import { ceilingOf as ceilingTokens } from './embed/batches.js';
import { checkTexts, embedAll } from './embed/embedding.js';
import { embeddingModelOf } from './embed/embedding-model.js';
import { llmErrors } from './errors.js';
import { createPieces } from './call/pieces.js';
import { ceilingInput, ceilingMicros, ceilingOfWords, estimateTokens, usageOf } from './money/pricing.js';
import type { Hold, Quota } from './money/quota.js';
import type { UnitMoney } from './money/units.js';
import type { reportOf } from './money/report.js';
import type { Need } from './money/quota-ledger.js';
import type { Health } from './health/health.js';
import type { KeyOrder } from './health/keys.js';
import type { ResolutionCache } from './resolution-cache.js';
import type { Ceiling } from './money/reservations.js';
import type { UsageStore } from './store.js';
import { canThink } from './call/thinking.js';
import type { Choice, Resolved } from './resolution.js';
import type { Windows } from './call/windows.js';

export interface LlmDeps {
  resolution: ResolutionCache;
  windows: Windows;
  providers: Pick<ProvidersService, 'defaultModel' | 'get' | 'markKeyInvalid' | 'markKeyValid'>;
  drivers: Drivers;
  store: UsageStore;
  quota: Quota;
  units: UnitMoney;
  report: ReturnType<typeof reportOf>;
  config: ConfigHandle;
  clock: Clock;
  ids: Ids;
  log: Logger;
  health: Health;
  keys: KeyOrder;
  /** Counts calls for metrics. */
  counters: CallCounters;
  /** Micro-dollars of the last day, by agent, as whoever sees all sees them. */
  spent: RowCache<number>;
}

export interface CallCounters {
  calls: number;
  failures: number;
  retries: number;
  /** Attempts that a model answered, and how long they took. */
  answers: number;
  answersMs: number;
  slowestMs: number;
}

const countAnswers = (counters: CallCounters, attempts: ChainResult['attempts']): void => {
  for (const { status, latencyMs } of attempts) {
    if (status !== 'ok') continue;
    counters.answers++;
    counters.answersMs += latencyMs;
    counters.slowestMs = Math.max(counters.slowestMs, latencyMs);
  }
};

/** What is in memory as a rule is answered at once, as every agent that is shown asks for it. */
export const inMemory = (deps: LlmDeps): Pick<AtOnceService<LlmService>, 'resolve' | 'canThink' | 'spending'> => ({
  resolve: (choice) => whenKnown(deps.resolution.resolve(choice), reported),
  canThink: ({ provider, model }) => whenKnown(atOnce(deps.providers).get(provider), (record) => (record ? canThink(record.wire, record.name, model) : null)),
  spending: (actor, agentIds, since) => readOneCached(deps.spent, actor, agentIds, 0, () => deps.store.spending(actor, agentIds, since)),
});

/** What others learn of a model that was found. */
const reported = ({ provider, model, contextWindow, canThink, why, record, info }: Resolved): Awaited<ReturnType<LlmService['resolve']>> => ({
  provider,
  model,
  contextWindow,
  canThink,
  // The mock provider refuses nothing: its answer says what is missing.
  canSee: record.wire === 'builtin' ? null : (info?.supports_vision ?? null),
  why,
});

/** The same for other areas. */
export const servedLlm = (deps: LlmDeps): ServiceMethods<typeof Llm> => ({ ...createLlmService(deps), ...inMemory(deps) });

export const createLlmService = (deps: LlmDeps): LlmService => ({
  resolve: async (choice) => inMemory(deps).resolve(choice),
  canThink: async (choice) => inMemory(deps).canThink(choice),
  checkParameters: async (choice, parameters) => leftOutOf(deps, await deps.resolution.resolve(choice), parameters),
  admit: async (agentId, choices) => deps.quota.admit(agentId, () => areFree(deps, choices)),
  reserve: (request, context) => reserve(deps, request, context),
  complete: (request, context, options) => complete(deps, request, context, { signal: options?.signal ?? NEVER, onText: undefined, onThought: undefined }),
  stream: (request, context, options) => streamed(deps, request, context, options?.signal ?? NEVER),
  embed: (request, context, options) => embed(deps, request, context, options?.signal ?? NEVER),
  reserveUnits: (context, units) => deps.units.reserve(context, units),
  settleUnits: async (reservation, quantity) => deps.units.settle(reservation, quantity),
  count: async (text) => estimateTokens(text),
  spending: async (actor, agentIds, since) => inMemory(deps).spending(actor, agentIds, since),
  report: (actor, asked) => deps.report(actor, asked),
  standing: (agentId) => deps.quota.standing(agentId),
  calls: async () => {
    const { calls: total, answers, answersMs, slowestMs } = deps.counters;
    return { total, averageMs: answers === 0 ? 0 : Math.round(answersMs / answers), slowestMs };
  },
  usage: (actor: Actor, filter) => deps.store.total(actor, filter),
});

/** What the wire cannot hold, and what its driver knows of this model. */
const leftOutOf = ({ drivers }: LlmDeps, resolved: Resolved, asked: Parameters): readonly LeftOut[] => {
  const { kept, leftOut } = checkParameters(resolved, asked);
  if (kept === undefined) return leftOut;
  const { record, wireModel } = resolved;
  try {
    return [...leftOut, ...(drivers(record.wire, record.name).leavesOut?.({ provider: resolved.provider, model: wireModel }, { parameters: kept }) ?? [])];
  } catch {
    return leftOut; // that nobody speaks its wire is said by the call, which may have another model to ask
  }
};

const UNPRICED = { info: undefined, price: undefined };

const resolvedOr = async <T>({ resolution }: LlmDeps, choice: Choice, otherwise: T): Promise<Resolved | T> => {
  try {
    return await resolution.resolve(choice);
  } catch {
    return otherwise; // why it cannot be called is said by the call
  }
};

/**
 * The dearest model of the chain, asked once with all the tokens it may use. Models that cannot be called
 * cost nothing; a model that the catalog does not know has the assumed price, as in its bill.
 */
const ceilingOf = async (deps: LlmDeps, request: ModelRequest): Promise<Ceiling> => {
  const words = ceilingOfWords(request);
  let inputTokens = 0;
  const maxTokens = request.maxTokens + (request.thinking?.budgetTokens ?? 0);
  const choices = [request, ...request.fallbacks, ...(await deps.resolution.fallbacks())];
  let dearest = { ...nameOf(request), costMicros: -1 };
  for (const choice of choices) {
    const resolved = await resolvedOr(deps, choice, UNPRICED);
    const { info, price } = resolved;
    const outputTokens = info === undefined ? maxTokens : Math.min(maxTokens, info.max_output_tokens);
    const input = ceilingInput(words, info);
    inputTokens = Math.max(inputTokens, input);
    const cost = ceilingMicros(price, input, outputTokens);
    if (cost > dearest.costMicros) dearest = { ...('provider' in resolved ? nameOf(resolved) : nameOf(choice)), costMicros: cost };
  }
  return { ...dearest, inputTokens, outputTokens: maxTokens, lastsMs: turnMs(deps, request.timeoutMs) };
};

const nameOf = ({ provider, model }: Choice): { provider: string; model: string } => ({ provider, model });

/** The longest that a call lasts: the time of a turn, or that of its one model where that is longer. */
const turnMs = ({ config }: LlmDeps, timeoutMs: number | undefined): number => Math.max(config.get(LlmSection).turn_timeout_secs * 1_000, timeoutMs ?? 0);

/** The longest that an embedding lasts: each batch asked as often as it may be, each time up to the end of its time, and waited for as long as may be. */
const lastsMs = ({ config }: LlmDeps, models: number, timeoutMs: number | undefined): number => {
  const { request_timeout_secs, max_retries, max_wait_ms } = config.get(LlmSection);
  return ((timeoutMs ?? request_timeout_secs * 1_000) + max_wait_ms) * (max_retries + 1) * models;
};

const areFree = async (deps: LlmDeps, choices: readonly Choice[]): Promise<boolean> => {
  const models = await Promise.all([...choices, ...(await deps.resolution.fallbacks())].map((choice) => resolvedOr(deps, choice, UNPRICED)));
  return models.every(({ price }) => price === undefined);
};

const reserve = async (deps: LlmDeps, request: ModelRequest, context: CallContext): ReturnType<LlmService['reserve']> => {
  const ceiling = await ceilingOf(deps, request);
  const reservation = deps.ids.uuid();
  const writes = await deps.quota.announce(reservation, context, ceiling);
  return { reservation: writes.length === 0 ? '' : reservation, ceilingMicros: ceiling.costMicros, writes: [...writes] };
};

/** How a call is heard and ended. */
interface Listening {
  readonly signal: AbortSignal;
  readonly onText: ((text: string) => void) | undefined;
  readonly onThought: ((text: string) => void) | undefined;
  readonly onWasThought?: (() => void) | undefined;
  readonly onLeftOut?: ((parameters: readonly LeftOut[]) => void) | undefined;
  readonly onWait?: ((wait: RetryWait) => void) | undefined;
  readonly onDiscarded?: ((discarded: Discarded) => void) | undefined;
}

const NEVER = new AbortController().signal;

const complete = async (deps: LlmDeps, request: ModelRequest, context: CallContext, listening: Listening): Promise<ModelAnswer> => {
  const ceiling = (): Promise<Ceiling> => ceilingOf(deps, request);
  const { signal } = listening;
  let hold = await deps.quota.hold(context, ceiling, signal);
  const settled: Bill[] = [];
  /** Each attempt is reserved by itself: what one that failed has used must not stand in the way of the limit of the next. */
  const onBilled: ChainCall['onBilled'] = async (bill, attempts) => {
    settled.push(bill);
    await settleFailure(deps, settlementOf(deps, context, { bills: [bill], attempts }, hold));
    const { reservation: _spent, ...rest } = context;
    try {
      hold = await deps.quota.hold(rest, ceiling, signal);
    } catch (error) {
      throw isSvcError(error) ? error.with({ details: { attempts: [...attempts], spent: total(settled) } }) : error;
    }
  };
  try {
    return await answerOf(deps, context, await callChain(deps, request, { ...listening, onBilled }), hold, settled);
  } finally {
    await letGo(deps, hold);
  }
};

/** A call that ended some other way has used nothing that anybody knows of. */
const letGo = (deps: LlmDeps, hold: Hold): Promise<void> => settleFailure(deps, hold.settle({ tokens: 0, costMicros: 0 }, deps.clock.now()));

/** Each piece goes out as it comes. Whoever stops listening ends the call. */
const streamed = (deps: LlmDeps, request: ModelRequest, context: CallContext, signal: AbortSignal): AsyncIterable<AnswerPiece> => {
  const left = new AbortController();
  const cancel = (): void => left.abort(signal.reason);
  if (signal.aborted) cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const pieces = createPieces();
  const answer = complete(deps, request, context, {
    signal: left.signal,
    onText: pieces.put,
    onThought: pieces.think,
    onLeftOut: pieces.leftOut,
    onWait: pieces.waits,
    ...(request.mayDiscard ? { onDiscarded: pieces.discarded, onWasThought: pieces.wasThought } : {}),
  }).finally(() => signal.removeEventListener('abort', cancel));
  return pieces.taken(answer, () => left.abort());
};

const callChain = async (deps: LlmDeps, request: ModelRequest, listening: Listening & Pick<ChainCall, 'onBilled'>): Promise<ChainResult> => {
  deps.counters.calls++;
  const result = await runChain(chainDeps(deps), { request, config: deps.config.get(LlmSection), ...listening });
  deps.counters.retries += result.attempts.length - 1;
  countAnswers(deps.counters, result.attempts);
  return result;
};

const usedBy = (bills: readonly Bill[]): Need => {
  const { inputTokens, outputTokens, costMicros: cost } = total(bills);
  return { tokens: inputTokens + outputTokens, costMicros: cost };
};

/** `settled`: bills of attempts whose usage rows are committed. */
const answerOf = async (deps: LlmDeps, context: CallContext, result: ChainResult, hold: Hold, settled: readonly Bill[]): Promise<ModelAnswer> => {
  const settle = settlementOf(deps, context, { ...result, bills: result.bills.filter((bill) => !settled.includes(bill)) }, hold);
  if (!result.ok) {
    deps.counters.failures++;
    await settleFailure(deps, settle);
    // What it used until then is told with what was tried: whoever ends a run by this shows both.
    throw result.error.with({ details: { attempts: result.attempts, spent: total(result.bills) } });
  }
  const { resolved, said } = result;
  return {
    text: said.text,
    ...(said.thoughts === '' ? {} : { thoughts: said.thoughts }),
    calls: callsOf(said, deps.ids, resolved),
    ...stateOf(said, resolved),
    stop: said.stop ?? 'end',
    usage: total(result.bills),
    provider: resolved.provider,
    model: resolved.model,
    attempts: result.attempts,
    settle,
  };
};

/** What was used, as rows, in place of what was reserved. */
const settlementOf = (deps: LlmDeps, context: CallContext, { bills, attempts }: Pick<ChainResult, 'attempts' | 'bills'>, hold: Hold): Write[] => {
  deps.spent.willChange(context.agentId);
  const now = deps.clock.now();
  const at = new Date(now).toISOString();
  const rows = deps.store.insert(bills.map((bill, index) => recordOf(deps, context, bill, index === 0 ? attempts : [], at)));
  return [...rows, ...hold.settle(usedBy(bills), now)];
};

const embed = async (deps: LlmDeps, request: EmbedRequest, context: CallContext, signal: AbortSignal): Promise<EmbedAnswer> => {
  checkTexts(request);
  const resolved = await embeddingModelOf(deps, request);
  const { embed: ask } = deps.drivers(resolved.record.wire, resolved.provider);
  if (!ask) throw llmErrors.embeddings_unsupported(resolved.provider);
  const tokens = request.texts.reduce((sum, text) => sum + ceilingTokens(text), 0);
  const ceiling = { ...nameOf(resolved), inputTokens: tokens, outputTokens: 0, costMicros: ceilingMicros(resolved.price, tokens, 0), lastsMs: lastsMs(deps, request.texts.length, request.timeoutMs) };
  const hold = await deps.quota.hold(context, async () => ceiling, signal);
  try {
    deps.counters.calls++;
    const { failure, vectors, attempts, substitute, ...used } = await embedAll(deps, { resolved, embed: ask, request, config: deps.config.get(LlmSection), signal });
    countAnswers(deps.counters, attempts);
    const usage = usageOf(resolved.price, { ...used, outputTokens: 0 });
    const bills = used.inputTokens === 0 ? [] : [{ provider: resolved.provider, model: resolved.model, usage }];
    const settle = settlementOf(deps, context, { bills, attempts }, hold);
    if (failure) {
      if (failure.errorClass === 'auth') await chainDeps(deps).keyRefused(resolved.provider);
      deps.counters.failures++;
      await settleFailure(deps, settle);
      throw chainError([{ choice: resolved, failure }], attempts);
    }
    chainDeps(deps).keyTaken(resolved.provider);
    return { vectors, provider: resolved.provider, model: resolved.model, ...(substitute === undefined ? {} : { substitute }), usage, attempts, settle };
  } finally {
    await letGo(deps, hold);
  }
};

const chainDeps = (deps: LlmDeps): ChainDeps => ({
  drivers: deps.drivers,
  clock: deps.clock,
  ids: deps.ids,
  health: deps.health,
  keys: deps.keys,
  resolve: (choice) => deps.resolution.resolve(choice),
  fallbacks: () => deps.resolution.fallbacks(),
  keyRefused: async (provider) => {
    try {
      await deps.providers.markKeyInvalid(provider);
      deps.resolution.clear();
    } catch (error) {
      // The caller's error is the refusal itself; the mark only colours a list.
      deps.log.warn('could not mark a refused key', { provider, error: String(error) });
    }
  },
  tooLong: ({ provider, model }, tokens, said) => {
    deps.windows.refused(provider, model, tokens, said);
    deps.resolution.clear();
  },
  keyTaken: (provider) => deps.providers.markKeyValid(provider),
});

const recordOf = (deps: LlmDeps, context: CallContext, { provider, model, usage }: Bill, attempts: readonly Attempt[], at: string) => ({
  id: deps.ids.uuid(),
  context,
  provider,
  model,
  usage,
  attempts,
  at,
});

/** A failed call has no outcome to join: what it used is kept at once. */
const settleFailure = async (deps: LlmDeps, settle: readonly Write[]): Promise<void> => {
  if (settle.length === 0) return;
  try {
    await deps.store.commit(settle);
  } catch (error) {
    // The caller must hear why the call failed; that its cost was not kept goes to the log.
    deps.log.error('the usage of a failed model call was not stored', { error: String(error) });
  }
};

const total = (bills: readonly Bill[]): Usage => {
  const [first] = bills;
  if (bills.length === 1 && first) return first.usage;
  const sum = (pick: (usage: Usage) => number): number => bills.reduce((all, bill) => all + pick(bill.usage), 0);
  return {
    inputTokens: sum((usage) => usage.inputTokens),
    outputTokens: sum((usage) => usage.outputTokens),
    costMicros: sum((usage) => usage.costMicros),
    ...(bills.some((bill) => bill.usage.estimated) ? { estimated: true } : {}),
  };
};
