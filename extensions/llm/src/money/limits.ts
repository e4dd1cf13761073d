/** What a scope may use: an agent by its manifest, all agents together by [budget]. */
import { type Actors, type AtOnce, atOnce, type ConfigHandle, whenKnown } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { type Budget, BudgetSection } from '../config.js';
import type { Scope } from '../store.js';

/** 0 stands for no limit. */
export interface Limits {
  readonly tokensPerHour: number;
  readonly tokensPerMinute: number;
  /** Micro-dollars. */
  readonly costPerHour: number;
  readonly costPerDay: number;
  readonly costPerMonth: number;
}

export interface ScopeLimits {
  readonly scope: Scope;
  readonly limits: Limits;
}

export interface LimitsDeps {
  readonly actors: Pick<Actors, 'system'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly config: ConfigHandle;
}

/** The least that counts is one: an amount below it must not become `no limit`. */
export const micros = (usd: number): number => (usd > 0 ? Math.max(1, Math.floor(usd * 1_000_000)) : 0);

/** The agent of a call that a person makes without one. Limits of all agents together hold for it. */
const NO_AGENT = '';
const NO_LIMITS: Limits = { tokensPerHour: 0, tokensPerMinute: 0, costPerHour: 0, costPerDay: 0, costPerMonth: 0 };

const isLimited = (limits: Limits): boolean => Object.values(limits).some((limit) => limit > 0);

/** The limits of an agent and of all agents, as far as there are any. They are read for each call, so that a change holds at once. */
export const limitsOf = (deps: LimitsDeps, agentId: string): AtOnce<readonly ScopeLimits[]> =>
  whenKnown(agentId === NO_AGENT ? NO_LIMITS : limitsOfScope(deps, agentId), (ofAgent) => {
    const all = [
      { scope: agentId, limits: ofAgent },
      { scope: null, limits: limitsOfAll(deps.config.get(BudgetSection)) },
    ];
    return all.filter(({ limits }) => isLimited(limits));
  });

export const limitsOfScope = ({ config, agents, actors }: LimitsDeps, scope: Scope): AtOnce<Limits> => {
  const budget = config.get(BudgetSection);
  return scope === null ? limitsOfAll(budget) : whenKnown(atOnce(agents).get(actors.system('budgets'), scope), ({ manifest }) => limitsOfAgent(manifest, budget));
};

const limitsOfAgent = ({ capabilities, resources }: Pick<AgentManifest, 'capabilities' | 'resources'>, budget: Budget): Limits => {
  const tokensPerHour = capabilities.max_llm_tokens_per_hour || budget.default_max_llm_tokens_per_hour;
  return {
    tokensPerHour,
    tokensPerMinute: Math.ceil(tokensPerHour * (resources.burst_ratio || budget.default_burst_ratio)),
    costPerHour: micros(resources.max_cost_per_hour_usd),
    costPerDay: micros(resources.max_cost_per_day_usd),
    costPerMonth: micros(resources.max_cost_per_month_usd),
  };
};

const limitsOfAll = ({ hourly_limit, daily_limit, monthly_limit }: Budget): Limits => ({
  tokensPerHour: 0,
  tokensPerMinute: 0,
  costPerHour: micros(hourly_limit),
  costPerDay: micros(daily_limit),
  costPerMonth: micros(monthly_limit),
});
