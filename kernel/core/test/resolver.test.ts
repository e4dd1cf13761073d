import type { Manifest } from '@svc/api/internal';
import { expect } from 'chai';
import { dependentsOf, resolve, usersOf } from '../src/installed/resolver.js';

const manifest = (id: string, rest: Partial<Manifest> = {}): Manifest => ({ manifest: 1, id, api: '^1.0.0', ...rest });
/** Provides a service of its own name. */
const area = (id: string, rest: Partial<Manifest> = {}): Manifest => manifest(id, { provides: { [id]: '1.2.0' }, ...rest });
const need = (...services: string[]): Record<string, string> => Object.fromEntries(services.map((service) => [service, '^1']));
const resolved = (enabled: readonly Manifest[], installed = enabled) => {
  const { waves, blocked } = resolve(enabled, installed, { apiVersion: '1.4.0' });
  return { waves, blocked: Object.fromEntries(blocked) };
};

describe('the resolver', () => {
  it('starts each in the first wave after all it requires, sorted by id', () => {
    const all = [area('runs', { requires: need('agents', 'llm') }), area('llm'), area('agents'), manifest('webchat', { requires: need('runs') })];
    expect(resolved(all)).to.deep.equal({ waves: [['agents', 'llm'], ['runs'], ['webchat']], blocked: {} });
    expect(resolved([...all].reverse()).waves).to.deep.equal(resolved(all).waves);
  });

  it('orders by optional services and `after` where they are there, and waits for none', () => {
    expect(resolved([area('a', { optional: need('b'), after: ['c'] }), area('b'), area('c')]).waves).to.deep.equal([['b', 'c'], ['a']]);
    expect(resolved([area('a', { optional: need('b'), after: ['c'] })]).waves).to.deep.equal([['a']]);
  });

  describe('blocks', () => {
    it('who needs a service that nobody provides, or only in another version', () => {
      const { blocked } = resolved([manifest('a', { requires: need('nothing') }), manifest('b', { requires: { c: '^2' } }), area('c')]);
      expect(blocked.a).to.contain('nothing ^1').and.to.contain('no installed extension provides');
      expect(blocked.b).to.contain('c ^2');
    });

    it('who needs one that is off, and names it', () => {
      const needy = manifest('a', { requires: need('b') });
      expect(resolved([needy], [needy, area('b')]).blocked.a).to.equal('it requires the service b, and b, which provides it, is off or failed');
    });

    it('whoever stands behind them, and names whom they wait for', () => {
      const off = area('c');
      const enabled = [manifest('a', { requires: need('b') }), area('b', { requires: need('c') })];
      const { waves, blocked } = resolved(enabled, [...enabled, off]);
      expect(waves).to.deep.equal([]);
      expect(blocked.a).to.contain('b, which provides it, cannot start');
      expect(blocked.b).to.contain('c, which provides it, is off or failed');
    });

    it('who was written for another API', () => {
      expect(resolved([manifest('a', { api: '^2.0.0' })]).blocked.a)
        .to.contain('^2.0.0')
        .and.to.contain('1.4.0');
    });

    it('who conflicts with another that is on', () => {
      const { waves, blocked } = resolved([manifest('a', { conflicts: ['b'] }), manifest('b')]);
      expect(blocked).to.deep.equal({ a: 'it conflicts with b, which is on' });
      expect(waves).to.deep.equal([['b']]);
    });

    it('a ring of requirements, printed, and nobody else', () => {
      const { waves, blocked } = resolved([area('a', { requires: need('b') }), area('b', { requires: need('c') }), area('c', { requires: need('a') }), area('d')]);
      expect(blocked.a).to.equal('its requirements form a ring: a → b → c → a');
      expect(Object.keys(blocked)).to.have.members(['a', 'b', 'c']);
      expect(waves).to.deep.equal([['d']]);
    });
  });

  describe('makes no ring of wishes', () => {
    it('when two use each other', () => {
      expect(resolved([area('a', { optional: need('b') }), area('b', { optional: need('a') })])).to.deep.equal({ waves: [['b'], ['a']], blocked: {} });
    });

    it('when one is used by what it requires', () => {
      expect(resolved([area('a', { requires: need('b') }), area('b', { optional: need('a') })])).to.deep.equal({ waves: [['b'], ['a']], blocked: {} });
    });

    it('when three use each other in turn', () => {
      const { waves, blocked } = resolved([area('a', { optional: need('b') }), area('b', { optional: need('c') }), area('c', { optional: need('a') })]);
      expect(blocked).to.deep.equal({});
      expect(waves.flat().sort()).to.deep.equal(['a', 'b', 'c']);
    });

    it('when `after` says the opposite of a requirement', () => {
      expect(resolved([area('a', { requires: need('b') }), area('b', { after: ['a'] })])).to.deep.equal({ waves: [['b'], ['a']], blocked: {} });
    });

    it('when two want to come after each other', () => {
      expect(resolved([area('a', { after: ['b'] }), area('b', { after: ['a'] })]).blocked).to.deep.equal({});
    });
  });

  it('knows who cannot go on without an extension, and who goes on with less', () => {
    const all = [area('llm'), area('runs', { requires: need('llm') }), manifest('webchat', { requires: need('runs') }), area('memory', { optional: need('llm') })];
    expect(dependentsOf('llm', all)).to.deep.equal(['runs', 'webchat']);
    expect(usersOf('llm', all)).to.deep.equal(['memory']);
    expect(dependentsOf('webchat', all)).to.deep.equal([]);
  });

  it('finds all that cannot go on, through others and in rings, each once and sorted', () => {
    const all = [area('a'), area('z', { requires: need('a') }), area('m', { requires: need('z', 'a') }), area('b', { requires: need('c', 'a') }), area('c', { requires: need('b') })];
    expect(dependentsOf('a', all)).to.deep.equal(['b', 'c', 'm', 'z']);
    expect(dependentsOf('b', all)).to.deep.equal(['c']);
    expect(dependentsOf('nobody', all)).to.deep.equal([]);
    expect(usersOf('nobody', all)).to.deep.equal([]);
  });

  it('counts as a user whoever uses any of several services, and not the area itself', () => {
    const both = manifest('both', { provides: { one: '1.0.0', two: '1.0.0' }, optional: need('one') });
    expect(usersOf('both', [both, manifest('user', { optional: need('two') }), manifest('other', { optional: need('three') })])).to.deep.equal(['user']);
  });

  it('prints a ring from where it closes, not the way that led to it', () => {
    const { blocked } = resolved([area('a', { requires: need('b') }), area('b', { requires: need('c') }), area('c', { requires: need('b') })]);
    expect(blocked.b).to.equal('its requirements form a ring: b → c → b');
    expect(blocked.a).to.contain('b, which provides it, cannot start');
  });

  it('gives each extension the same place whatever the order in which they were found', () => {
    const all = [manifest('b', { after: ['a'] }), manifest('a', { after: ['b'] }), area('d'), area('c', { optional: need('d') })];
    expect(resolved(all).waves).to.deep.equal([
      ['b', 'd'],
      ['a', 'c'],
    ]);
    expect(resolved([...all].reverse()).waves).to.deep.equal(resolved(all).waves);
  });

  it('blocks who needs an area that is blocked by its conflict', () => {
    const { waves, blocked } = resolved([area('a', { conflicts: ['x'] }), manifest('x'), manifest('b', { requires: need('a') })]);
    expect(Object.keys(blocked)).to.have.members(['a', 'b']);
    expect(waves).to.deep.equal([['x']]);
  });
});
