import { expect } from 'chai';
import { EventHub } from '../src/event-hub.js';
import { Lifetime } from '../src/lifetime.js';
import { type Owner, currentOwner } from '../src/owner.js';
import { ServiceRegistry } from '../src/service-registry.js';

type Impl = Readonly<Record<string, unknown>>;
type Facade = Record<string, (...args: unknown[]) => Promise<unknown>>;

const ownerOf = (id: string, generation = 1): Owner => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const messageOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    return `gave ${String(await work)}`;
  } catch (error) {
    return (error as Error).message;
  }
};

// Names are those of this test; the typed face knows only those of contracts.
interface Loose {
  provide(name: string, impl: Impl): void;
  require(name: string): Facade;
  optional(name: string): { value: Facade | undefined; onChange(fn: (value: Facade | undefined) => void): { dispose(): void } };
}

const create = () => {
  const faults: string[] = [];
  const services = new ServiceRegistry((owner, service) => void faults.push(`${owner.id} ${service}`));
  const faceOf = (owner: Owner): Loose => services.facade(owner) as unknown as Loose;
  const provide = (owner: Owner, impl: Impl, previous?: Owner): void => {
    faceOf(owner).provide('memory', impl);
    services.provided.swap(previous, owner);
  };
  return { services, faults, faceOf, provide };
};

describe('a service', () => {
  it('is kept once and always answered by the generation that is there now', async () => {
    const { faceOf, provide } = create();
    const memory = faceOf(ownerOf('runs')).require('memory');
    const [old, next] = [ownerOf('memory', 1), ownerOf('memory', 2)];
    provide(old, { which: () => 1 });
    expect(await memory.which?.()).to.equal(1);
    provide(next, { which: async () => 2, more: () => 'new' }, old);
    expect(await memory.which?.()).to.equal(2);
    expect(await memory.more?.()).to.equal('new');
  });

  it('rejects with service_gone, 503 and retry, when nobody provides it or the method is gone', async () => {
    const { services, faceOf, provide } = create();
    const memory = faceOf(ownerOf('runs')).require('memory');
    const [old, next] = [ownerOf('memory', 1), ownerOf('memory', 2)];
    provide(old, { which: () => 1, old: () => 'old' });
    provide(next, { which: () => 2 }, old);
    const caught: Array<{ code: string; status: number; retry: boolean }> = [];
    await memory.old?.().catch((error) => caught.push(error));
    services.provided.swap(next, undefined);
    await memory.which?.().catch((error) => caught.push(error));
    expect(caught.map(({ code, status, retry }) => ({ code, status, retry }))).to.deep.equal([
      { code: 'service_gone', status: 503, retry: true },
      { code: 'service_gone', status: 503, retry: true },
    ]);
  });

  it('holds its generation while a call lasts, and lets go when it fails', async () => {
    const { faceOf, provide } = create();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const owner = ownerOf('memory');
    provide(owner, {
      slow: () => gate,
      bad: () => {
        throw new Error('bad');
      },
      worse: async () => {
        throw new Error('worse');
      },
    });
    const memory = faceOf(ownerOf('runs')).require('memory');
    const flying = memory.slow?.();
    expect(owner.lifetime.holds()).to.deep.equal(['service memory.slow']);
    open();
    await flying;
    expect(await messageOf(memory.bad?.() as Promise<unknown>)).to.equal('bad');
    expect(await messageOf(memory.worse?.() as Promise<unknown>)).to.equal('worse');
    expect(owner.lifetime.holds()).to.deep.equal([]);
  });

  it('runs as its provider', async () => {
    const { faceOf, provide } = create();
    provide(ownerOf('memory'), { who: async () => currentOwner()?.id });
    expect(await faceOf(ownerOf('runs')).require('memory').who?.()).to.equal('memory');
  });

  it('cannot be changed by who uses it', () => {
    const { faceOf, provide } = create();
    provide(ownerOf('memory'), { which: () => 1 });
    const memory = faceOf(ownerOf('runs')).require('memory');
    expect(() => {
      memory.which = async () => 'mine';
    }).to.throw(TypeError);
  });

  it('has one provider', () => {
    const { services, faceOf, provide } = create();
    provide(ownerOf('memory'), { which: () => 1 });
    const rival = ownerOf('rival');
    faceOf(rival).provide('memory', { which: () => 2 });
    expect(() => services.provided.verify(rival, undefined)).to.throw('already provided by memory');
  });

  describe('that is optional', () => {
    it('is there while somebody provides it, and says when that changes', async () => {
      const { services, faceOf, provide } = create();
      const handle = faceOf(ownerOf('runs')).optional('memory');
      const heard: boolean[] = [];
      handle.onChange((value) => heard.push(value !== undefined));
      expect(handle.value).to.equal(undefined);
      const owner = ownerOf('memory');
      provide(owner, { which: () => 1 });
      expect(await handle.value?.which?.()).to.equal(1);
      services.provided.swap(owner, undefined);
      expect(handle.value).to.equal(undefined);
      expect(heard).to.deep.equal([true, false]);
    });

    it('is not heard of any more by a generation that has ended, nor by one that stopped listening', async () => {
      const { faceOf, provide } = create();
      const user = ownerOf('runs');
      const heard: unknown[] = [];
      faceOf(user)
        .optional('memory')
        .onChange(() => heard.push(1));
      faceOf(ownerOf('other'))
        .optional('memory')
        .onChange(() => heard.push(2))
        .dispose();
      await user.lifetime.close();
      provide(ownerOf('memory'), { which: () => 1 });
      expect(heard).to.deep.equal([]);
    });

    it('comes although somebody who watches it throws; that one is named', () => {
      const { services, faults, faceOf, provide } = create();
      const heard: string[] = [];
      faceOf(ownerOf('broken'))
        .optional('memory')
        .onChange(() => {
          throw new Error('no');
        });
      faceOf(ownerOf('fine'))
        .optional('memory')
        .onChange(() => heard.push(currentOwner()?.id ?? 'nobody'));
      provide(ownerOf('memory'), { which: () => 1 });
      expect(services.has('memory')).to.equal(true);
      expect(heard).to.deep.equal(['fine']);
      expect(faults).to.deep.equal(['broken memory']);
    });
  });
});

