/** How long statements may take by the settings, and what becomes of a third-party extension whose statements take too long. */
import type { Lifecycle } from '@svc/core';
import type { TimerClock } from '../clock/clock.js';
import type { Config } from '../config/config.js';
import { settingsOf } from '../config/kernel-sections.js';
import type { Log } from '../log/log.js';
import { DEFAULT_LIMITS, type SlowStatement, type StorageLimits, type StorageOptions } from './storage.js';

/** Time that its statements may lose to everybody before it is taken out of service: less where the deadline of each is short. */
const LOST_MS = 8_000;
const LOST_STATEMENTS = 8;
const WITHIN_MS = 600_000;

export interface StatementTimeDeps {
  readonly config: Pick<Config, 'get'>;
  readonly clock: Pick<TimerClock, 'mono'>;
  readonly log: Log;
  /** Undefined while the daemon starts. */
  lifecycle(): Pick<Lifecycle, 'quarantine'> | undefined;
}

export const statementTime = (deps: StatementTimeDeps): Required<Pick<StorageOptions, 'limits' | 'onSlow'>> => {
  const log = deps.log.logger('storage');
  const lost = new Map<string, SlowAt[]>();
  return {
    limits: () => limitsOf(deps.config),
    onSlow: (slow) => {
      log.warn('a statement of an extension took too long', { extension: slow.ownerId, kind: slow.kind, ms: Math.round(slow.ms), ...(slow.reader === undefined ? {} : { reader: slow.reader }) });
      // One whose migration is late does not start, and is told so by itself.
      if (slow.kind === 'migration') return;
      const now = deps.clock.mono();
      const recent = [...(lost.get(slow.ownerId) ?? []).filter(({ at }) => now - at < WITHIN_MS), { at: now, ms: slow.ms }];
      lost.set(slow.ownerId, recent);
      const sum = recent.reduce((all, { ms }) => all + ms, 0);
      const lifecycle = deps.lifecycle();
      const allowedMs = Math.min(LOST_MS, LOST_STATEMENTS * limitsOf(deps.config).thirdParty.statementMs);
      if (sum < allowedMs || !lifecycle) return;
      lost.delete(slow.ownerId);
      void lifecycle.quarantine(slow.ownerId, `its statements took ${Math.round(sum / 1_000)} s too long within ten minutes, last a ${slow.kind}`);
    },
  };
};

type SlowAt = Pick<SlowStatement, 'ms'> & { readonly at: number };

const limitsOf = (config: Pick<Config, 'get'>): StorageLimits => {
  const own = settingsOf(config, 'storage');
  const thirdParty = settingsOf(config, 'extensions');
  return {
    own: { ...DEFAULT_LIMITS.own, statementMs: own.statement_seconds * 1_000, migrationMs: own.migration_seconds * 1_000 },
    thirdParty: { ...DEFAULT_LIMITS.thirdParty, statementMs: thirdParty.statement_seconds * 1_000, migrationMs: thirdParty.migration_seconds * 1_000 },
  };
};
