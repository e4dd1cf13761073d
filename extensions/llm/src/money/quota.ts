/**
 * What model calls may use and cost.
 *
 * Q1  The gateway asks here before each call, whatever began it: runs, compactions, all paths alike.
 * Q2  What counts are the usage rows of the last 60 minutes (for a day or month: since it began in UTC) and the calls
 *     that are on their way, in any process on this database. A restart forgets nothing.
 * Q3  Of calls that come together, those beyond the limit wait for the ones on their way, or are refused: a limit of tokens
 *     is passed by one reservation at most, a limit of cost by none. A call that costs nothing is stopped by no limit of cost.
 * Q4  Who is refused learns the limit, what was used, and when it will go on.
 * Q5  A call goes out after its row is committed and was seen together with those of others. Of calls in different processes
 *     that are too much together, whoever sees that takes its row back: perhaps all of them do, never none.
 */
import { type AtOnce, type Clock, type Db, type Events, type Ids, whenKnown, type Write } from '@svc/api';
import { BudgetSection } from '../config.js';
import { BudgetReached, type BudgetStanding, type CallContext, LlmUsed } from '../contract.js';
import type { Scope } from '../store.js';
import type { Ledger, Ledgers, Need } from './quota-ledger.js';
import type { CallGuard } from './guards.js';
import { type Limits, type LimitsDeps, limitsOf, limitsOfScope, type ScopeLimits } from './limits.js';
import { standingOf } from './report.js';
import type { Ceiling, Reservations } from './reservations.js';
import { reached, spentNow } from './thresholds.js';
import { type Question, type Verdict, verdictOn } from './verdict.js';

/** A call on its way. */
export interface Hold {
  /** Of its row. */
  readonly id: string;
  /**
   * The call has ended and used this; it was `at` then (milliseconds). Answers what the commit of its usage rows takes along.
   * Safe to call twice: later ones answer nothing.
   */
  settle(used: Need, at: number): readonly Write[];
}

export interface Quota {
  /** Throws `token_quota_exceeded` or `budget_exceeded` when nothing is left; reserves nothing. `isFree` is asked only where there is a limit. */
  admit(agentId: string, isFree: () => Promise<boolean>): AtOnce<void>;
  /**
   * The row of a call that joins the commit of its intent, where no limit has to be asked: `hold` names it. Where there is
   * one it throws what `admit` throws, else answers nothing, and `hold` makes a row of its own.
   */
  announce(id: string, context: CallContext, ceiling: Ceiling): AtOnce<readonly Write[]>;
  /** Reserves. Waits while calls on their way may yet leave something over. */
  hold(context: CallContext, ceiling: () => Promise<Ceiling>, signal: AbortSignal): Promise<Hold>;
  /** The limits of a scope, and what counts against them. */
  standing(scope: Scope): Promise<BudgetStanding>;
  /** Another process wrote usage rows of this agent. */
  listenForUsed(agentId: string): void;
  /** Scopes whose usage is kept in memory, for metrics. */
  size(): number;
}

export interface QuotaDeps extends LimitsDeps {
  readonly ledgers: Ledgers;
  readonly guard: CallGuard;
  readonly reservations: Reservations;
  readonly db: Pick<Db, 'commit'>;
  readonly events: Pick<Events, 'event'>;
  /** The name of this generation. */
  readonly self: string;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid' | 'random'>;
}

interface Account {
  readonly scope: Scope;
  readonly limits: Limits;
  readonly ledger: Ledger;
}

/** Model calls end within minutes; who waited longer is told to come again. */
const MAX_WAIT_MS = 120_000;
/** Nothing wakes a call here when one of another process ends. */
const ELSEWHERE_MS = 1_000;
const NOTHING: Need = { tokens: 0, costMicros: 0 };

export const createQuota = (deps: QuotaDeps): Quota => ({
  admit: (agentId, isFree) => whenKnown(limitsOf(deps, agentId), (limited) => (limited.length === 0 ? undefined : isFree().then((free) => admit(deps, limited, free)))),
  announce: (id, context, ceiling) =>
    whenKnown(limitsOf(deps, context.agentId), (limited) =>
      limited.length === 0 && !deps.guard.applies(context) ? [deps.reservations.insert(id, context, ceiling)] : admit(deps, limited, ceiling.costMicros === 0).then(() => []),
    ),
  hold: async (context, ceiling, signal) => {
    const limited = await limitsOf(deps, context.agentId);
    if (limited.length === 0 && !deps.guard.applies(context)) return !context.reservation ? unlimited(deps, context, await ceiling()) : holdOf(deps, context, context.reservation, [], NOTHING);
    return limitedHold(deps, context, limited, await ceiling(), signal);
  },
  standing: async (scope) => standingOf(deps, scope, await limitsOfScope(deps, scope), deps.config.get(BudgetSection)),
  listenForUsed: (agentId) => {
    deps.ledgers.stale(agentId);
    deps.ledgers.stale(null);
  },
  size: () => deps.ledgers.size(),
});

const admit = async (deps: QuotaDeps, limited: readonly ScopeLimits[], isFree: boolean): Promise<void> => {
  for (const { scope, limits } of limited) {
    const verdict = verdictOn(scope, limits, await deps.ledgers.of(scope), { need: NOTHING, isFree }, deps.clock.now());
    // What merely has to wait a moment is let in; it waits at the call.
    if (verdict && !verdict.mayPass) throw verdict.refusal;
  }
};

const unlimited = async (deps: QuotaDeps, context: CallContext, ceiling: Ceiling): Promise<Hold> => {
  const id = deps.ids.uuid();
  await deps.db.commit([...(await deps.reservations.leftOf(context)), deps.reservations.insert(id, context, ceiling)]);
  return holdOf(deps, context, id, [], NOTHING);
};

