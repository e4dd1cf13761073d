import { expect } from 'chai';
import { systemClock, virtualClock } from '../src/clock/clock.js';
import { seededIds, systemIds } from '../src/clock/ids.js';
import { createTimers } from '../src/clock/timers.js';

const START = Date.parse('2026-03-01T00:00:00Z');
const fail = (error: unknown): void => {
  throw error;
};

describe('clock', () => {
  it('moves virtual time only when told, firing what falls due in order', async () => {
    const clock = virtualClock(START);
    const seen: string[] = [];
    void clock.sleep(200).then(() => seen.push(`b ${clock.iso()}`));
    void clock.sleep(100).then(() => seen.push(`a ${clock.iso()}`));
    await clock.advance(50);
    expect(seen).to.deep.equal([]);
    await clock.advance(1_000);
    expect(seen).to.deep.equal(['a 2026-03-01T00:00:00.100Z', 'b 2026-03-01T00:00:00.200Z']);
    expect(clock.now()).to.equal(START + 1_050);
  });

  it('lets go of a cancelled sleep with the reason of its signal', async () => {
    for (const clock of [virtualClock(START), systemClock()]) {
      const controller = new AbortController();
      const slept = clock.sleep(60_000, controller.signal).catch((error: unknown) => error);
      controller.abort('enough');
      expect(await slept).to.equal('enough');
    }
  });

  it('never overlaps a slow call of `every` and keeps to its grid', async () => {
    const clock = virtualClock(START);
    const starts: number[] = [];
    const timer = createTimers({ clock, onError: fail }).every(100, async () => {
      starts.push(clock.mono());
      if (starts.length === 1) await clock.sleep(250);
    });
    await clock.advance(520);
    expect(starts).to.deep.equal([100, 400, 500]);
    await timer.dispose();
    await clock.advance(1_000);
    expect(starts).to.have.length(3);
    expect(clock.pending()).to.equal(0);
  });

  it('beats once where the machine wakes it a fraction early', async () => {
    const clock = virtualClock(START);
    const hasty = { ...clock, schedule: (ms: number, fn: () => void) => clock.schedule(ms > 1 ? ms - 0.4 : ms, fn) };
    const starts: number[] = [];
    const timer = createTimers({ clock: hasty, onError: fail }).every(100, () => void starts.push(Math.round(clock.mono())));
    await clock.advance(1_050);
    expect(starts).to.deep.equal([100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000]);
    await timer.dispose();
  });

  it('passes over the beats of a month of sleep in one step, and keeps to the grid', async () => {
    const clock = virtualClock(START);
    let sleptMs = 0;
    let looks = 0;
    const woken = {
      ...clock,
      mono: () => {
        looks += 1;
        return clock.mono() + sleptMs;
      },
    };
    const starts: number[] = [];
    const timer = createTimers({ clock: woken, onError: fail }).every(100, () => void starts.push(clock.mono()));
    await clock.advance(50);
    sleptMs = 30 * 24 * 3_600_000;
    looks = 0;
    await clock.advance(260);
    expect(starts).to.deep.equal([100, 200, 300]);
    expect(looks).to.be.at.most(10);
    await timer.dispose();
  });

  it('reports what a timer threw and goes on', async () => {
    const clock = virtualClock(START);
    const errors: unknown[] = [];
    let calls = 0;
    const timers = createTimers({ clock, onError: (error) => errors.push(error) });
    const timer = timers.every(10, () => {
      calls++;
      throw new Error('no');
    });
    await clock.advance(35);
    await timer.dispose();
    expect([calls, errors.length]).to.deep.equal([3, 3]);
  });

  it('gives the same ids for the same seed and valid ones in any case', () => {
    const take = (seed: number): string[] => {
      const ids = seededIds(seed);
      return [ids.uuid(), ids.hex(4), String(ids.random())];
    };
    expect(take(7)).to.deep.equal(take(7));
    expect(take(7)).not.to.deep.equal(take(8));
    for (const ids of [seededIds('x'), systemIds()]) {
      expect(ids.uuid()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      expect(ids.random()).to.be.within(0, 1);
    }
  });

  it('makes ids that stand in the order of their time, none of them twice', async () => {
    const ids = systemIds();
    const early = Array.from({ length: 2_000 }, () => ids.uuid());
    await new Promise((resolve) => setTimeout(resolve, 5));
    const late = ids.uuid();

    expect(new Set(early).size).to.equal(2_000);
    expect(early.every((id) => id < late)).to.equal(true);
    expect(Math.abs(Date.now() - Number.parseInt(late.replaceAll('-', '').slice(0, 12), 16))).to.be.below(1_000);
    expect(late[14]).to.equal('7');
  });
});
