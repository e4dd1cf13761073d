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

  it('takes away exactly the row that is disposed, and none for a row that is gone already', async () => {
    const registry = unique();
    const [mine, other] = [ownerOf('memory'), ownerOf('files')];
    const [first] = ['GET /1', 'GET /2', 'GET /3'].map((value) => registry.add(mine, value));
    registry.add(other, 'GET /b');
    for (const owner of [mine, other]) registry.swap(undefined, owner);
    await first?.dispose();
    expect(registry.describe(mine)).to.deep.equal(['GET /2', 'GET /3']);
    registry.drop(mine);
    await mine.lifetime.close();
    expect(visible(registry)).to.deep.equal(['GET /b of files@1']);
  });

  it('tells of a change only when what is visible may have changed', async () => {
    let told = 0;
    const registry = new ContributionRegistry<string>('route', { describe: (value) => value, changed: () => void told++ });
    const [mine, staged, stranger] = [ownerOf('memory'), ownerOf('memory', 2), ownerOf('files')];
    registry.add(mine, 'GET /a');
    const hidden = registry.add(staged, 'GET /a');
    await hidden.dispose();
    expect(told).to.equal(0);
    registry.swap(undefined, mine);
    expect(told).to.equal(1);
    registry.drop(stranger);
    expect(told).to.equal(1);
    registry.drop(mine);
    expect(told).to.equal(2);
    expect(visible(registry)).to.deep.equal([]);
  });

  it('needs no rule of what may join', () => {
    const registry = new ContributionRegistry<string>('timer', { describe: (value) => value });
    const owner = ownerOf('memory');
    registry.add(owner, 'one');
    registry.verify(owner, undefined);
    registry.swap(undefined, owner);
    registry.add(owner, 'two');
    expect(visible(registry)).to.deep.equal(['one of memory@1', 'two of memory@1']);
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

describe('a live registry, when something else changes', () => {
  it('leaves what runs alone, and begins anew what was gone and is back', () => {
    const registry = new LiveRegistry('timer');
    const told: string[] = [];
    const timer = (label: string) => ({
      label,
      begin: () => {
        told.push(`${label} begins`);
        return { dispose: () => void told.push(`${label} ends`) };
      },
    });
    const [mine, other] = [ownerOf('memory'), ownerOf('files')];
    registry.add(mine, timer('decay'));
    registry.add(other, timer('sweep'));
    registry.swap(undefined, mine);
    registry.swap(undefined, other);
    expect(told).to.deep.equal(['decay begins', 'sweep begins']);
    registry.swap(mine, undefined);
    registry.swap(undefined, mine);
    expect(told).to.deep.equal(['decay begins', 'sweep begins', 'decay ends', 'decay begins']);
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
    tap(name: string, fn: (value: unknown) => unknown, options?: { stage?: string | number; before?: readonly string[] }): void;
    use(name: string): { call(value: unknown): Promise<unknown>; isEmpty(): boolean };
    define(name: string, spec: object): { call(value: unknown): Promise<unknown>; isEmpty(): boolean };
  }
  const faceOf = (hooks: HookRegistry, owner: Owner): Loose => hooks.facade(owner) as unknown as Loose;
  const publish = (hooks: HookRegistry, next: Owner, previous?: Owner): void => {
    hooks.definitions.swap(previous, next);
    hooks.taps.swap(previous, next);
  };

  it('calls taps by stage: first, policy, normal, late, last, with numbers between them', async () => {
    const { hooks } = create();
    const owner = ownerOf('memory');
    const order: unknown[] = [];
    const stages = [201, 'last', 199, 101, 'late', 99, 1, undefined, -1, -99, 'policy', -101, -199, 'first', -201];
    for (const stage of stages) {
      faceOf(hooks, owner).tap('tool.before', () => void order.push(stage), stage === undefined ? {} : { stage });
    }
    publish(hooks, owner);
    await hooks.slot('tool.before')?.call('x');
    expect(order).to.deep.equal([...stages].reverse());
  });

  it('takes no name of a stage it does not know for an early one', async () => {
    const { hooks } = create();
    const order: string[] = [];
    const owner = ownerOf('memory');
    faceOf(hooks, owner).tap('tool.before', () => void order.push('late'), { stage: 'late' });
    faceOf(hooks, owner).tap('tool.before', () => void order.push('unknown'), { stage: 'whenever' });
    faceOf(hooks, owner).tap('tool.before', () => void order.push('policy'), { stage: 'policy' });
    publish(hooks, owner);
    await hooks.slot('tool.before')?.call('x');
    expect(order).to.deep.equal(['policy', 'unknown', 'late']);
  });

  it('gives whoever uses a hook a handle that is empty while the hook is not there, and says so when it is called', async () => {
    const { hooks } = create();
    const [runs, memory] = [ownerOf('runs'), ownerOf('memory')];
    const handle = faceOf(hooks, memory).use('run.context');
    expect(handle.isEmpty()).to.equal(true);
    expect(() => handle.call('text')).to.throw('the hook run.context does not exist now');
    faceOf(hooks, runs).define('run.context', { kind: 'pipe', policy: 'open', budgetMs: 50 });
    publish(hooks, runs);
    expect(handle.isEmpty()).to.equal(true);
    expect(await handle.call('text')).to.equal('text');
    faceOf(hooks, memory).tap('run.context', (value) => `${value} remembered`);
    publish(hooks, memory);
    expect(handle.isEmpty()).to.equal(false);
    expect(await handle.call('text')).to.equal('text remembered');
  });

  it('says to an owner whose hook was never there that it is empty, and refuses to call it', () => {
    const { hooks } = create();
    const handle = faceOf(hooks, ownerOf('runs')).define('run.context', { kind: 'pipe', policy: 'open', budgetMs: 50 });
    expect(handle.isEmpty()).to.equal(true);
    expect(() => handle.call('text')).to.throw('the hook run.context does not exist now');
  });

  for (const [what, changed] of [
    ['kind', { kind: 'step', policy: 'open', budgetMs: 50 }],
    ['policy', { kind: 'pipe', policy: 'closed', budgetMs: 50 }],
    ['budget', { kind: 'pipe', policy: 'open', budgetMs: 60 }],
  ] as const) {
    it(`makes a hook anew, with the taps it had, when a reload of its owner changes its ${what}, and keeps it when nothing changes`, () => {
      const { hooks } = create();
      const spec = { kind: 'pipe', policy: 'open', budgetMs: 50 };
      const [one, two, three, memory] = [ownerOf('runs', 1), ownerOf('runs', 2), ownerOf('runs', 3), ownerOf('memory')];
      faceOf(hooks, memory).tap('run.context', (value) => value);
      publish(hooks, memory);
      faceOf(hooks, one).define('run.context', spec);
      publish(hooks, one);
      const slot = hooks.slot('run.context');
      faceOf(hooks, two).define('run.context', { ...spec });
      publish(hooks, two, one);
      expect(hooks.slot('run.context')).to.equal(slot);
      faceOf(hooks, three).define('run.context', changed);
      publish(hooks, three, two);
      expect(hooks.slot('run.context')?.spec).to.deep.equal(changed);
      expect(hooks.slot('run.context')?.taps()).to.have.length(1);
    });
  }

  it('calls the next generation of one area among several', async () => {
    const { hooks } = create();
    const [old, next, other] = [ownerOf('memory', 1), ownerOf('memory', 2), ownerOf('files')];
    for (const owner of [old, next, other]) faceOf(hooks, owner).tap('doctor.check', () => owner.generation);
    publish(hooks, other);
    publish(hooks, old);
    publish(hooks, next, old);
    expect(await hooks.slot('doctor.check')?.call(undefined)).to.deep.equal([
      { owner: 'files', value: 1 },
      { owner: 'memory', value: 2 },
    ]);
  });

  it('suspends nobody on a hook that is not there', () => {
    const { hooks } = create();
    expect(hooks.suspend(ownerOf('memory'), 'nothing.here')).to.equal(false);
  });

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
