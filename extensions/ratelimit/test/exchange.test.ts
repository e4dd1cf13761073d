import { expect } from 'chai';
import { createExchange } from '../src/exchange.js';
import { createGcra } from '../src/gcra.js';

/** A daemon with ten tokens at once and ten a second. */
const daemonNamed = (name: string) => {
  const options = () => ({ ratePerSecond: 10, windowMs: 1_000, maxCallers: 100 });
  const gcra = createGcra(options);
  const exchange = createExchange(name, gcra, options);
  return {
    ...exchange,
    ask: (caller: string, cost: number, nowMs: number): boolean => {
      const isAdmitted = gcra.take(caller, cost, nowMs);
      if (isAdmitted) exchange.spent(caller, cost, nowMs);
      return isAdmitted;
    },
  };
};

type Daemon = ReturnType<typeof daemonNamed>;

const share = (from: Daemon, to: Daemon, nowMs: number): void => {
  const message = from.message();
  if (message) to.received(message, nowMs);
};

describe('a rate limit of several daemons', () => {
  it('X1 refuses at one what a caller spent at the other, and no other caller', () => {
    const [a, b] = [daemonNamed('a'), daemonNamed('b')];
    a.ask('x', 8, 0);
    share(a, b, 0);
    expect(b.ask('x', 3, 0)).to.equal(false);
    expect(b.ask('x', 2, 0)).to.equal(true);
    expect(b.ask('y', 10, 0)).to.equal(true);
    share(b, a, 0);
    expect(a.ask('x', 1, 0)).to.equal(false);
    expect(a.ask('x', 1, 100)).to.equal(true);
  });

  it('X2 makes up with the next message for one that was lost', () => {
    const [a, b] = [daemonNamed('a'), daemonNamed('b')];
    a.ask('x', 1, 0);
    share(a, b, 0);
    a.ask('x', 4, 0);
    a.message();
    a.ask('x', 4, 0);
    share(a, b, 0);
    expect(b.ask('x', 2, 0)).to.equal(false);
    expect(b.ask('x', 1, 0)).to.equal(true);
  });

  it('counts of a caller that it first hears of only what is new, and of one that began anew there all', () => {
    const [a, b] = [daemonNamed('a'), daemonNamed('b')];
    for (let second = 0; second < 100; second++) a.ask('x', 9, second * 1_000);
    a.message();
    a.ask('x', 1, 100_000);
    share(a, b, 100_000);
    expect(b.ask('x', 9, 100_000)).to.equal(true);

    a.sweep(200_000);
    a.ask('x', 6, 200_000);
    share(a, b, 200_000);
    expect(b.ask('x', 5, 200_000)).to.equal(false);
    expect(b.ask('x', 4, 200_000)).to.equal(true);
  });

  it('never holds a caller longer than a window, whatever it is told', () => {
    const b = daemonNamed('b');
    b.received({ by: 'a', spent: { x: { total: 1_000_000, fresh: 1_000_000 } } }, 0);
    expect(b.ask('x', 1, 99)).to.equal(false);
    expect(b.ask('x', 1, 100)).to.equal(true);
  });

  it('X3 tells nothing while nothing was admitted, and does not count what it told itself', () => {
    const a = daemonNamed('a');
    expect(a.message()).to.equal(undefined);
    a.ask('x', 8, 0);
    const message = a.message();
    if (message) a.received(message, 0);
    expect(a.ask('x', 2, 0)).to.equal(true);
    expect(a.message()?.spent).to.deep.equal({ x: { total: 10, fresh: 2 } });
    expect(a.message()).to.equal(undefined);
  });
});
