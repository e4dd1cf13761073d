/** How many entries a person has, for the rarity of words: counted once, and again after a change. */
import { type MemoryDeps, own } from '../memory-deps.js';

export interface Totals {
  of(ownerId: string): Promise<number>;
  changed(ownerId: string): void;
  forget(): void;
}

const MAX_OWNERS = 5_000;

export const createTotals = (deps: Pick<MemoryDeps, 'db' | 'actors'>): Totals => {
  const known = new Map<string, Promise<number>>();
  return {
    of: (ownerId) => {
      const there = known.get(ownerId);
      if (there) return there;
      const counted = own(deps, { ownerId }).count('entries', {});
      known.set(ownerId, counted);
      counted.catch(() => known.delete(ownerId));
      const [oldest] = known.keys();
      if (known.size > MAX_OWNERS && oldest !== undefined) known.delete(oldest);
      return counted;
    },
    changed: (ownerId) => void known.delete(ownerId),
    forget: () => known.clear(),
  };
};
