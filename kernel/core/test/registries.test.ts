import { expect } from 'chai';
import { ContributionRegistry } from '../src/contribution-registry.js';
import { HookRegistry } from '../src/hook-registry.js';
import { Lifetime } from '../src/lifetime.js';
import { LiveRegistry } from '../src/live-registry.js';
import type { Owner } from '../src/owner.js';

const ownerOf = (id: string, generation = 1): Owner => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });

const unique = () =>
  new ContributionRegistry<string>('route', {
    describe: (value) => value,
    check: (candidate, others) => {
      const other = others.find((row) => row.value === candidate.value);
      if (other) throw new Error(`${candidate.value} belongs to ${other.owner.id}`);
    },
  });
const visible = (registry: ContributionRegistry<string>): string[] => registry.active().map((row) => `${row.value} of ${row.owner.id}@${row.owner.generation}`);

describe('a contribution registry', () => {
  it('shows nothing of a candidate before it is published', () => {
    const registry = unique();
    const owner = ownerOf('memory');
    registry.add(owner, 'GET /a');
    expect(visible(registry)).to.deep.equal([]);
    expect(registry.describe(owner)).to.deep.equal(['GET /a']);
    registry.swap(undefined, owner);
    expect(visible(registry)).to.deep.equal(['GET /a of memory@1']);
  });

  it('shows either all of the old generation or all of the new, never both or neither', () => {
    const seen: string[][] = [];
    const registry = new ContributionRegistry<string>('route', { describe: (value) => value, changed: () => void seen.push(visible(registry)) });
    const [old, next] = [ownerOf('memory', 1), ownerOf('memory', 2)];
    for (const owner of [old, next]) for (const value of ['GET /a', 'GET /b']) registry.add(owner, value);
    registry.swap(undefined, old);
    registry.swap(old, next);
    registry.swap(next, old);
    const all = (generation: number) => [`GET /a of memory@${generation}`, `GET /b of memory@${generation}`];
    expect(seen).to.deep.equal([all(1), all(2), all(1)]);
  });

  it('refuses a candidate that conflicts with what would stay, not with what it replaces', () => {
    const registry = unique();
    const [mine, other, next] = [ownerOf('memory', 1), ownerOf('files'), ownerOf('memory', 2)];
    registry.add(mine, 'GET /a');
    registry.add(other, 'GET /b');
    registry.swap(undefined, mine);
    registry.swap(undefined, other);
    registry.add(next, 'GET /a');
    expect(() => registry.verify(next, mine)).to.not.throw();
    expect(() => registry.verify(next, undefined)).to.throw('GET /a belongs to memory');
    registry.add(next, 'GET /b');
    expect(() => registry.verify(next, mine)).to.throw('GET /b belongs to files');
  });

  it('refuses a candidate that conflicts with itself', () => {
    const registry = unique();
    const owner = ownerOf('memory');
    registry.add(owner, 'GET /a');
    registry.add(owner, 'GET /a');
    expect(() => registry.verify(owner, undefined)).to.throw('GET /a belongs to memory');
  });

  it('judges what a visible generation adds later at once, and keeps nothing of what it refuses', () => {
    const registry = unique();
    const [mine, other] = [ownerOf('memory'), ownerOf('files')];
    registry.add(other, 'GET /b');
    registry.swap(undefined, mine);
    registry.swap(undefined, other);
    registry.add(mine, 'GET /c');
    expect(() => registry.add(mine, 'GET /b')).to.throw('belongs to files');
    expect(visible(registry)).to.deep.equal(['GET /b of files@1', 'GET /c of memory@1']);
  });

  it('leaves no row when its lifetime closes, nor when it is dropped', async () => {
    const registry = unique();
    const [mine, other] = [ownerOf('memory'), ownerOf('files')];
    for (const owner of [mine, other]) {
      registry.add(owner, `GET /${owner.id}`);
      registry.swap(undefined, owner);
    }
    await mine.lifetime.close();
    expect(registry.describe(mine)).to.deep.equal([]);
    registry.drop(other);
    expect(registry.describe(other)).to.deep.equal([]);
    expect(visible(registry)).to.deep.equal([]);
  });

  it('takes nothing from a generation that has ended', async () => {
    const registry = unique();
    const owner = ownerOf('memory');
    await owner.lifetime.close();
    expect(() => registry.add(owner, 'GET /late')).to.throw('memory@1');
    await Promise.resolve();
    expect(registry.describe(owner)).to.deep.equal([]);
  });
});

describe('a live registry', () => {
  it('begins what becomes visible, and ends it when it no longer is', async () => {
    const registry = new LiveRegistry('timer');
    const running = new Set<string>();
    const timer = (label: string) => ({
      label,
      begin: (owner: Owner) => {
        const name = `${label} of ${owner.generation}`;
        running.add(name);
        return { dispose: () => void running.delete(name) };
      },
    });
    const [old, next] = [ownerOf('memory', 1), ownerOf('memory', 2)];
    registry.add(old, timer('decay'));
    registry.add(next, timer('decay'));
    expect([...running]).to.deep.equal([]);
    registry.swap(undefined, old);
    expect([...running]).to.deep.equal(['decay of 1']);
    registry.swap(old, next);
    expect([...running]).to.deep.equal(['decay of 2']);
    await next.lifetime.close();
    expect([...running]).to.deep.equal([]);
  });
});

