import { type EventDecl, Type, defineEvent } from '@svc/api';
import { expect } from 'chai';
import { EventHub } from '../../src/event-hub.js';
import { Lifetime } from '../../src/lifetime.js';
import type { Contributor } from '../../src/owner.js';

const MemoryAdded = defineEvent('memory.added', '1.0.0', Type.Unknown());
const RunEnded = defineEvent('run.ended', '1.0.0', Type.Unknown());

const ownerOf = (id: string, generation = 1): Contributor => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const messageOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    return `gave ${String(await work)}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('the event hub', () => {
  const hubOf = (durable: readonly string[] = []) => {
    const failed: string[] = [];
    const dropped: string[] = [];
    const hub = new EventHub({
      failed: (owner, event, error) => void failed.push(`${owner.id} ${event} ${(error as Error).message}`),
      dropped: (owner, event) => void dropped.push(`${owner.id} ${event}`),
      isDurable: (id) => durable.includes(id),
    });
    const listen = (id: string, fn: (data: unknown) => void | Promise<void>): Contributor => {
      const owner = ownerOf(id);
      hub.on(owner, MemoryAdded, fn);
      hub.listeners.swap(undefined, owner);
      return owner;
    };
    return { hub, failed, dropped, listen };
  };

  it('never runs a listener inside the call that publishes', async () => {
    const { hub, listen } = hubOf();
    const received: unknown[] = [];
    listen('audit', (data) => void received.push(data));
    hub.emit('memory.added', 1);
    expect(received).to.deep.equal([]);
    await turn();
    expect(received).to.deep.equal([1]);
  });

  it('gives each listener events in order, one at a time, and waits for nobody else', async () => {
    const { hub, listen } = hubOf();
    let open: () => void = () => undefined;
    const latch = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow: unknown[] = [];
    const quick: unknown[] = [];
    listen('slow', async (data) => {
      slow.push(data);
      await latch;
    });
    listen('quick', (data) => void quick.push(data));
    for (const n of [1, 2, 3]) hub.emit('memory.added', n);
    await turn();
    expect(quick).to.deep.equal([1, 2, 3]);
    expect(slow).to.deep.equal([1]);
    open();
    await turn();
    expect(slow).to.deep.equal([1, 2, 3]);
  });

  it('goes on after a listener failed, and names it', async () => {
    const { hub, failed, listen } = hubOf();
    const received: unknown[] = [];
    listen('broken', (data) => {
      received.push(data);
      throw new Error(`cannot take ${data}`);
    });
    hub.emit('memory.added', 1);
    hub.emit('memory.added', 2);
    await turn();
    expect(received).to.deep.equal([1, 2]);
    expect(failed).to.deep.equal(['broken memory.added cannot take 1', 'broken memory.added cannot take 2']);
  });

  it('keeps a thousand for a listener that is behind, drops the oldest and says so', async () => {
    const { hub, dropped, listen } = hubOf();
    const received: unknown[] = [];
    listen('slow', (data) => void received.push(data));
    for (let n = 1; n <= 1_002; n++) hub.emit('memory.added', n);
    await turn();
    expect(received).to.have.length(1_000);
    expect(received[0]).to.equal(3);
    expect(dropped).to.deep.equal(['slow memory.added', 'slow memory.added']);
  });

  it('says nothing to who listens no more, and nothing live to who listens durably', async () => {
    const { hub, listen } = hubOf(['webhooks']);
    const received: string[] = [];
    const gone = listen('gone', () => void received.push('gone'));
    listen('webhooks', () => void received.push('webhooks'));
    hub.listeners.swap(gone, undefined);
    hub.emit('memory.added', 1);
    await turn();
    expect(received).to.deep.equal([]);
  });

  it('delivers to one listener on demand: true when it took the event, false when it is off, and its error', async () => {
    const { hub, listen } = hubOf();
    const owner = listen('webhooks', (data) => {
      if (data === 'bad') throw new Error('not now');
    });
    expect(await hub.deliverTo('webhooks', 'memory.added', 'good')).to.equal(true);
    expect(await messageOf(hub.deliverTo('webhooks', 'memory.added', 'bad'))).to.equal('not now');
    hub.listeners.swap(owner, undefined);
    expect(await hub.deliverTo('webhooks', 'memory.added', 'good')).to.equal(false);
  });

  it('delivers on demand to the listeners of one extension for one event, one after the other, and lets go of it', async () => {
    const { hub } = hubOf();
    const [memory, files] = [ownerOf('memory'), ownerOf('files')];
    const received: string[] = [];
    const on = (owner: Contributor, event: EventDecl, name: string): void =>
      void hub.on(owner, event, async (data) => {
        await Promise.resolve();
        received.push(`${name} ${data} under ${owner.lifetime.holds().join()}`);
      });
    on(memory, MemoryAdded, 'one');
    on(memory, MemoryAdded, 'two');
    on(memory, RunEnded, 'three');
    on(files, MemoryAdded, 'four');
    for (const owner of [memory, files]) hub.listeners.swap(undefined, owner);

    expect(await hub.deliverTo('memory', 'memory.added', 1)).to.equal(true);
    expect(received).to.deep.equal(['one 1 under event memory.added', 'two 1 under event memory.added']);
    expect(memory.lifetime.holds()).to.deep.equal([]);

    await Promise.all([memory.lifetime.drain(10), hub.deliverTo('files', 'run.ended', 2)]);
    expect(await hub.deliverTo('memory', 'memory.added', 3)).to.equal(false);
    expect(received).to.have.length(2);
  });

  it('goes on with what comes after a pause, and holds nobody in between', async () => {
    const { hub, listen } = hubOf();
    const received: unknown[] = [];
    const owner = listen('memory', (data) => void received.push(data));
    hub.emit('memory.added', 1);
    await turn();
    expect(owner.lifetime.holds()).to.deep.equal([]);
    hub.emit('memory.added', 2);
    await turn();
    expect(received).to.deep.equal([1, 2]);
  });

  it('tells a generation that has ended nothing of what still waited for it', async () => {
    const { hub, listen } = hubOf();
    const received: unknown[] = [];
    const owner = listen('memory', (data) => void received.push(data));
    hub.emit('memory.added', 1);
    hub.emit('memory.added', 2);
    void owner.lifetime.close();
    await turn();
    expect(received).to.deep.equal([]);
  });

  it('keeps nothing of a listener that is gone', async function () {
    this.timeout(10_000);
    const { hub, listen } = hubOf();
    const listenAndLeave = async (): Promise<WeakRef<object>> => {
      const fn = (): void => undefined;
      const owner = listen('memory', fn);
      hub.emit('memory.added', 1);
      await turn();
      hub.listeners.swap(owner, undefined);
      hub.listeners.drop(owner);
      await owner.lifetime.close();
      return new WeakRef(fn);
    };
    const gone = await listenAndLeave();
    for (let tries = 0; tries < 20 && gone.deref(); tries++) {
      await turn();
      globalThis.gc?.();
    }
    expect(gone.deref()).to.equal(undefined);
  });
});
