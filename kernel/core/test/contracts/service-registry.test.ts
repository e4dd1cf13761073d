import { type ServiceMethods, Type, defineService, method } from '@svc/api';
import { expect } from 'chai';
import { Lifetime } from '../../src/lifetime.js';
import { type Contributor, currentContributor } from '../../src/owner.js';
import { ServiceRegistry } from '../../src/service-registry.js';

const ownerOf = (id: string, generation = 1): Contributor => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });

/** What a call came to: its answer, or the code (or message) of its error. */
const outcome = async (work: Promise<unknown>): Promise<unknown> => {
  try {
    return await work;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : (error as Error).message;
  }
};

const which = method([], Type.Unknown());
const Memory = defineService('memory', '1.0.0', { which });

const create = () => {
  const faults: string[] = [];
  const services = new ServiceRegistry((owner, service) => void faults.push(`${owner.id} ${service}`));
  const provide = (owner: Contributor, methods: ServiceMethods<typeof Memory>, previous?: Contributor): void => {
    services.provide(owner, Memory, methods);
    services.provided.swap(previous, owner);
  };
  return { services, faults, provide };
};

describe('a service', () => {
  it('is kept once and always answered by the generation that is there now', async () => {
    const { services, provide } = create();
    const memory = services.require(ownerOf('runs'), Memory);
    const [old, next] = [ownerOf('memory', 1), ownerOf('memory', 2)];
    provide(old, { which: () => 1 });
    expect(await memory.which()).to.equal(1);
    provide(next, { which: async () => 2 }, old);
    expect(await memory.which()).to.equal(2);
  });

  it('rejects with service_gone, 503 and retry, when nobody provides it or not that method', async () => {
    const { services, provide } = create();
    const runs = ownerOf('runs');
    const owner = ownerOf('memory');
    const wider = services.require(runs, defineService('memory', '1.0.0', { which, more: which }));
    provide(owner, { which: () => 1 });
    const caught: Array<{ code: string; status: number; retry: boolean }> = [];
    await wider.more().catch((error) => caught.push(error));
    services.provided.swap(owner, undefined);
    await services
      .require(runs, Memory)
      .which()
      .catch((error) => caught.push(error));
    expect(caught.map(({ code, status, retry }) => ({ code, status, retry }))).to.deep.equal([
      { code: 'service_gone', status: 503, retry: true },
      { code: 'service_gone', status: 503, retry: true },
    ]);
  });

  it('holds its generation while a call lasts, and lets go when it fails', async () => {
    const { services } = create();
    let open: () => void = () => undefined;
    const latch = new Promise<void>((resolve) => {
      open = resolve;
    });
    const owner = ownerOf('memory');
    const Work = defineService('memory', '1.0.0', { slow: which, bad: which, worse: which });
    services.provide(owner, Work, {
      slow: () => latch,
      bad: () => {
        throw new Error('bad');
      },
      worse: async () => {
        throw new Error('worse');
      },
    });
    services.provided.swap(undefined, owner);
    const memory = services.require(ownerOf('runs'), Work);
    const flying = memory.slow();
    expect(owner.lifetime.holds()).to.deep.equal(['service memory.slow']);
    open();
    await flying;
    expect(await outcome(memory.bad())).to.equal('bad');
    expect(await outcome(memory.worse())).to.equal('worse');
    expect(owner.lifetime.holds()).to.deep.equal([]);
  });

  it('runs as its provider', async () => {
    const { services, provide } = create();
    provide(ownerOf('memory'), { which: async () => currentContributor()?.id });
    expect(await services.require(ownerOf('runs'), Memory).which()).to.equal('memory');
  });

  it('cannot be changed by who uses it', () => {
    const { services } = create();
    const memory = services.require(ownerOf('runs'), Memory);
    expect(() => Object.assign(memory, { which: async () => 'mine' })).to.throw(TypeError);
  });

  it('has one provider', () => {
    const { services, provide } = create();
    provide(ownerOf('memory'), { which: () => 1 });
    const rival = ownerOf('rival');
    services.provide(rival, Memory, { which: () => 2 });
    expect(() => services.provided.verify(rival, undefined)).to.throw('the service memory@1 is already provided by memory');
  });

  it('is refused to a provider that lacks a method of it', () => {
    const { services } = create();
    const lacking: ServiceMethods<typeof Memory> = JSON.parse('{}');
    expect(() => services.provide(ownerOf('memory'), Memory, lacking)).to.throw('the service memory@1 declares which, which memory does not provide');
  });

  describe('of another version', () => {
    const of = (version: string) => defineService('memory', version, { which });
    const provideAs = (services: ServiceRegistry, owner: Contributor, versions: readonly string[]): void => {
      for (const version of versions) services.provide(owner, of(version), { which: () => version });
      services.provided.swap(undefined, owner);
    };

    it('stands beside it where the major differs, from one provider or two, and each caller gets its own', async () => {
      const { services } = create();
      provideAs(services, ownerOf('memory'), ['1.3.0', '2.0.0']);
      provideAs(services, ownerOf('memory-next'), ['3.0.0']);
      const runs = ownerOf('runs');
      for (const version of ['1.3.0', '2.0.0', '3.0.0']) expect(await services.require(runs, of(version)).which()).to.equal(version);
      expect(await outcome(services.require(runs, of('4.0.0')).which())).to.equal('service_gone');
      expect([services.has(of('2.0.0')), services.has(of('4.0.0'))]).to.deep.equal([true, false]);
    });

    it('answers callers that were built against an older minor', async () => {
      const { services } = create();
      provideAs(services, ownerOf('memory'), ['1.3.0']);
      expect(await services.require(ownerOf('runs'), of('1.0.0')).which()).to.equal('1.3.0');
    });

    it('refuses with service_version, naming both, a caller that was built against a newer minor, until it is provided', async () => {
      const { services } = create();
      const old = ownerOf('memory', 1);
      provideAs(services, old, ['1.3.0']);
      const newer = services.require(ownerOf('runs'), of('1.4.0'));
      const refused = await newer.which().catch((error: Error & { code: string; status: number }) => error);
      expect(refused).to.include({ code: 'service_version', status: 503 });
      expect(refused).to.have.property('message').that.contains('memory 1.3.0').and.contains('1.4.0');
      expect(old.lifetime.holds()).to.deep.equal([]);

      const next = ownerOf('memory', 2);
      services.provide(next, of('1.4.0'), { which: () => '1.4.0' });
      services.provided.swap(old, next);
      expect(await newer.which()).to.equal('1.4.0');
    });
  });

  describe('that is optional', () => {
    it('is there while somebody provides it, and says when that changes', async () => {
      const { services, provide } = create();
      const handle = services.optional(ownerOf('runs'), Memory);
      const received: boolean[] = [];
      handle.onChange((value) => received.push(value !== undefined));
      expect(handle.value).to.equal(undefined);
      const owner = ownerOf('memory');
      provide(owner, { which: () => 1 });
      expect(await handle.value?.which()).to.equal(1);
      services.provided.swap(owner, undefined);
      expect(handle.value).to.equal(undefined);
      expect(received).to.deep.equal([true, false]);
    });

    it('is not there in another major version', () => {
      const { services, provide } = create();
      provide(ownerOf('memory'), { which: () => 1 });
      expect(services.optional(ownerOf('runs'), defineService('memory', '2.0.0', { which })).value).to.equal(undefined);
    });

    it('is not heard of any more by a generation that has ended, nor by one that stopped listening', async () => {
      const { services, provide } = create();
      const user = ownerOf('runs');
      const received: unknown[] = [];
      services.optional(user, Memory).onChange(() => received.push(1));
      services
        .optional(ownerOf('other'), Memory)
        .onChange(() => received.push(2))
        .dispose();
      await user.lifetime.close();
      provide(ownerOf('memory'), { which: () => 1 });
      expect(received).to.deep.equal([]);
    });

    it('comes although somebody who watches it throws; that one is named', () => {
      const { services, faults, provide } = create();
      const received: string[] = [];
      services.optional(ownerOf('broken'), Memory).onChange(() => {
        throw new Error('no');
      });
      services.optional(ownerOf('fine'), Memory).onChange(() => received.push(currentContributor()?.id ?? 'nobody'));
      provide(ownerOf('memory'), { which: () => 1 });
      expect(services.has(Memory)).to.equal(true);
      expect(received).to.deep.equal(['fine']);
      expect(faults).to.deep.equal(['broken memory@1']);
    });
  });
});
