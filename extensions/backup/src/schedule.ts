/**
 * Scheduled backups.
 *
 * S1  When the next one is due is read from the archives that are there and a row of the database: a start after a long pause creates one, not several.
 * S2  Retention deletes scheduled backups only, and never the newest.
 * S3  One that fails is tried again later, and `svc doctor` says why.
 * S4  Of several daemons on a database one creates the backup, in its own home. Each deletes what is no longer kept in its own.
 */
import type { Backups, BackupSummary, Clock, DoctorFinding, Logger } from '@svc/api';
import type { ScheduleTurns, Turn } from './turns.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
/** A daemon that dies meanwhile is not waited for longer. */
const BUSY_MS = HOUR_MS;
const SCHEDULED = '_scheduled.tar.gz';

export interface ScheduleSettings {
  readonly every_hours: number;
  readonly keep: number;
  readonly keep_days: number;
}

export interface ScheduleDeps {
  readonly backups: Pick<Backups, 'create' | 'list' | 'remove'>;
  readonly turns: ScheduleTurns;
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

export const createSchedule = ({ backups, clock, log, settings, turns }: ScheduleDeps): Schedule => {
  const startedAt = clock.now();
  let failure: string | undefined;
  /** As it was read last. */
  let turn: Turn | undefined;
  const dueAt = (all: readonly BackupSummary[]): number => {
    const { every_hours: hours } = settings();
    const newest = Math.max(...all.filter(isScheduled).map(({ createdAt }) => Date.parse(createdAt)), turn?.done_at || Number.NEGATIVE_INFINITY);
    const due = newest === Number.NEGATIVE_INFINITY ? startedAt : newest + hours * HOUR_MS;
    return Math.max(due, turn?.busy_until ?? 0);
  };
  const make = async (begun: Turn): Promise<void> => {
    try {
      const { createdAt, filename } = await backups.create('scheduled');
      failure = undefined;
      await turns.change(begun, { done_at: Date.parse(createdAt), busy_until: 0 });
      log.info('A scheduled backup was created.', { file: filename });
    } catch (cause) {
      failure = cause instanceof Error ? cause.message : String(cause);
      log.error('A scheduled backup failed; svc tries again in 15 minutes.', { cause });
      await turns.change(begun, { ...begun, busy_until: clock.now() + RETRY_MS });
    }
  };
  return {
    look: async () => {
      if (settings().every_hours === 0) return;
      turn = await turns.read();
      if (clock.now() >= dueAt(await backups.list())) {
        const begun = { done_at: turn?.done_at ?? 0, busy_until: clock.now() + BUSY_MS };
        if (await turns.change(turn, begun)) await make(begun);
        turn = await turns.read();
      }
      for (const name of outdated(await backups.list(), settings(), clock.now())) await backups.remove(name);
    },
    nextAt: (all) => (settings().every_hours === 0 ? null : new Date(Math.max(clock.now(), dueAt(all))).toISOString()),
    findings: () =>
      failure
        ? [{ check: 'backups', result: 'fail', message: `The last scheduled backup failed: ${failure}`, fix: 'svc backup create' }]
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