const limitedHold = async (deps: QuotaDeps, context: CallContext, limited: readonly ScopeLimits[], ceiling: Ceiling, signal: AbortSignal): Promise<Hold> => {
  const need = needOf(ceiling);
  await settleLeft(deps, context);
  let leftMs = MAX_WAIT_MS;
  let tries = 0;
  for (;;) {
    const accounts = await Promise.all(limited.map(async ({ scope, limits }) => ({ scope, limits, ledger: await deps.ledgers.of(scope) })));
    // From here to `open` nothing else runs: two calls of this process cannot both take the last of it.
    const refused = firstRefused(accounts, { need, isFree: need.costMicros === 0 }, deps.clock.now());
    if (refused) {
      leftMs -= await waitFor(deps, refused, leftMs, signal);
      continue;
    }
    const id = deps.ids.uuid();
    if (await take(deps, context, { accounts, id, ceiling, isLastTry: leftMs <= 0 })) return holdOf(deps, context, id, accounts, need);
    const pauseMs = Math.ceil(20 + deps.ids.random() * Math.min(180 * 2 ** tries, ELSEWHERE_MS));
    tries += 1;
    leftMs -= pauseMs;
    await deps.clock.sleep(pauseMs, signal);
  }
};

/** What an earlier process left of this run counts before anything is asked, and the row of its intent gives way to the one of the call. */
const settleLeft = async (deps: QuotaDeps, context: CallContext): Promise<void> => {
  const { agentId, reservation } = context;
  const left = await deps.reservations.leftOf(context);
  if (left.length === 0 && !reservation) return;
  await deps.db.commit([...left, ...(reservation ? [deps.reservations.remove(reservation)] : []), ...(left.length === 0 ? [] : [usedBy(deps, agentId)])]);
  if (left.length === 0) return;
  deps.ledgers.stale(agentId);
  deps.ledgers.stale(null);
};

interface Taking {
  readonly accounts: readonly Account[];
  readonly id: string;
  readonly ceiling: Ceiling;
  readonly isLastTry: boolean;
}

/** Q5. The row is there; whoever comes after it sees it. False, and nothing left, where it does not fit beside those of other processes. */
const take = async (deps: QuotaDeps, context: CallContext, { accounts, id, ceiling, isLastTry }: Taking): Promise<boolean> => {
  const need = needOf(ceiling);
  for (const { ledger } of accounts) ledger.open(need);
  let fits = false;
  try {
    await deps.db.commit([deps.reservations.insert(id, context, ceiling)]);
    // The ledgers are views of what is read again here: one with a call on its way is never dropped.
    await Promise.all(accounts.map(({ scope }) => deps.ledgers.fresh(scope)));
    const isWithin = firstRefused(accounts, { need, isFree: need.costMicros === 0, mine: need }, deps.clock.now()) === undefined;
    fits = isWithin && (await deps.guard.fits(context, need.costMicros, isLastTry));
    return fits;
  } finally {
    if (!fits) {
      for (const { ledger } of accounts) ledger.close(need, NOTHING, deps.clock.now());
      await deps.db.commit([deps.reservations.remove(id)]);
    }
  }
};

const needOf = ({ inputTokens, outputTokens, costMicros }: Ceiling): Need => ({ tokens: inputTokens + outputTokens, costMicros });

const firstRefused = (accounts: readonly Account[], question: Question, now: number): { readonly account: Account; readonly verdict: Verdict } | undefined => {
  for (const account of accounts) {
    const verdict = verdictOn(account.scope, account.limits, account.ledger, question, now);
    if (verdict) return { account, verdict };
  }
  return undefined;
};

const waitFor = async (deps: QuotaDeps, { account, verdict }: NonNullable<ReturnType<typeof firstRefused>>, leftMs: number, signal: AbortSignal): Promise<number> => {
  if (!verdict.mayPass || leftMs <= 0 || signal.aborted) throw verdict.refusal;
  const { tokens, costMicros } = account.ledger.elsewhere();
  const isElsewhere = tokens > 0 || costMicros > 0;
  const took = await account.ledger.changed(deps.clock, Math.min(leftMs, verdict.inMs ?? leftMs, isElsewhere ? ELSEWHERE_MS : leftMs), signal);
  if (isElsewhere) deps.ledgers.stale(account.scope);
  return took;
};

const usedBy = ({ events, self }: QuotaDeps, agentId: string): Write => events.event(LlmUsed, { agentId, by: self });

const holdOf = (deps: QuotaDeps, context: CallContext, id: string, accounts: readonly Account[], need: Need): Hold => {
  let isOpen = true;
  return {
    id,
    settle: (used, at) => {
      if (!isOpen) return [];
      isOpen = false;
      // Nobody counted it along: whoever asks next, because there is a limit by then, reads it.
      if (accounts.length === 0) for (const scope of [context.agentId, null]) deps.ledgers.stale(scope);
      const alertAt = deps.config.get(BudgetSection).alert_threshold;
      const alerts = accounts.flatMap(({ scope, limits, ledger }) => {
        const before = spentNow(ledger, at);
        ledger.close(need, used, at);
        return reached(limits, alertAt, before, spentNow(ledger, at)).map(({ period, percent, limitMicros, usedMicros }) =>
          deps.events.event(BudgetReached, { agentId: scope, period, percent, limitUsd: limitMicros / 1_000_000, usedUsd: usedMicros / 1_000_000 }),
        );
      });
      return [deps.reservations.remove(id), ...alerts, ...(accounts.length > 0 ? [usedBy(deps, context.agentId)] : [])];
    },
  };
};
