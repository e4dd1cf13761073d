/**
 * The guard on roots: what all runs together may spend that one job, trigger, webhook … led to.
 *
 * O1  The limit is that of the call's context; a call without one is not asked about here.
 * O2  What counts are rows: what calls of the root used, and what its calls on their way may use, in any process.
 * O3  The row of a call is there before its sum is read. Of calls that are too much together, perhaps all step back, never none.
 */
import type { Db } from '@svc/api';
import { quotaErrors } from '../errors.js';
import type { CallGuard } from './guards.js';

type Sum = number | string | null;

export const createRootGuard = ({ db }: { readonly db: Db }): CallGuard => {
  const sums = `SELECT (SELECT SUM(cost_micros) FROM ${db.table('usage')} WHERE root_id = ?) AS spent, (SELECT SUM(cost_micros) FROM ${db.table('reservations')} WHERE root_id = ?) AS going`;
  return {
    applies: ({ root }) => root !== undefined && root.limitMicros > 0,
    fits: async ({ root }, costMicros, isLastTry) => {
      // What costs nothing is stopped by no limit of cost.
      if (!root || root.limitMicros === 0 || costMicros === 0) return true;
      const row = await db.system('budgets').readOne<{ spent: Sum; going: Sum }>(sums, [root.id, root.id]);
      // PostgreSQL gives sums as text.
      const spent = Number(row?.spent ?? 0);
      if (spent < root.limitMicros && spent + Number(row?.going ?? 0) <= root.limitMicros) return true;
      if (spent < root.limitMicros && spent + costMicros <= root.limitMicros && !isLastTry) return false;
      const [limitUsd, usedUsd, callUsd] = [root.limitMicros / 1_000_000, spent / 1_000_000, costMicros / 1_000_000];
      throw quotaErrors.budget_root_exceeded(limitUsd, usedUsd, callUsd).with({ details: { scope: 'root', root_id: root.id, limit_usd: limitUsd, used_usd: usedUsd, call_usd: callUsd } });
    },
  };
};
