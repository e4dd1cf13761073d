import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { createLedgers } from '../../src/money/quota-ledger.js';
import type { Scope, Spent } from '../../src/store.js';

const NOON = Date.parse('2026-03-10T12:00:00Z');
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOTHING = { tokens: 0, costMicros: 0 };
const never = new AbortController().signal;

describe('the ledger of an agent', () => {
  interface Rows {
    minutes?: Spent['minutes'];
    days?: ReadonlyArray<{ day: string; costMicros: number }>;
  }
  const open = (rows: Rows = {}) => {
    const clock = virtualClock(NOON);
    const reads: Array<{ scope: Scope; since: string }> = [];
    const kept = { minutes: rows.minutes ?? [], days: rows.days ?? [], elsewhere: NOTHING };
    const store = {
      spent: async (scope: Scope, since: string) => {
        reads.push({ scope, since });
        return { minutes: kept.minutes, elsewhere: kept.elsewhere };
      },
      spentByDay: async () => kept.days,
    };
    return { clock, reads, kept, ledgers: createLedgers({ store, clock }) };
  };

  it('reads today and the last hour once, and after fifteen seconds what came since five minutes before', async () => {
    const { ledgers, clock, reads } = open();
    await Promise.all([ledgers.of('a'), ledgers.of('a')]);
    await clock.advance(14_999);
    await ledgers.of('a');
    expect(reads).to.deep.equal([{ scope: 'a', since: '2026-03-10T00:00:00.000Z' }]);
    await clock.advance(1);
    await ledgers.of('a');
    expect(reads.slice(1)).to.deep.equal([{ scope: 'a', since: '2026-03-10T11:55:00.000Z' }]);
  });

  it('is fresh with a reading that began after the question', async () => {
    const { ledgers, reads, kept } = open();
    const early = ledgers.of('a');
    const asked = ledgers.fresh('a');
    kept.elsewhere = { tokens: 5, costMicros: 6 };
    await early;
    expect((await asked).elsewhere()).to.deep.equal({ tokens: 5, costMicros: 6 });
    expect(reads).to.have.length(2);
    await ledgers.fresh('a');
    expect(reads).to.have.length(3);
    expect((await ledgers.of('a')).onTheirWay()).to.deep.equal({ tokens: 5, costMicros: 6 });
  });

  it('reads at once what somebody else says that they wrote, also while it is being read', async () => {
    const { ledgers, reads } = open();
    await ledgers.of('a');
    ledgers.stale('a');
    ledgers.stale('of-nobody');
    const reading = ledgers.of('a');
    ledgers.stale('a');
    await reading;
    await ledgers.of('a');
    expect(reads).to.have.length(3);
    await ledgers.of('a');
    expect(reads).to.have.length(3);
    expect(ledgers.size()).to.equal(1);
  });

  it('counts along what no row has yet, and takes the larger number where both know', async () => {
    const { ledgers, clock, kept } = open({ minutes: [{ minute: '2026-03-10T12:00', tokens: 100, costMicros: 10 }] });
    const ledger = await ledgers.of('a');
    ledger.open({ tokens: 50, costMicros: 9 });
    expect(ledger.onTheirWay()).to.deep.equal({ tokens: 50, costMicros: 9 });
    ledger.close({ tokens: 50, costMicros: 9 }, { tokens: 30, costMicros: 4 }, clock.now());
    expect(ledger.onTheirWay()).to.deep.equal(NOTHING);
    expect(ledger.lastHour(clock.now(), 'tokens').used).to.equal(130);
    expect(ledger.lastHour(clock.now(), 'costMicros').used).to.equal(14);
    expect(ledger.thisMinute(clock.now())).to.deep.equal({ used: 130, endsAt: NOON + MINUTE });
    expect(ledger.thisDay(clock.now())).to.deep.equal({ used: 14, endsAt: Date.parse('2026-03-11T00:00:00Z') });
    await clock.advance(15_000);
    expect((await ledgers.of('a')).lastHour(clock.now(), 'tokens').used).to.equal(130);
    kept.minutes = [{ minute: '2026-03-10T12:00', tokens: 500, costMicros: 11 }];
    await clock.advance(15_000);
    const later = await ledgers.of('a');
    expect(later.lastHour(clock.now(), 'tokens').used).to.equal(500);
    expect(later.lastHour(clock.now(), 'costMicros').used).to.equal(14);
    expect(later.thisDay(clock.now()).used).to.equal(14);
  });

  it('counts a minute until all of it is more than an hour old', async () => {
    const { ledgers } = open({
      minutes: [
        { minute: '2026-03-10T11:59', tokens: 1, costMicros: 0 },
        { minute: '2026-03-10T11:00', tokens: 2, costMicros: 0 },
        { minute: '2026-03-10T10:59', tokens: 4, costMicros: 0 },
      ],
    });
    const ledger = await ledgers.of('a');
    expect(ledger.lastHour(NOON, 'tokens').used).to.equal(3);
    expect(ledger.lastHour(NOON + MINUTE - 1, 'tokens').used).to.equal(3);
    expect(ledger.lastHour(NOON + MINUTE, 'tokens').used).to.equal(1);
    expect(ledger.thisMinute(NOON).used).to.equal(0);
  });

  it('knows when less than a limit will be left, oldest minutes first', async () => {
    const { ledgers } = open({
      minutes: [
        { minute: '2026-03-10T11:50', tokens: 30, costMicros: 0 },
        { minute: '2026-03-10T11:20', tokens: 60, costMicros: 0 },
      ],
    });
    const { freeAt } = (await ledgers.of('a')).lastHour(NOON, 'tokens');
    expect(freeAt(31)).to.equal(Date.parse('2026-03-10T12:21:00Z'));
    expect(freeAt(30)).to.equal(Date.parse('2026-03-10T12:51:00Z'));
    expect(freeAt(0)).to.equal(NOON + HOUR);
  });

  it('sums this day and month in UTC, and forgets the month before', async () => {
    const { ledgers, clock, kept } = open({
      days: [
        { day: '2026-03-01', costMicros: 5 },
        { day: '2026-03-09', costMicros: 7 },
      ],
      minutes: [{ minute: '2026-03-10T08:00', tokens: 1, costMicros: 2 }],
    });
    const ledger = await ledgers.of('a');
    expect(ledger.thisMonth(NOON)).to.deep.equal({ used: 14, endsAt: Date.parse('2026-04-01T00:00:00Z') });
    expect(ledger.thisDay(NOON).used).to.equal(2);
    expect(ledger.thisMonth(Date.parse('2026-12-31T23:00:00Z'))).to.deep.equal({ used: 0, endsAt: Date.parse('2027-01-01T00:00:00Z') });
    kept.minutes = [];
    await clock.advance(14 * HOUR);
    // The day before is no longer read by minutes, and counts on.
    const next = await ledgers.of('a');
    expect([next.thisDay(clock.now()).used, next.thisMonth(clock.now()).used]).to.deep.equal([0, 14]);
    await clock.advance(30 * 24 * HOUR);
    const april = await ledgers.of('a');
    expect(april.thisMonth(clock.now()).used).to.equal(0);
    expect(april.thisMonth(NOON).used).to.equal(0);
  });

  it('loses nothing between the minutes of a day and its sum, at midnight and after days without a reading', async () => {
    const { ledgers, clock, kept } = open();
    await clock.advance(11 * HOUR + 58 * MINUTE);
    const ledger = await ledgers.of('a');
    ledger.open(NOTHING);
    ledger.close(NOTHING, { tokens: 0, costMicros: 3 }, clock.now());
    // A row of another process that the reading before could not see.
    kept.minutes = [
      { minute: '2026-03-10T23:58', tokens: 0, costMicros: 3 },
      { minute: '2026-03-10T23:59', tokens: 0, costMicros: 4 },
    ];
    await clock.advance(4 * MINUTE);
    expect((await ledgers.of('a')).thisMonth(clock.now()).used).to.equal(7);
    await clock.advance(2 * HOUR);
    expect((await ledgers.of('a')).thisMonth(clock.now()).used).to.equal(7);
    kept.minutes = [];
    await clock.advance(3 * 24 * HOUR);
    expect((await ledgers.of('a')).thisMonth(clock.now()).used).to.equal(7);
  });

  it('wakes whoever waits when a call ends, and tells how long that took', async () => {
    const { ledgers, clock } = open();
    const ledger = await ledgers.of('a');
    ledger.open(NOTHING);
    const waits = [ledger.changed(clock, 5_000, never), ledger.changed(clock, 9_000, never)];
    await clock.advance(300);
    ledger.close(NOTHING, NOTHING, clock.now());
    expect(await Promise.all(waits)).to.deep.equal([300, 300]);
    expect(clock.pending()).to.equal(0);
  });

  it('lets nobody wait longer than they would, or than their signal', async () => {
    const { ledgers, clock } = open();
    const ledger = await ledgers.of('a');
    const waited = ledger.changed(clock, 5_000, never);
    await clock.advance(5_000);
    expect(await waited).to.equal(5_000);
    const leaving = new AbortController();
    const left = ledger.changed(clock, 5_000, leaving.signal);
    leaving.abort();
    expect(await left).to.equal(5_000);
    expect(clock.pending()).to.equal(0);
  });

  it('is one of a thousand: the one that was asked longest ago goes, unless a call of it is on its way or waited for', async () => {
    const { ledgers, clock, reads } = open();
    const busy = await ledgers.of('busy');
    busy.open(NOTHING);
    void (await ledgers.of('awaited')).changed(clock, 5_000, never);
    await ledgers.of('idle');
    await ledgers.of('used again');
    for (let number = 4; number < 1_000; number++) await ledgers.of(`a${number}`);
    await ledgers.of('used again');
    expect(ledgers.size()).to.equal(1_000);
    await ledgers.of('one more');
    await ledgers.of('and another');
    expect(ledgers.size()).to.equal(1_000);
    const before = reads.length;
    for (const id of ['busy', 'awaited', 'used again', 'a5']) await ledgers.of(id);
    expect(reads).to.have.length(before);
    for (const id of ['idle', 'a4']) await ledgers.of(id);
    expect(reads).to.have.length(before + 2);
    await clock.advance(5_000);
  });
});