describe('the hook registry', () => {
  const create = () => {
    const faults: string[] = [];
    const hooks = new HookRegistry(
      { 'doctor.check': { kind: 'gather', policy: 'observe', budgetMs: 50 }, 'tool.before': { kind: 'veto', policy: 'closed', budgetMs: 50 } },
      { strike: (owner, hook) => void faults.push(`${owner.id} ${hook}`), timing: () => undefined },
    );
    return { hooks, faults };
  };
  // Names are those of this test; the typed face knows only those of contracts.
  interface Loose {
    tap(name: string, fn: (value: unknown) => unknown, options?: { stage?: string; before?: readonly string[] }): void;
    define(name: string, spec: object): { call(value: unknown): Promise<unknown>; isEmpty(): boolean };
  }
  const faceOf = (hooks: HookRegistry, owner: Owner): Loose => hooks.facade(owner) as unknown as Loose;
  const publish = (hooks: HookRegistry, next: Owner, previous?: Owner): void => {
    hooks.definitions.swap(previous, next);
    hooks.taps.swap(previous, next);
  };

  it('calls nobody of a candidate that is not published', async () => {
    const { hooks } = create();
    const owner = ownerOf('memory');
    faceOf(hooks, owner).tap('doctor.check', () => 'fine');
    expect(hooks.slot('doctor.check')?.isEmpty).to.equal(true);
    publish(hooks, owner);
    expect(await hooks.slot('doctor.check')?.call(undefined)).to.deep.equal([{ owner: 'memory', value: 'fine' }]);
  });

  it('lets taps sleep while the owner of their hook is off, and wakes them with it', async () => {
    const { hooks } = create();
    const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
    faceOf(hooks, memory).tap('run.context', (value) => `${value} remembered`);
    publish(hooks, memory);
    expect(hooks.slot('run.context')).to.equal(undefined);
    const handle = faceOf(hooks, runs).define('run.context', { kind: 'pipe', policy: 'open', budgetMs: 50 });
    publish(hooks, runs);
    expect(await handle.call('text')).to.equal('text remembered');
    hooks.definitions.swap(runs, undefined);
    expect(hooks.slot('run.context')).to.equal(undefined);
  });

  it('lets the owner of a hook that was switched off finish by the checks it began with', async () => {
    const { hooks } = create();
    const [runs, guard] = [ownerOf('runs'), ownerOf('guard')];
    faceOf(hooks, guard).tap('run.start', () => ({ deny: 'no' }));
    const handle = faceOf(hooks, runs).define('run.start', { kind: 'veto', policy: 'closed', budgetMs: 50 });
    publish(hooks, guard);
    publish(hooks, runs);
    expect(handle.isEmpty()).to.equal(false);
    hooks.definitions.swap(runs, undefined);
    hooks.taps.swap(runs, undefined);
    expect(await handle.call('draft')).to.deep.equal({ deny: 'no' });
  });

  it('refuses a hook that another extension or the kernel owns', () => {
    const { hooks } = create();
    const [runs, other] = [ownerOf('runs'), ownerOf('other')];
    const spec = { kind: 'note', policy: 'observe', budgetMs: 5 };
    faceOf(hooks, runs).define('run.note', spec);
    publish(hooks, runs);
    faceOf(hooks, other).define('run.note', spec);
    expect(() => hooks.definitions.verify(other, undefined)).to.throw('already defined by runs');
    const third = ownerOf('third');
    faceOf(hooks, third).define('tool.before', spec);
    expect(() => hooks.definitions.verify(third, undefined)).to.throw('belongs to the kernel');
  });

  it('stops calling a suspended generation on an observing hook, and there only; its successor is called again', async () => {
    const { hooks } = create();
    const [old, next, other] = [ownerOf('memory', 1), ownerOf('memory', 2), ownerOf('files')];
    for (const owner of [old, next, other]) {
      faceOf(hooks, owner).tap('doctor.check', () => owner.generation);
      faceOf(hooks, owner).tap('tool.before', () => (owner === old ? { deny: 'no' } : undefined));
    }
    publish(hooks, old);
    publish(hooks, other);
    const values = async (): Promise<unknown> =>
      ((await hooks.handle('doctor.check').call(undefined as never, undefined as never)) as unknown as Array<{ owner: string; value: unknown }>).map((row) => `${row.owner}@${row.value}`);

    expect(hooks.suspend(old, 'doctor.check')).to.equal(true);
    expect(await values()).to.deep.equal(['files@1']);
    expect(hooks.suspend(old, 'tool.before')).to.equal(false);
    expect(await hooks.slot('tool.before')?.call({})).to.deep.equal({ deny: 'no' });
    publish(hooks, next, old);
    expect(await values()).to.deep.equal(['files@1', 'memory@2']);
  });
});
