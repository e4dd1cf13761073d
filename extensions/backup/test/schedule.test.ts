/** The schedule as functions. */
import type { Backups, BackupSummary, Clock, Logger } from '@svc/api';
import { expect } from 'chai';
import { createSchedule, outdated } from '../src/schedule.js';
import type { ScheduleTurns, Turn } from '../src/turns.js';

const HOUR = 3_600_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the schedule of backups', () => {
  let now: number;
  let stored: BackupSummary[];
  let fails: boolean;
  const clock: Clock = { now: () => now, iso: () => new Date(now).toISOString(), mono: () => now, sleep: async () => undefined };
  const summary = (filename: string, at: number): BackupSummary => {
    const createdAt = new Date(at).toISOString();
    return { filename, path: filename, sizeBytes: 1, modifiedAt: createdAt, createdAt, components: [], svcVersion: '1.0.0', problem: null };
  };
  const backups: Pick<Backups, 'create' | 'list' | 'remove'> = {
    create: async () => {
      if (fails) throw new Error('the disk is full');
      const made = summary(`svc_backup_${now}_scheduled.tar.gz`, now);
      stored.push(made);
      return made;
    },
    list: async () => stored,
    remove: async (name) => {
      stored = stored.filter(({ filename }) => filename !== name);
    },
  };
  let row: Turn | undefined;
  const turns: ScheduleTurns = {
    read: async () => row,
    change: async (seen, next) => {
      if (row?.busy_until !== seen?.busy_until) return false;
      row = next;
      return true;
    },
  };
  const open = (settings = { every_hours: 24, keep: 3, keep_days: 0 }) => createSchedule({ backups, turns, settings: () => settings, clock, log: silent });
  beforeEach(() => {
    [now, stored, fails, row] = [START, [], false, undefined];
  });

  it('S1 creates one backup when it is due, and one after a long pause', async () => {
    const schedule = open();
    for (const [hours, count] of [
      [0, 1],
      [23, 1],
      [24, 2],
      [24 * 30, 3],
      [24 * 30 + 1, 3],
    ] as const) {
      now = START + hours * HOUR;
      await schedule.look();
      expect(stored, `after ${hours} h`).to.have.length(count);
    }
    expect(schedule.nextAt(stored)).to.equal(new Date(START + 24 * 31 * HOUR).toISOString());
    const off = open({ every_hours: 0, keep: 3, keep_days: 0 });
    now += 1_000 * HOUR;
    await off.look();
    expect([stored.length, off.nextAt(stored)]).to.deep.equal([3, null]);
  });

  it('S2 keeps the newest, and what people created', async () => {
    const schedule = open();
    stored.push(summary('svc_backup_1.tar.gz', START - 900 * HOUR), summary('svc_backup_2_safety.tar.gz', START - 800 * HOUR));
    for (let day = 0; day < 6; day += 1) {
      now = START + day * 24 * HOUR;
      await schedule.look();
    }
    expect(stored.filter(({ filename }) => filename.includes('scheduled')).map(({ createdAt }) => createdAt.slice(0, 10))).to.deep.equal(['2026-03-04', '2026-03-05', '2026-03-06']);
    expect(stored).to.have.length(5);
    const old = [summary('a_scheduled.tar.gz', START - 100 * 24 * HOUR), summary('b_scheduled.tar.gz', START - 99 * 24 * HOUR)];
    expect(outdated(old, { every_hours: 24, keep: 5, keep_days: 30 }, START)).to.deep.equal(['a_scheduled.tar.gz']);
  });

  it('S4 creates one backup, however many daemons look at the same time or later', async () => {
    const daemons = [open(), open(), open()];
    for (const count of [1, 2, 3]) {
      await Promise.all(daemons.map((one) => one.look()));
      expect(stored).to.have.length(count);
      // The archive lies in the home of another daemon.
      stored = stored.map((one) => ({ ...one, filename: one.filename.replace('_scheduled', '_elsewhere') }));
      for (const one of daemons) await one.look();
      expect(stored).to.have.length(count);
      now += 24 * HOUR;
    }
  });

  it('S3 tries again a quarter of an hour after a failure, which the doctor shows', async () => {
    const schedule = open();
    fails = true;
    await schedule.look();
    expect(schedule.findings()[0]).to.include({ result: 'fail', message: 'The last scheduled backup failed: the disk is full' });
    fails = false;
    now += HOUR / 4 - 1;
    await schedule.look();
    expect(stored).to.have.length(0);
    now += 1;
    await schedule.look();
    expect(stored).to.have.length(1);
    expect(schedule.findings()[0]).to.include({ result: 'pass' });
  });
});
