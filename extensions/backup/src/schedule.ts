/**
 * Scheduled backups.
 *
 * S1  When the next one is due is read from the archives that are there and a row of the database: a start after a long pause creates one, not several.
 * S2  Retention deletes scheduled backups only, and never the newest.
 * S3  One that fails is tried again later, and `svc doctor` says why.
 * S4  Of several daemons on a database one creates the backup, in its own home. Each deletes what is no longer kept in its own.
 * S5  A clock that was ahead and was corrected delays no backup: what was made later than now is not counted.
 */
import type { Backups, BackupSummary, Clock, DoctorFinding, Logger, Timers } from '@svc/api';
import type { ScheduleTurns, Turn } from './turns.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const RETRY_MS = HOUR_MS / 4;
/** A daemon that dies meanwhile is not waited for longer. */
const BUSY_MS = HOUR_MS;
/** Clocks of two daemons differ by less. */
const SKEW_MS = HOUR_MS;
const SCHEDULED = '_scheduled.tar.gz';

export interface ScheduleSettings {
  readonly every_hours: number;
  /** Instead of `every_hours` if it is not empty. */
  readonly cron: string;
  readonly time_zone: string;
  readonly keep: number;
  readonly keep_days: number;
}

export interface ScheduleDeps {
  readonly backups: Pick<Backups, 'create' | 'list' | 'remove'>;
  readonly turns: ScheduleTurns;
  readonly settings: () => ScheduleSettings;
  readonly clock: Clock;
  readonly timers: Pick<Timers, 'nextAt'>;
  readonly log: Logger;
}

export interface Schedule {
  /** Creates a backup if one is due, and deletes those that are no longer kept. To be called every minute. */
  look(): Promise<void>;
  /** ISO 8601; null without a schedule. */
  nextAt(backups: readonly BackupSummary[]): Promise<string | null>;
  findings(): DoctorFinding[];
}

const isScheduled = ({ filename }: BackupSummary): boolean => filename.endsWith(SCHEDULED);

export const createSchedule = ({ backups, clock, log, settings, timers, turns }: ScheduleDeps): Schedule => {
  let failure: string | undefined;
  /** As it was read last. */
  let turn: Turn | undefined;
  const isOff = (): boolean => settings().every_hours === 0 && settings().cron === '';
  /** Undefined before the first. */
  const newestOf = (all: readonly BackupSummary[]): number | undefined => {
    const made = [...all.filter(isScheduled).map(({ createdAt }) => Date.parse(createdAt)), turn?.done_at ?? 0];
    const newest = Math.max(0, ...made.filter((at) => at <= clock.now() + SKEW_MS));
    return newest === 0 ? undefined : newest;
  };
  const dueAt = async (all: readonly BackupSummary[]): Promise<number> => {
    const { cron, every_hours: hours, time_zone: zone } = settings();
    const newest = newestOf(all);
    const due = cron !== '' ? await timers.nextAt(cron, zone, newest ?? clock.now()) : newest === undefined ? clock.now() : newest + hours * HOUR_MS;
    const busyUntil = turn?.busy_until ?? 0;
    return busyUntil > clock.now() + BUSY_MS + SKEW_MS ? due : Math.max(due, busyUntil);
  };
  /** From here on the times of `cron` count, also over restarts. */
  const begin = async (): Promise<void> => {
    await turns.change(turn, { done_at: clock.now(), busy_until: 0 });
    turn = await turns.read();
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
      if (isOff()) return;
      turn = await turns.read();
      const all = await backups.list();
      if (settings().cron !== '' && newestOf(all) === undefined) await begin();
      if (clock.now() >= (await dueAt(all))) {
        const begun = { done_at: turn?.done_at ?? 0, busy_until: clock.now() + BUSY_MS };
        if (await turns.change(turn, begun)) await make(begun);
        turn = await turns.read();
      }
      for (const name of outdated(await backups.list(), settings(), clock.now())) await backups.remove(name);
    },
    nextAt: async (all) => (isOff() ? null : new Date(Math.max(clock.now(), await dueAt(all))).toISOString()),
    findings: () =>
      failure
        ? [{ check: 'backups', result: 'fail', message: `The last scheduled backup failed: ${failure}`, fix: 'svc backup create' }]
        : [{ check: 'backups', result: 'pass', message: isOff() ? 'No backups are scheduled.' : 'Scheduled backups are created.' }],
  };
};

/** Names of scheduled backups that are no longer kept. Those that a clock made which was ahead go first. */
export const outdated = (all: readonly BackupSummary[], { keep, keep_days: days }: Pick<ScheduleSettings, 'keep' | 'keep_days'>, now: number): string[] => {
  const isFromAhead = ({ createdAt }: BackupSummary): boolean => Date.parse(createdAt) > now + SKEW_MS;
  return all
    .filter(isScheduled)
    .toSorted((a, b) => Number(isFromAhead(a)) - Number(isFromAhead(b)) || b.createdAt.localeCompare(a.createdAt))
    .filter(({ createdAt }, index) => index >= keep || (index > 0 && days > 0 && Date.parse(createdAt) < now - days * DAY_MS))
    .map(({ filename }) => filename);
};
