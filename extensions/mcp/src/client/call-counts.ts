/** Calls and errors of one server, by minute: what its chart shows. */
const MINUTE_MS = 60_000;
const MINUTES = 60;

export interface CallCounts {
  add(isError: boolean): void;
  /** Of the last hour, oldest first; minutes without a call included. */
  shown(): { readonly starts: string[]; readonly calls: number[]; readonly errors: number[] };
}

export const createCallCounts = (now: () => number): CallCounts => {
  const byMinute = new Map<number, { calls: number; errors: number }>();
  return {
    add: (isError) => {
      const minute = Math.floor(now() / MINUTE_MS);
      const entry = byMinute.get(minute) ?? { calls: 0, errors: 0 };
      byMinute.set(minute, { calls: entry.calls + 1, errors: entry.errors + (isError ? 1 : 0) });
      for (const old of byMinute.keys()) if (old <= minute - MINUTES) byMinute.delete(old);
    },
    shown: () => {
      const last = Math.floor(now() / MINUTE_MS);
      const minutes = Array.from({ length: MINUTES }, (_, index) => last - MINUTES + 1 + index);
      return {
        starts: minutes.map((minute) => new Date(minute * MINUTE_MS).toISOString()),
        calls: minutes.map((minute) => byMinute.get(minute)?.calls ?? 0),
        errors: minutes.map((minute) => byMinute.get(minute)?.errors ?? 0),
      };
    },
  };
};