describe('the event hub', () => {
  interface LooseEvents {
    on(event: string, fn: (data: unknown) => unknown): { dispose(): void };
    publish(event: string, data: unknown): void;
  }
  const hubOf = (durable: readonly string[] = []) => {
    const failed: string[] = [];
    const dropped: string[] = [];
    const hub = new EventHub({
      failed: (owner, event, error) => void failed.push(`${owner.id} ${event} ${(error as Error).message}`),
      dropped: (owner, event) => void dropped.push(`${owner.id} ${event}`),
      isDurable: (id) => durable.includes(id),
    });
    const listen = (id: string, fn: (data: unknown) => unknown): Owner => {
      const owner = ownerOf(id);
      (hub.facade(owner) as unknown as LooseEvents).on('memory.added', fn);
      hub.listeners.swap(undefined, owner);
      return owner;
    };
    return { hub, failed, dropped, listen };
  };

  it('never runs a listener inside the call that publishes', async () => {
    const { hub, listen } = hubOf();
    const heard: unknown[] = [];
    listen('audit', (data) => heard.push(data));
    hub.emit('memory.added', 1);
    expect(heard).to.deep.equal([]);
    await turn();
    expect(heard).to.deep.equal([1]);
  });

  it('gives each listener events in order, one at a time, and waits for nobody else', async () => {
    const { hub, listen } = hubOf();
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const slow: unknown[] = [];
    const quick: unknown[] = [];
    listen('slow', async (data) => {
      slow.push(data);
      await gate;
    });
    listen('quick', (data) => quick.push(data));
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
    const heard: unknown[] = [];
    listen('broken', (data) => {
      heard.push(data);
      throw new Error(`cannot take ${data}`);
    });
    hub.emit('memory.added', 1);
    hub.emit('memory.added', 2);
    await turn();
    expect(heard).to.deep.equal([1, 2]);
    expect(failed).to.deep.equal(['broken memory.added cannot take 1', 'broken memory.added cannot take 2']);
  });

  it('keeps a thousand for a listener that is behind, drops the oldest and says so', async () => {
    const { hub, dropped, listen } = hubOf();
    const heard: unknown[] = [];
    listen('slow', (data) => heard.push(data));
    for (let n = 1; n <= 1_002; n++) hub.emit('memory.added', n);
    await turn();
    expect(heard).to.have.length(1_000);
    expect(heard[0]).to.equal(3);
    expect(dropped).to.deep.equal(['slow memory.added', 'slow memory.added']);
  });

  it('says nothing to who listens no more, and nothing live to who listens durably', async () => {
    const { hub, listen } = hubOf(['webhooks']);
    const heard: string[] = [];
    const gone = listen('gone', () => heard.push('gone'));
    listen('webhooks', () => heard.push('webhooks'));
    hub.listeners.swap(gone, undefined);
    hub.emit('memory.added', 1);
    await turn();
    expect(heard).to.deep.equal([]);
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
    const heard: string[] = [];
    const on = (owner: Owner, event: string, name: string): void =>
      void (hub.facade(owner) as unknown as LooseEvents).on(event, async (data) => {
        await Promise.resolve();
        heard.push(`${name} ${data} under ${owner.lifetime.holds().join()}`);
      });
    on(memory, 'memory.added', 'one');
    on(memory, 'memory.added', 'two');
    on(memory, 'run.ended', 'three');
    on(files, 'memory.added', 'four');
    for (const owner of [memory, files]) hub.listeners.swap(undefined, owner);

    expect(await hub.deliverTo('memory', 'memory.added', 1)).to.equal(true);
    expect(heard).to.deep.equal(['one 1 under event memory.added', 'two 1 under event memory.added']);
    expect(memory.lifetime.holds()).to.deep.equal([]);

    await Promise.all([memory.lifetime.drain(10), hub.deliverTo('files', 'run.ended', 2)]);
    expect(await hub.deliverTo('memory', 'memory.added', 3)).to.equal(false);
    expect(heard).to.have.length(2);
  });

  it('goes on with what comes after a pause, and holds nobody in between', async () => {
    const { hub, listen } = hubOf();
    const heard: unknown[] = [];
    const owner = listen('memory', (data) => void heard.push(data));
    const publisher = hub.facade(ownerOf('runs')) as unknown as LooseEvents;
    publisher.publish('memory.added', 1);
    await turn();
    expect(owner.lifetime.holds()).to.deep.equal([]);
    publisher.publish('memory.added', 2);
    await turn();
    expect(heard).to.deep.equal([1, 2]);
  });

  it('tells a generation that has ended nothing of what still waited for it', async () => {
    const { hub, listen } = hubOf();
    const heard: unknown[] = [];
    const owner = listen('memory', (data) => void heard.push(data));
    hub.emit('memory.added', 1);
    hub.emit('memory.added', 2);
    void owner.lifetime.close();
    await turn();
    expect(heard).to.deep.equal([]);
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
