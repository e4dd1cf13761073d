/** Whether a call fits into what a scope may use, beside what was used and what is on its way. */
import type { SvcError } from '@svc/api';
import { quotaErrors } from '../errors.js';
import type { Scope } from '../store.js';
import type { Limits } from './limits.js';
import type { Ledger, Need } from './quota-ledger.js';

export interface Verdict {
  readonly refusal: SvcError;
  /** Calls on their way hold what is missing, or the minute is full: waiting may help. */
  readonly mayPass: boolean;
  readonly inMs?: number;
}

const NOTHING: Need = { tokens: 0, costMicros: 0 };

/** What is asked: the most that the call may use, whether that costs nothing whatever it uses, and how much of the calls on their way is this very call. */
export interface Question {
  readonly need: Need;
  readonly isFree: boolean;
  readonly mine?: Need;
}

export const verdictOn = (scope: Scope, limits: Limits, ledger: Ledger, { need, isFree, mine = NOTHING }: Question, now: number): Verdict | undefined => {
  const all = ledger.onTheirWay();
  const open: Need = { tokens: all.tokens - mine.tokens, costMicros: all.costMicros - mine.costMicros };
  return tokenVerdict(limits, ledger, open, now) ?? (isFree ? undefined : costVerdict(scope, limits, ledger, open, need, now));
};

const tokenVerdict = ({ tokensPerHour, tokensPerMinute }: Limits, ledger: Ledger, { tokens: open }: Need, now: number): Verdict | undefined => {
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
const costVerdict = (scope: Scope, limits: Limits, ledger: Ledger, { costMicros: open }: Need, need: Need, now: number): Verdict | undefined => {
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
    return { mayPass, refusal: budgetError(scope, name, limit, used, need.costMicros, mayPass ? now + 1_000 : freeAt(), now) };
  }
  return undefined;
};

const quotaError = (what: string, limit: number, used: number, freeAt: number, now: number): SvcError =>
  quotaErrors.token_quota_exceeded(what, limit, used, iso(freeAt)).with(reported({ limit, used }, freeAt, now));

const budgetError = (scope: Scope, period: string, limit: number, used: number, need: number, freeAt: number, now: number): SvcError => {
  const [limitUsd, usedUsd, needUsd] = [limit / 1_000_000, used / 1_000_000, need / 1_000_000];
  const whose = scope === null ? 'all' : 'agent';
  const details = { scope: whose, period, limit_usd: limitUsd, used_usd: usedUsd, call_usd: needUsd };
  return quotaErrors.budget_exceeded(whose, period, limitUsd, usedUsd, needUsd, iso(freeAt)).with(reported(details, freeAt, now));
};

const iso = (ms: number): string => new Date(ms).toISOString();

const reported = (details: object, freeAt: number, now: number): { details: object; headers: Record<string, string> } => ({
  details: { ...details, reset_at: iso(freeAt) },
  headers: { 'retry-after': String(Math.max(1, Math.ceil((freeAt - now) / 1_000))) },
});
