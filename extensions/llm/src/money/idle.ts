/**
 * The guard on idle spending: what an agent may spend in turns that no person began, since a person last wrote to it.
 *
 * I1  A turn is a person's, or that of another agent's message. A call of any other kind (a summary, a review) is neither.
 * I2  A person's call resets the sum when it has ended. What counts after it are rows: what others' turns used, and what their
 *     calls on their way may use, in any process.
 * I3  A clock that was ahead and was set back neither stops the sum nor opens it: a person's call later than now resets nothing,
 *     and what others used counts up to a day ahead.
 * I4  The row of a call is there before its sum is read. Of calls that are too much together, perhaps all step back, never none.
 */
import { micros } from './limits.js';
import type { Clock, ConfigHandle, Db } from '@svc/api';
import { BudgetSection } from '../config.js';
import { quotaErrors } from '../errors.js';
import type { CallGuard } from './guards.js';

/** Clocks of two daemons differ by less. */
const SKEW_MS = 60_000;
const AHEAD_MS = 86_400_000;

type Sum = number | string | null;

export const createIdleGuard = ({ clock, db, config }: { readonly clock: Pick<Clock, 'now'>; readonly db: Db; readonly config: Pick<ConfigHandle, 'get'> }): CallGuard => {
  const usage = db.table('usage');
  const sums = `SELECT
    (SELECT SUM(cost_micros) FROM ${usage} WHERE agent_id = ? AND begun_by = 'agent' AND at <= ? AND at >= COALESCE((SELECT MAX(at) FROM ${usage} WHERE agent_id = ? AND begun_by = 'person' AND at <= ?), '')) AS spent,
    (SELECT SUM(cost_micros) FROM ${db.table('reservations')} WHERE agent_id = ? AND begun_by = 'agent') AS going`;
  const isoIn = (ms: number): string => new Date(clock.now() + ms).toISOString();
  const limitMicros = (): number => micros(config.get(BudgetSection).idle_limit);
  return {
    applies: ({ begunBy }) => begunBy === 'agent' && limitMicros() > 0,
    fits: async ({ agentId, begunBy }, costMicros, isLastTry) => {
      const limit = limitMicros();
      // What costs nothing is stopped by no limit of cost.
      if (begunBy !== 'agent' || limit === 0 || costMicros === 0) return true;
      const row = await db.system('budgets').readOne<{ spent: Sum; going: Sum }>(sums, [agentId, isoIn(AHEAD_MS), agentId, isoIn(SKEW_MS), agentId]);
      // PostgreSQL gives sums as text.
      const spent = Number(row?.spent ?? 0);
      if (spent < limit && spent + Number(row?.going ?? 0) <= limit) return true;
      if (spent < limit && spent + costMicros <= limit && !isLastTry) return false;
      const [limitUsd, usedUsd, callUsd] = [limit / 1_000_000, spent / 1_000_000, costMicros / 1_000_000];
      throw quotaErrors.budget_idle_exceeded(limitUsd, usedUsd, callUsd).with({ details: { scope: 'agent', limit_usd: limitUsd, used_usd: usedUsd, call_usd: callUsd } });
    },
  };
};
