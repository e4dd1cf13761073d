/**
 * The newest changes, numbered.
 *
 * L1  Numbers grow by one with each change and begin anew with each epoch, which is drawn for every generation of the area in every process.
 * L2  It holds `capacity` changes and no more. Whoever has not read as far as the oldest has a gap, and is told so.
 */
import type { Change } from './changes.js';

export interface Numbered extends Change {
  readonly seq: number;
}

export interface RingBuffer {
  readonly epoch: string;
  /** Number of the newest change, 0 when there is none. */
  newest(): number;
  add(change: Change): void;
  /** What one must be allowed to do to hear of all that it ever held, as it stands now. */
  permissions(): ReadonlySet<string>;
  /** What came after this number, oldest first; undefined where some of it is not held any more, or the number is none of this ring. */
  after(seq: number): readonly Numbered[] | undefined;
}

export const createRingBuffer = (epoch: string, capacity: number): RingBuffer => {
  const held: Numbered[] = [];
  /** There are no more of them than areas declare. */
  const permissions = new Set<string>();
  let newest = 0;
  return {
    epoch,
    newest: () => newest,
    add: (change) => {
      newest += 1;
      permissions.add(change.permission);
      held[newest % capacity] = { seq: newest, ...change };
    },
    permissions: () => new Set(permissions),
    after: (seq) => {
      if (seq > newest || newest - seq > capacity) return undefined;
      return Array.from({ length: newest - seq }, (_, index) => held[(seq + 1 + index) % capacity] as Numbered); // each of these was put there
    },
  };
};
