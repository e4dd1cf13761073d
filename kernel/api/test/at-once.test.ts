import { expect } from 'chai';
import { allKnown, atOnce, whenKnown } from '../src/at-once.js';

describe('values that are mostly known', () => {
  const later = <T>(value: T): Promise<T> => Promise.resolve(value);
  const failed = (): Promise<never> => Promise.reject(new Error('it broke'));
  const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'no error');

  it('are gone on with in the same turn, others when they come', async () => {
    expect(whenKnown(2, (n) => n + 1)).to.equal(3);
    expect(await whenKnown(later(2), (n) => n + 1)).to.equal(3);
  });

  it('that may be awaited are awaited, whoever made them', async () => {
    const foreign = Object.fromEntries([['then', (take: (value: number) => void) => take(5)]]) as unknown as Promise<number>;
    expect(await whenKnown(foreign, (n) => n + 1)).to.equal(6);
    expect(await allKnown([foreign, 1])).to.deep.equal([5, 1]);
  });

  it('pass a failure on: thrown where they are known, else as a promise that rejects', async () => {
    const breaks = (): never => {
      throw new Error('it broke');
    };
    expect(() => whenKnown(1, breaks)).to.throw('it broke');
    expect(await Promise.resolve(whenKnown(later(1), breaks)).catch(messageOf)).to.equal('it broke');
    expect(await Promise.resolve(whenKnown(failed(), () => 'gone on with')).catch(messageOf)).to.equal('it broke');
  });

  it('are there together at once, in order, or as one promise where one of them is not', async () => {
    expect(allKnown([1, 'a', undefined])).to.deep.equal([1, 'a', undefined]);
    expect(allKnown([1, later('a')])).to.be.instanceOf(Promise);
    expect(await allKnown([1, later('a')])).to.deep.equal([1, 'a']);
    expect(await Promise.resolve(allKnown([later(1), failed()])).catch(messageOf)).to.equal('it broke');
  });

  it('come with their promises from a service that somebody wrote by hand', async () => {
    const service = { count: async () => 3 };
    expect(await atOnce(service).count()).to.equal(3);
  });
});
