/**
 * What an agent's model calls may use and cost.
 *
 * Q1  The gateway asks here before each call, whatever began it: runs, compactions, all paths alike.
 * Q2  What counts are the usage rows of the last 60 minutes (for a day or month: since it began in UTC) and the calls
 *     that are on their way. A restart forgets nothing.
 * Q3  Of calls that come together, those beyond the limit wait for the ones on their way, or are refused: a limit of tokens
 *     is passed by one reservation at most, a limit of cost by none.
 * Q4  Who is refused learns the limit, what was used, and when it will go on.
 */
import type { Actors, Clock, SvcError } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { quotaErrors } from '../errors.js';
import { createLedgers, type Ledger, type Ledgers, type Need } from './quota-ledger.js';
import type { UsageStore } from '../store.js';

/** A place among the calls on their way. */
export interface Place {
  /** What the call used in truth; also when it failed. Safe to call twice. */
  settle(used: Need): void;
  /** Whether other processes have to know what it used: the agent has limits. */
  readonly counts: boolean;
}

export interface Quota {
  /** Throws `token_quota_exceeded` or `budget_exceeded` when nothing is left; reserves nothing. */
  admit(agentId: string): Promise<void>;
  /** The same, and reserves. Waits while calls on their way may yet leave something over. */
  reserve(agentId: string, need: () => Promise<Need>, signal: AbortSignal): Promise<Place>;
  /** Another process wrote usage rows of this agent. */
  listenForUsed(agentId: string): void;
  /** Agents whose usage is kept in memory, for metrics. */
  size(): number;
}

export interface QuotaDeps {
  readonly actors: Pick<Actors, 'system'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly store: Pick<UsageStore, 'spent'>;
  readonly clock: Clock;
}

/** Model calls end within minutes; who waited longer is told to come again. */
const MAX_WAIT_MS = 120_000;
const FREE: Place = { settle: () => undefined, counts: false };
const NOTHING: Need = { tokens: 0, costMicros: 0 };

export const createQuota = (deps: QuotaDeps): Quota => {
  const ledgers = createLedgers(deps);
  return {
    admit: async (agentId) => {
      const limits = await limitsOf(deps, agentId);
      if (!limits) return;
      const verdict = validate(limits, await ledgers.of(agentId), NOTHING, deps.clock.now());
      // What merely has to wait a moment is let in; it waits at the call.
      if (verdict && !verdict.mayPass) throw verdict.refusal;
    },
    reserve: async (agentId, need, signal) => {
      const limits = await limitsOf(deps, agentId);
      return limits ? take(deps, ledgers, agentId, limits, await need(), signal) : FREE;
    },
    listenForUsed: (agentId) => ledgers.stale(agentId),
    size: () => ledgers.size(),
  };
};

interface Limits {
  readonly tokensPerHour: number;
  readonly tokensPerMinute: number;
  /** Micro-dollars. */
  readonly costPerHour: number;
  readonly costPerDay: number;
  readonly costPerMonth: number;
}

/** Undefined for an agent without limits. They are read for each call, so that a change holds at once. */
const limitsOf = async ({ actors, agents }: QuotaDeps, agentId: string): Promise<Limits | undefined> => {
  const { manifest } = await agents.get(actors.system('budgets'), agentId);
  const limits = limitsIn(manifest);
  return Object.values(limits).some((limit) => limit > 0) ? limits : undefined;
};

const limitsIn = ({ capabilities, resources }: Pick<AgentManifest, 'capabilities' | 'resources'>): Limits => {
  const tokensPerHour = capabilities.max_llm_tokens_per_hour ?? 0;
  const micros = (usd: number): number => Math.floor(usd * 1_000_000);
  return {
    tokensPerHour,
    tokensPerMinute: Math.ceil(tokensPerHour * resources.burst_ratio),
    costPerHour: micros(resources.max_cost_per_hour_usd),
    costPerDay: micros(resources.max_cost_per_day_usd),
    costPerMonth: micros(resources.max_cost_per_month_usd),
  };
};

