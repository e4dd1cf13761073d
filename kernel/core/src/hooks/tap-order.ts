/** In which order the taps of a hook are called: the same on every boot, whatever the order of loading. */
import type { Tap } from './hook-slot.js';

/** Stage, then before/after, then extension id. Wishes that contradict each other give way to the id. */
export function orderTaps(taps: readonly Tap[]): readonly Tap[] {
  if (taps.length < 2) return taps;
  const sorted = [...taps].sort((a, b) => a.stage - b.stage || compare(a.owner.id, b.owner.id));
  const stages = new Map<number, Tap[]>();
  for (const tap of sorted) {
    const group = stages.get(tap.stage);
    if (group) group.push(tap);
    else stages.set(tap.stage, [tap]);
  }
  return [...stages.values()].flatMap(settle);
}

/** Takes again and again the first by id that nobody left wants to precede. */
function settle(taps: readonly Tap[]): Tap[] {
  const left = [...taps];
  const result: Tap[] = [];
  while (left.length > 0) {
    const free = left.findIndex((tap) => !left.some((other) => other !== tap && precedes(other, tap)));
    result.push(...left.splice(Math.max(free, 0), 1));
  }
  return result;
}

const precedes = (one: Tap, other: Tap): boolean => one.before.includes(other.owner.id) || other.after.includes(one.owner.id);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
