/** What would grow for ever if nobody swept: rows of runs that ended and of purges that were complete long ago; and a database file that lags behind its -wal. */
import { settingsOf } from '@svc/platform/config/kernel-sections';
import type { Logger } from '@svc/api';
import { createTimers } from '@svc/platform/clock/timers';
import type { DurableRelay } from '@svc/platform/relay/durable-relay';
import type { ContextParts } from '@svc/context';

const SWEEP_EVERY_MS = 3_600_000;
const TEND_EVERY_MS = 1_000;
const RELAY_EVERY_MS = 2_000;
const BATCH = 500;
const MS_PER_DAY = 86_400_000;

export function startHousekeeping(
  parts: Pick<ContextParts, 'clock' | 'journal' | 'config' | 'storage' | 'purges' | 'trash'> & { readonly relay: Pick<DurableRelay, 'tick'> },
  log: Logger,
): { dispose(): Promise<void> } {
  const timers = createTimers({ clock: parts.clock, onError: (error) => log.warn('old runs could not be deleted; the next round tries again', { cause: error }) });
  const ticks = [timers.every(SWEEP_EVERY_MS, () => sweep(parts, log)), timers.every(TEND_EVERY_MS, () => parts.storage.tend()), timers.every(RELAY_EVERY_MS, () => parts.relay.tick())];
  return {
    dispose: async () => {
      for (const tick of ticks) await tick.dispose();
    },
  };
}

async function sweep(parts: Pick<ContextParts, 'clock' | 'journal' | 'config' | 'purges' | 'trash'>, log: Logger): Promise<void> {
  const { keep_days } = settingsOf(parts.config, 'journal');
  const before = new Date(parts.clock.now() - keep_days * MS_PER_DAY).toISOString();
  let removed = 0;
  for (let batch = BATCH; batch === BATCH; ) {
    batch = await parts.journal.prune(before, BATCH);
    removed += batch;
  }
  await parts.purges.forgetBefore(before);
  await parts.trash.settle();
  if (removed > 0) log.info('swept runs that ended long ago', { removed, before });
}
