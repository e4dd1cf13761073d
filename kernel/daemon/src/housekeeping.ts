/** What would grow for ever if nobody swept: rows of runs that ended long ago. */
import type { Logger } from '@svc/api';
import { createTimers } from '@svc/platform/clock/timers';
import type { PlatformParts } from './platform-parts.js';

const SWEEP_EVERY_MS = 3_600_000;
const BATCH = 500;
const MS_PER_DAY = 86_400_000;

export function startHousekeeping(parts: Pick<PlatformParts, 'clock' | 'journal' | 'config'>, log: Logger): { dispose(): void | Promise<void> } {
  const timers = createTimers({ clock: parts.clock, onError: (error) => log.warn('old runs could not be swept; the next round tries again', { cause: error }) });
  return timers.every(SWEEP_EVERY_MS, () => sweep(parts, log));
}

async function sweep(parts: Pick<PlatformParts, 'clock' | 'journal' | 'config'>, log: Logger): Promise<void> {
  const { keep_days } = parts.config.get('journal') as { keep_days: number }; // as kernel-sections.ts declares it
  const before = new Date(parts.clock.now() - keep_days * MS_PER_DAY).toISOString();
  let removed = 0;
  for (let batch = BATCH; batch === BATCH; ) {
    batch = await parts.journal.prune(before, BATCH);
    removed += batch;
  }
  if (removed > 0) log.info('swept runs that ended long ago', { removed, before });
}