const take = async (deps: QuotaDeps, ledgers: Ledgers, agentId: string, limits: Limits, need: Need, signal: AbortSignal): Promise<Place> => {
  let leftMs = MAX_WAIT_MS;
  for (;;) {
    const ledger = await ledgers.of(agentId);
    // From here to `open` nothing else runs: two calls cannot both take the last of it.
    const verdict = validate(limits, ledger, need, deps.clock.now());
    if (!verdict) return open(ledger, need, deps.clock);
    if (!verdict.mayPass || leftMs <= 0 || signal.aborted) throw verdict.refusal;
    leftMs -= await ledger.changed(deps.clock, Math.min(leftMs, verdict.inMs ?? leftMs), signal);
  }
};

const open = (ledger: Ledger, need: Need, clock: Clock): Place => {
  ledger.open(need);
  let isOpen = true;
  return {
    counts: true,
    settle: (used) => {
      if (isOpen) ledger.close(need, used, clock.now());
      isOpen = false;
    },
  };
};

interface Verdict {
  readonly refusal: SvcError;
  /** Calls on their way hold what is missing, or the minute is full: waiting may help. */
  readonly mayPass: boolean;
  readonly inMs?: number;
}

const validate = (limits: Limits, ledger: Ledger, need: Need, now: number): Verdict | undefined => tokenVerdict(limits, ledger, now) ?? costVerdict(limits, ledger, need, now);

const tokenVerdict = ({ tokensPerHour, tokensPerMinute }: Limits, ledger: Ledger, now: number): Verdict | undefined => {
  const { tokens: open } = ledger.onTheirWay();
  const hour = ledger.lastHour(now, 'tokens');
  if (tokensPerHour > 0 && hour.used + open >= tokensPerHour) {
    const mayPass = hour.used < tokensPerHour;
    return { mayPass, refusal: quotaError('tokens per hour', tokensPerHour, hour.used, mayPass ? now + 1_000 : hour.freeAt(tokensPerHour), now) };
  }
  const minute = ledger.thisMinute(now);
  if (tokensPerMinute > 0 && minute.used + open >= tokensPerMinute) {
    return { mayPass: true, inMs: minute.endsAt - now, refusal: quotaError('tokens per minute (burst_ratio)', tokensPerMinute, minute.used, minute.endsAt, now) };
  }
  return undefined;
};

/** Unlike tokens, money is never overspent: what the call may cost has to fit. */
const costVerdict = (limits: Limits, ledger: Ledger, need: Need, now: number): Verdict | undefined => {
  const { costMicros: open } = ledger.onTheirWay();
  const hour = ledger.lastHour(now, 'costMicros');
  const day = ledger.thisDay(now);
  const month = ledger.thisMonth(now);
  const periods = [
    { name: 'hour', limit: limits.costPerHour, used: hour.used, freeAt: () => hour.freeAt(limits.costPerHour - need.costMicros + 1) },
    { name: 'day', limit: limits.costPerDay, used: day.used, freeAt: () => day.endsAt },
    { name: 'month', limit: limits.costPerMonth, used: month.used, freeAt: () => month.endsAt },
  ];
  for (const { name, limit, used, freeAt } of periods) {
    if (limit <= 0 || (used < limit && used + open + need.costMicros <= limit)) continue;
    const mayPass = used < limit && used + need.costMicros <= limit;
    return { mayPass, refusal: budgetError(name, limit, used, need.costMicros, mayPass ? now + 1_000 : freeAt(), now) };
  }
  return undefined;
};

const quotaError = (what: string, limit: number, used: number, freeAt: number, now: number): SvcError =>
  quotaErrors.token_quota_exceeded(what, limit, used, iso(freeAt)).with(reported({ limit, used }, freeAt, now));

const budgetError = (period: string, limit: number, used: number, need: number, freeAt: number, now: number): SvcError =>
  quotaErrors
    .budget_exceeded(period, limit / 1_000_000, used / 1_000_000, need / 1_000_000, iso(freeAt))
    .with(reported({ period, limit_usd: limit / 1_000_000, used_usd: used / 1_000_000, call_usd: need / 1_000_000 }, freeAt, now));

const iso = (ms: number): string => new Date(ms).toISOString();

const reported = (details: object, freeAt: number, now: number): { details: object; headers: Record<string, string> } => ({
  details: { ...details, reset_at: iso(freeAt) },
  headers: { 'retry-after': String(Math.max(1, Math.ceil((freeAt - now) / 1_000))) },
});
