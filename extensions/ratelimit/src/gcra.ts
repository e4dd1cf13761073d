/**
 * The generic cell rate algorithm: one number per caller, the theoretical arrival time of its next token.
 *
 * G1  A caller may take `burst` tokens at once and `ratePerSecond` for ever.
 * G2  What is refused takes nothing.
 * G3  A caller idle for a whole window is forgotten; the table has a cap, and the longest idle go first.
 */

export interface GcraOptions {
  readonly ratePerSecond: number;
  readonly windowMs: number;
  readonly maxCallers: number;
}

export interface Gcra {
  /** True when `cost` tokens were taken. */
  take(caller: string, cost: number, nowMs: number): boolean;
  /** Somebody else admitted it: it counts, up to what is allowed at once. */
  charge(caller: string, cost: number, nowMs: number): void;
  forget(caller: string): void;
  size(): number;
  sweep(nowMs: number): void;
}

export const createGcra = (options: () => GcraOptions): Gcra => {
  // Insertion order is order of last use: taken entries are put back at the end.
  const arrivals = new Map<string, number>();
  return {
    take: (caller, cost, nowMs) => {
      const { ratePerSecond, windowMs, maxCallers } = options();
      const arrival = Math.max(arrivals.get(caller) ?? nowMs, nowMs);
      const next = arrival + (cost * 1_000) / ratePerSecond;
      if (cost > 0 && next - nowMs > windowMs) return false;
      arrivals.delete(caller);
      arrivals.set(caller, next);
      if (arrivals.size > maxCallers) forgetOldest(arrivals);
      return true;
    },
    charge: (caller, cost, nowMs) => {
      const { ratePerSecond, windowMs, maxCallers } = options();
      const arrival = Math.max(arrivals.get(caller) ?? nowMs, nowMs);
      arrivals.delete(caller);
      arrivals.set(caller, Math.max(arrival, Math.min(arrival + (cost * 1_000) / ratePerSecond, nowMs + windowMs)));
      if (arrivals.size > maxCallers) forgetOldest(arrivals);
    },
    forget: (caller) => void arrivals.delete(caller),
    size: () => arrivals.size,
    sweep: (nowMs) => {
      for (const [caller, arrival] of arrivals) if (arrival <= nowMs) arrivals.delete(caller);
    },
  };
};

function forgetOldest(arrivals: Map<string, number>): void {
  const [oldest] = arrivals.keys();
  if (oldest !== undefined) arrivals.delete(oldest);
}
