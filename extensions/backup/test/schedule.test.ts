/** The schedule as functions. */
import { type Backups, type BackupSummary, type Clock, createTables, type Logger } from '@svc/api';
import { bootTestKernel, fixtureExtension } from '@svc/testing';
import { expect } from 'chai';
import { nextCronTime } from '@svc/platform/clock/cron';
import { createSchedule, outdated, type ScheduleSettings } from '../src/schedule.js';
import { type ScheduleTurns, scheduleTurns, type Turn, Turns } from '../src/turns.js';

const HOUR = 3_600_000;
const START = Date.parse('2026-03-01T00:00:00.000Z');
const silent: Logger = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

describe('the schedule of backups', () => {
  let now: number;
  let stored: BackupSummary[];
  let fails: boolean;
  let removed: number;
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
      removed += 1;
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
  const open = (changed: Partial<ScheduleSettings> = {}) => {
    const settings = { every_hours: 24, cron: '', time_zone: 'UTC', keep: 3, keep_days: 0, ...changed };
    return createSchedule({ backups, turns, settings: () => settings, clock, timers: { nextAt: nextCronTime }, log: silent });
  };
  beforeEach(() => {
    [now, stored, fails, removed, row] = [START, [], false, 0, undefined];
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
    expect(await schedule.nextAt(stored)).to.equal(new Date(START + 24 * 31 * HOUR).toISOString());
    const off = open({ every_hours: 0 });
    now += 1_000 * HOUR;
    await off.look();
    expect([stored.length, await off.nextAt(stored)]).to.deep.equal([3, null]);
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
    expect(outdated(old, { keep: 5, keep_days: 30 }, START)).to.deep.equal(['a_scheduled.tar.gz']);
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

  it('S1 creates backups at the times of a cron expression, and one for all that were missed', async () => {
    const cron = { cron: '0 3 * * *', time_zone: 'Europe/Berlin' };
    for (const [hours, count] of [
      [0, 0],
      [1.9, 0],
      [2, 1],
      [3, 1],
      [24 + 2, 2],
      [24 * 30, 3],
      [24 * 30 + 0.9, 3],
      // In summer, three o'clock in Berlin is an hour earlier.
      [24 * 30 + 1, 4],
    ] as const) {
      now = START + hours * HOUR;
      // A start each time: what counts is in the database.
      await open(cron).look();
      expect(stored.length + removed, `after ${hours} h`).to.equal(count);
    }
    expect(await open(cron).nextAt(stored)).to.equal('2026-04-01T01:00:00.000Z');
  });

  it('S1 makes up for a time that was missed before the first backup', async () => {
    await open({ cron: '0 3 * * *' }).look();
    now = START + 26 * HOUR;
    await open({ cron: '0 3 * * *' }).look();
    expect(stored).to.have.length(1);
  });

  for (const changed of [{ every_hours: 24 }, { cron: '0 3 * * *' }])
    it(`S5 goes on with ${'cron' in changed ? 'a cron expression' : 'hours'} when the clock was years ahead`, async () => {
      const schedule = open({ ...changed, keep: 1 });
      now = START + 24 * 1_000 * HOUR;
      for (const hours of [0, 24]) {
        now += hours * HOUR;
        await schedule.look();
      }
      expect(stored).to.have.length(1);
      const ahead = stored[0]?.filename;
      now = START;
      for (let hour = 0; hour <= 28; hour += 1) {
        await schedule.look();
        now += HOUR;
      }
      expect(stored.map(({ filename }) => filename))
        .to.have.length(1)
        .and.not.include(ahead);
      expect(Date.parse((await schedule.nextAt(stored)) ?? '')).to.be.within(now, now + 24 * HOUR);
    });

  it('S5 takes no backup twice when another daemon is a few seconds ahead', async () => {
    row = { done_at: START + 5_000, busy_until: 0 };
    await open().look();
    expect(stored).to.have.length(0);
  });

  it('S4 takes turns with the rights that the area has', async function () {
    this.timeout(60_000);
    let taken: ScheduleTurns | undefined;
    const area = fixtureExtension({
      id: 'turning',
      manifest: { tables: ['turns'] },
      definition: {
        tables: [Turns],
        migrations: [createTables('0001_init', [Turns])],
        activate(ctx) {
          taken = scheduleTurns(ctx.db);
        },
      },
    });
    const kernel = await bootTestKernel({ extra: [area], config: '[extensions]\nenable = ["turning"]\n' });
    try {
      const [first, second, third] = [0, 1, 2].map((done_at) => ({ done_at, busy_until: 9 }));
      for (const [seen, next, isTaken] of [
        [undefined, first, true],
        [undefined, second, false],
        [first, second, true],
        [first, third, false],
        [second, third, true],
      ] as const)
        expect(await taken?.change(seen, next as Turn)).to.equal(isTaken);
      expect(await taken?.read()).to.deep.equal(third);
    } finally {
      await kernel.stop();
    }
  });
});
