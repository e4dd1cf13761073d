/** Which shares of a limit of cost a call has passed: half of it, the share that [budget] warns at, and all of it. */
import type { Limits } from './limits.js';
import type { Ledger } from './quota-ledger.js';

export const PERIODS = ['hour', 'day', 'month'] as const;
export type Period = (typeof PERIODS)[number];

export interface Reached {
  readonly period: Period;
  /** Percent of the limit. */
  readonly percent: number;
  readonly limitMicros: number;
  readonly usedMicros: number;
}

export type SpentBy = Readonly<Record<Period, number>>;

export const spentNow = (ledger: Ledger, now: number): SpentBy => ({ hour: ledger.lastHour(now, 'costMicros').used, day: ledger.thisDay(now).used, month: ledger.thisMonth(now).used });

export const reached = (limits: Limits, alertAt: number, before: SpentBy, after: SpentBy): readonly Reached[] => {
  const caps: Readonly<Record<Period, number>> = { hour: limits.costPerHour, day: limits.costPerDay, month: limits.costPerMonth };
  const shares = [...new Set([0.5, alertAt, 1])].filter((share) => share > 0).sort((a, b) => a - b);
  return PERIODS.flatMap((period) => {
    const limit = caps[period];
    if (limit <= 0) return [];
    return shares
      .filter((share) => before[period] < share * limit && after[period] >= share * limit)
      .map((share) => ({ period, percent: Math.round(share * 100), limitMicros: limit, usedMicros: after[period] }));
  });
};
