import { expect } from 'chai';
import { Lifetime } from '../src/lifetime.js';

const never = (): Promise<void> => new Promise(() => undefined);
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const thrown = (fn: () => unknown): string => {
  try {
    fn();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('nothing was thrown');
};

describe('a lifetime', () => {
  it('disposes newest first, each awaited before the next', async () => {
    const lifetime = new Lifetime('memory@1');
    const order: string[] = [];
    const slow = (name: string) => async () => {
      order.push(`${name} begins`);
      await turn();
      order.push(`${name} ends`);
    };
    lifetime.add('queue', slow('queue'));
    lifetime.add('socket', slow('socket'));

    expect(await lifetime.close()).to.deep.equal([]);
    expect(order).to.deep.equal(['socket begins', 'socket ends', 'queue begins', 'queue ends']);
    expect(lifetime.labels()).to.deep.equal([]);
    expect(lifetime.state).to.equal('closed');
  });

  it('reports a disposer that throws, rejects or hangs by its label, and runs the rest', async () => {
    const lifetime = new Lifetime('memory@1', 20);
    let isLastDone = false;
    lifetime.add('the last', () => {
      isLastDone = true;
    });
    lifetime.add('hanging', never);
    lifetime.add('rejecting', () => Promise.reject(new Error('no')));
    lifetime.add('throwing', () => {
      throw new Error('broken');
    });

    const problems = await lifetime.close();

    expect(problems.map(({ label, error }) => `${label}: ${(error as Error).message}`)).to.deep.equal(['throwing: broken', 'rejecting: no', 'hanging: did not finish within 20 ms']);
    expect(isLastDone).to.equal(true);
  });

  it('keeps no timer of a budget that was not needed', async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    await turn(); // the runner's own limit is set by now
    const before = timers();
    const lifetime = new Lifetime('memory@1');
    lifetime.add('quick', turn);
    await lifetime.close();
    expect(timers()).to.equal(before);
  });

  it('forgets what was disposed by hand, and disposes it once', async () => {
    const lifetime = new Lifetime('memory@1');
    let times = 0;
    const handle = lifetime.add('timer', () => {
      times++;
    });
    await handle.dispose();
    await handle.dispose();
    expect(lifetime.labels()).to.deep.equal([]);
    await lifetime.close();
    expect(times).to.equal(1);
  });

  it('disposes exactly what was disposed by hand: its neighbours stay until the end', async () => {
    const lifetime = new Lifetime('memory@1');
    const gone: string[] = [];
    const [first] = ['first', 'second', 'third'].map((label) => lifetime.add(label, () => void gone.push(label)));
    await first?.dispose();
    expect(lifetime.labels()).to.deep.equal(['second', 'third']);
    await lifetime.close();
    expect(gone).to.deep.equal(['first', 'third', 'second']);
  });

  it('disposes once what disposes itself again while it is being disposed', async () => {
    const lifetime = new Lifetime('memory@1');
    let times = 0;
    const opened = lifetime.add('socket', async () => {
      times += 1;
      await opened.dispose();
    });
    await lifetime.close();
    expect(times).to.equal(1);
  });

  it('is closed once, however often it is asked, and stays closing until the last disposer is through', async () => {
    const lifetime = new Lifetime('memory@1');
    let times = 0;
    lifetime.add('queue', async () => {
      times += 1;
      await turn();
    });
    const first = lifetime.close();
    expect(await lifetime.close()).to.deep.equal([]);
    expect(lifetime.state).to.equal('closing');
    await first;
    expect([lifetime.state, times]).to.deep.equal(['closed', 1]);
    expect(await lifetime.drain(10)).to.equal(true);
    expect(lifetime.state).to.equal('closed');
  });

  it('refuses to open anything once it closes, and closes it again at once', async () => {
    const lifetime = new Lifetime('memory@1');
    await lifetime.close();
    let isClosedAgain = false;
    const message = thrown(() =>
      lifetime.add('late timer', () => {
        isClosedAgain = true;
      }),
    );
    await turn();
    expect(message).to.contain('memory@1').and.to.contain('late timer');
    expect(isClosedAgain).to.equal(true);
  });

  it('aborts its signal before the first disposer runs', async () => {
    const lifetime = new Lifetime('memory@1');
    let wasAborted = false;
    lifetime.add('reader', () => {
      wasAborted = lifetime.signal.aborted;
    });
    expect(lifetime.signal.aborted).to.equal(false);
    await lifetime.close();
    expect(wasAborted).to.equal(true);
  });

  it('is not closed while its disposers run: they may still write what they hold', async () => {
    const lifetime = new Lifetime('memory@1');
    let seen = '';
    lifetime.add('flush', async () => {
      await turn();
      seen = lifetime.state;
    });
    await lifetime.close();
    expect(seen).to.equal('closing');
  });

  describe('that drains', () => {
    it('lets nobody new in, but those whose work began before', async () => {
      const lifetime = new Lifetime('memory@1');
      const leave = lifetime.enter('request');
      const draining = lifetime.drain(10_000);
      expect(lifetime.enter('another')).to.equal(null);
      const back = lifetime.enterAnyway('service call');
      expect(lifetime.holds()).to.deep.equal(['request', 'service call']);
      leave?.();
      back?.();
      expect(await draining).to.equal(true);
      await lifetime.close();
      expect(lifetime.enterAnyway('too late')).to.equal(null);
    });

    it('is through at once when nobody is in', async () => {
      const lifetime = new Lifetime('memory@1');
      expect(await lifetime.drain(10)).to.equal(true);
      expect(lifetime.state).to.equal('draining');
    });

    it('waits for the last of several, and keeps the names of those still in', async () => {
      const lifetime = new Lifetime('memory@1');
      const [first, second] = [lifetime.enter('one'), lifetime.enter('two')];
      let isThrough = false;
      const drained = lifetime.drain(10_000).then((result) => {
        isThrough = true;
        return result;
      });
      first?.();
      await turn();
      expect([isThrough, lifetime.holds()]).to.deep.equal([false, ['two']]);
      second?.();
      expect(await drained).to.equal(true);
    });

    it('waits for whoever came back in before it noticed that the last had left', async () => {
      const lifetime = new Lifetime('memory@1');
      const first = lifetime.enterAnyway('event one');
      let isDrained = false;
      const draining = lifetime.drain(10_000).then((result) => {
        isDrained = true;
        return result;
      });
      first?.();
      const second = lifetime.enterAnyway('event two');
      await turn();
      expect(isDrained).to.equal(false);
      second?.();
      expect(await draining).to.equal(true);
    });

    it('says after its time that something is still held, and by whom', async () => {
      const lifetime = new Lifetime('memory@1');
      lifetime.enter('GET /slow');
      expect(await lifetime.drain(5)).to.equal(false);
      expect(lifetime.holds()).to.deep.equal(['GET /slow']);
    });

    it('ends at once when it is told to hurry', async () => {
      const lifetime = new Lifetime('memory@1');
      lifetime.enter('GET /slow');
      const draining = lifetime.drain(3_600_000);
      lifetime.hurry();
      expect(await draining).to.equal(false);
    });

    it('counts a leave that is called twice once', async () => {
      const lifetime = new Lifetime('memory@1');
      const one = lifetime.enter('one');
      lifetime.enter('two');
      one?.();
      one?.();
      expect(lifetime.holds()).to.deep.equal(['two']);
    });
  });
});
