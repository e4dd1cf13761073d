/**
 * Cleaning up by itself, where [session] asks for it: each turn is a run in the journal, under a key that names the turn,
 * so that of several daemons one does it, and one that a crash cut off is done again.
 */
import type { ExtensionContext } from '@svc/api';
import { Cleanup } from '../contract.js';
import { type CleanupDeps, cleanUp } from './cleanup.js';

const POLL_MS = 600_000;
const FIRST_POLL_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** An id of a closed session is remembered for as long as somebody could still name it. */
const CLOSED_DAYS = 30;

export const cleanRegularly = (ctx: ExtensionContext, deps: CleanupDeps): void => {
  const worker = ctx.journal.worker(Cleanup, {
    concurrency: 1,
    drive: async (run) => {
      const { deleted } = await cleanUp(deps);
      if (deleted > 0) ctx.log.info('expired sessions were deleted', { deleted });
      await ctx.journal.advance(run, { finish: { status: 'done', result: { deleted } } });
    },
  });
  const look = async (): Promise<void> => {
    const { retention_days: days, max_sessions_per_agent: most, cleanup_interval_hours: hours } = deps.config();
    if (days === 0 && most === 0) return;
    const turn = Math.floor(ctx.clock.now() / (hours * HOUR_MS));
    const { leased } = await ctx.journal.open({ kind: Cleanup.name, actor: ctx.actors.system('cleanup'), key: `${hours}h:${turn}`, lane: Cleanup.name, input: { turn } });
    if (leased) await worker.take(leased);
  };
  ctx.timers.every('forget-closed-ids', DAY_MS, () => deps.store.forgetClosed(new Date(ctx.clock.now() - CLOSED_DAYS * DAY_MS).toISOString()));
  ctx.timers.after('first-cleanup', FIRST_POLL_MS, look);
  ctx.timers.every('regular-cleanup', POLL_MS, look);
};
