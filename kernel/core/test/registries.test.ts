import { expect } from 'chai';
import { ContributionRegistry } from '../src/contribution-registry.js';
import { Lifetime } from '../src/lifetime.js';
import { LiveRegistry } from '../src/live-registry.js';
import type { Contributor } from '../src/owner.js';

const ownerOf = (id: string, generation = 1): Contributor => ({ id, generation, lifetime: new Lifetime(`${id}@${generation}`) });

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

  it('validates what a visible generation adds later at once, and keeps nothing of what it refuses', () => {
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
    let reported = 0;
    const registry = new ContributionRegistry<string>('route', { describe: (value) => value, changed: () => void reported++ });
    const [mine, staged, thirdParty] = [ownerOf('memory'), ownerOf('memory', 2), ownerOf('files')];
    registry.add(mine, 'GET /a');
    const hidden = registry.add(staged, 'GET /a');
    await hidden.dispose();
    expect(reported).to.equal(0);
    registry.swap(undefined, mine);
    expect(reported).to.equal(1);
    registry.drop(thirdParty);
    expect(reported).to.equal(1);
    registry.drop(mine);
    expect(reported).to.equal(2);
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
      begin: (owner: Contributor) => {
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
    const reported: string[] = [];
    const timer = (label: string) => ({
      label,
      begin: () => {
        reported.push(`${label} begins`);
        return { dispose: () => void reported.push(`${label} ends`) };
      },
    });
    const [mine, other] = [ownerOf('memory'), ownerOf('files')];
    registry.add(mine, timer('decay'));
    registry.add(other, timer('sweep'));
    registry.swap(undefined, mine);
    registry.swap(undefined, other);
    expect(reported).to.deep.equal(['decay begins', 'sweep begins']);
    registry.swap(mine, undefined);
    registry.swap(undefined, mine);
    expect(reported).to.deep.equal(['decay begins', 'sweep begins', 'decay ends', 'decay begins']);
  });
});

describe('a live registry that is held', () => {
  it('begins nothing before it is opened, then what is still there, and later ones at once', async () => {
    const registry = new LiveRegistry('worker', { isHeld: true });
    const begun: string[] = [];
    const worker = (label: string) => ({
      label,
      begin: () => {
        begun.push(label);
        return { dispose: () => undefined };
      },
    });
    const [gone, first, later] = [ownerOf('gone'), ownerOf('first'), ownerOf('later')];
    for (const owner of [gone, first]) {
      registry.add(owner, worker(owner.id));
      registry.swap(undefined, owner);
    }
    await gone.lifetime.close();
    expect(begun).to.deep.equal([]);

    registry.open();
    expect(begun).to.deep.equal(['first']);

    registry.add(later, worker('later'));
    registry.swap(undefined, later);
    expect(begun).to.deep.equal(['first', 'later']);
  });
});
