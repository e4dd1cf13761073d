/** The gateway: what other areas ask of models goes through here, whatever the provider. The rules of a call are in chain.ts. */
import type { Actor, Clock, ConfigHandle, HookHandle, HookMap, Ids, Logger, Streams } from '@svc/api';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { callsOf, type Bill, type ChainDeps, runChain } from './chain.js';
import type {} from './config.js';
import type { Attempt, CallContext, Driver, LlmService, ModelAnswer, ModelRequest, Usage } from './contract.js';
import { ceilingInput, costMicros, estimateTokens } from './pricing.js';
import type { Choice, Resolved } from './resolution.js';
import type { ResolutionCache } from './resolution-cache.js';
import type { UsageStore } from './store.js';

export interface LlmDeps {
  resolution: ResolutionCache;
  providers: Pick<ProvidersService, 'markKeyInvalid' | 'markKeyValid'>;
  drivers: Readonly<Record<Driver['wire'], Driver>>;
  store: UsageStore;
  streams: Streams;
  config: ConfigHandle;
  clock: Clock;
  ids: Ids;
  log: Logger;
  hooks: {
    readonly resolve: HookHandle<HookMap['model.resolve']>;
    readonly request: HookHandle<HookMap['llm.request']>;
    readonly delta: HookHandle<HookMap['llm.delta']>;
  };
  /** Counts calls for metrics. */
  counters: CallCounters;
}

export interface CallCounters {
  calls: number;
  failures: number;
  retries: number;
}

export const createLlmService = (deps: LlmDeps): LlmService => ({
  resolve: async (choice) => {
    const { provider, model, contextWindow, why } = await resolve(deps, choice, '');
    return { provider, model, contextWindow, why };
  },
  reserve: (request, context) => reserve(deps, request, context),
  complete: (request, context) => complete(deps, request, context),
  count: async (text) => estimateTokens(text),
  usage: (actor: Actor, filter) => deps.store.total(actor, filter),
});

const resolve = async (deps: LlmDeps, choice: Choice, agentId: string): Promise<Resolved> => {
  if (deps.hooks.resolve.isEmpty()) return deps.resolution.resolve(choice);
  return deps.resolution.resolve((await deps.hooks.resolve.call({ ...choice, agentId })) ?? choice);
};

/**
 * The dearest model of the chain, asked once with all the tokens it may use. Models that cannot be called
 * cost nothing; a model without a price in the catalog counts as free, as its bill will.
 */
const reserve = async (deps: LlmDeps, request: ModelRequest, context: { agentId: string; runId: string }): ReturnType<LlmService['reserve']> => {
  const inputTokens = ceilingInput(request);
  let ceilingMicros = 0;
  for (const choice of [request, ...request.fallbacks, ...(await deps.resolution.fallbacks())]) {
    const { info } = await resolve(deps, choice, context.agentId).catch(() => ({ info: undefined }));
    const outputTokens = info === undefined ? request.maxTokens : Math.min(request.maxTokens, info.max_output_tokens);
    ceilingMicros = Math.max(ceilingMicros, costMicros(info, inputTokens, outputTokens));
  }
  return { reservation: `${context.runId}.${deps.ids.hex(6)}`, ceilingMicros, writes: [] };
};

const complete = async (deps: LlmDeps, asked: ModelRequest, context: CallContext): Promise<ModelAnswer> => {
  const { hooks, counters } = deps;
  const request = hooks.request.isEmpty() ? asked : await hooks.request.call(asked, { agentId: context.agentId, runId: context.runId });
  counters.calls++;
  const result = await runChain(chainDeps(deps, context), { request, config: deps.config.get('llm'), signal: context.signal, onText: listener(deps, context) });
  counters.retries += result.attempts.length - 1;
  const settle = deps.store.insert(result.bills.map((bill, index) => recordOf(deps, context, bill, index === 0 ? result.attempts : [])));
  if (!result.ok) {
    counters.failures++;
    await settleFailure(deps, settle);
    throw result.error;
  }
  const { resolved, said } = result;
  return {
    text: said.text,
    calls: callsOf(said, deps.ids),
    stop: said.stop ?? 'end',
    usage: total(result.bills),
    provider: resolved.provider,
    model: resolved.model,
    attempts: result.attempts,
    settle,
  };
};

const chainDeps = (deps: LlmDeps, context: CallContext): ChainDeps => ({
  drivers: deps.drivers,
  clock: deps.clock,
  ids: deps.ids,
  resolve: (choice) => resolve(deps, choice, context.agentId),
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
  keyTaken: (provider) => deps.providers.markKeyValid(provider),
});

/** Each piece goes out as it comes; joining later ones is the platform's business. */
const listener = ({ streams, hooks }: LlmDeps, { topic, runId }: CallContext): ((text: string) => void) | undefined => {
  const notes = !hooks.delta.isEmpty();
  if (topic === undefined && !notes) return undefined;
  return (text) => {
    if (topic !== undefined) streams.publish(topic, { type: 'chunk', data: { content: text, done: false }, merge: 'content' });
    if (notes) hooks.delta.call({ runId, text });
  };
};

const recordOf = (deps: LlmDeps, context: CallContext, { provider, model, usage }: Bill, attempts: readonly Attempt[]) => ({
  id: deps.ids.uuid(),
  context,
  provider,
  model,
  usage,
  attempts,
  at: deps.clock.iso(),
});

/** A failed call has no outcome to join: what it used is kept at once. */
const settleFailure = async (deps: LlmDeps, settle: ReturnType<UsageStore['insert']>): Promise<void> => {
  if (settle.length === 0) return;
  try {
    await deps.store.commit(settle);
  } catch (error) {
    // The caller must hear why the call failed; that its cost was not kept goes to the log.
    deps.log.error('the usage of a failed model call was not kept', { error: String(error) });
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
