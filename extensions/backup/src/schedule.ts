/**
 * Scheduled backups.
 *
 * S1  When the next one is due is read from the archives that are there: a start after a long pause creates one, not several.
 * S2  Retention deletes scheduled backups only, and never the newest.
 * S3  One that fails is tried again later, and `svc doctor` says why.
 */
import type { Backups, BackupSummary, Clock, DoctorFinding, Logger } from '@svc/api';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
const SCHEDULED = '_scheduled.tar.gz';

export interface ScheduleSettings {
  readonly every_hours: number;
  readonly keep: number;
  readonly keep_days: number;
}

export interface ScheduleDeps {
  readonly backups: Pick<Backups, 'create' | 'list' | 'remove'>;
  readonly settings: () => ScheduleSettings;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Schedule {
  /** Creates a backup if one is due, and deletes those that are no longer kept. To be called every minute. */
  look(): Promise<void>;
  /** ISO 8601; null without a schedule. */
  nextAt(backups: readonly BackupSummary[]): string | null;
  findings(): DoctorFinding[];
}

const isScheduled = ({ filename }: BackupSummary): boolean => filename.endsWith(SCHEDULED);

export const createSchedule = ({ backups, clock, log, settings }: ScheduleDeps): Schedule => {
  const startedAt = clock.now();
  let failure: { readonly at: number; readonly reason: string } | undefined;
  const dueAt = (all: readonly BackupSummary[]): number => {
    const { every_hours: hours } = settings();
    const newest = Math.max(...all.filter(isScheduled).map(({ createdAt }) => Date.parse(createdAt)), Number.NEGATIVE_INFINITY);
    const due = newest === Number.NEGATIVE_INFINITY ? startedAt : newest + hours * HOUR_MS;
    return failure ? Math.max(due, failure.at + RETRY_MS) : due;
  };
  return {
    look: async () => {
      if (settings().every_hours === 0 || clock.now() < dueAt(await backups.list())) return;
      try {
        const { filename } = await backups.create('scheduled');
        failure = undefined;
        const deleted = outdated(await backups.list(), settings(), clock.now());
        for (const name of deleted) await backups.remove(name);
        log.info('a scheduled backup was created', { file: filename, deleted: deleted.length });
      } catch (cause) {
        failure = { at: clock.now(), reason: cause instanceof Error ? cause.message : String(cause) };
        log.error('a scheduled backup failed; it is tried again in 15 minutes', { cause });
      }
    },
    nextAt: (all) => (settings().every_hours === 0 ? null : new Date(Math.max(clock.now(), dueAt(all))).toISOString()),
    findings: () =>
      failure
        ? [{ check: 'backups', result: 'fail', message: `The last scheduled backup failed: ${failure.reason}`, fix: 'svc backup create' }]
        : [{ check: 'backups', result: 'pass', message: settings().every_hours === 0 ? 'No backups are scheduled.' : 'Scheduled backups are created.' }],
  };
};

/** Names of scheduled backups that are no longer kept. */
export const outdated = (all: readonly BackupSummary[], { keep, keep_days: days }: ScheduleSettings, now: number): string[] =>
  all
    .filter(isScheduled)
    .toSorted((a, b) => b.createdAt.localeCompare(a.createdAt))
    .filter(({ createdAt }, index) => index >= keep || (index > 0 && days > 0 && Date.parse(createdAt) < now - days * DAY_MS))
    .map(({ filename }) => filename);
