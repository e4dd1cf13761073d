/** Clients wait seconds between their tries. Here those seconds are the daemon's virtual ones, and pass at once. */
import type { VirtualClock } from '@svc/platform/clock/clock';

const SHORTEST_MS = 900;
/** LangChain's longest. */
const LONGEST_MS = 64_000;

/** The daemon runs in this process too: how long it leaves a stream without headers, and a statement to the database, stays real. */
const DAEMONS_OWN_MS = [15_000, 60_000];

export interface VirtualWaits {
  /** What was waited in all, in milliseconds. */
  waitedMs(): number;
  /** Resolves when the clock rests: what stops by the clock afterwards would else be hurried by a wait of before. */
  restore(): Promise<void>;
}

/** From here to `restore`, a wait of a client (a `setTimeout` of one second to a minute) moves the clock instead. */
export const virtualWaits = (clock: VirtualClock): VirtualWaits => {
  const real = globalThis.setTimeout;
  const moves = new Set<Promise<void>>();
  let waited = 0;
  let isOver = false;
  const move = async (ms: number): Promise<void> => {
    if (isOver) return;
    const moving = clock.advance(ms);
    moves.add(moving);
    await moving;
    moves.delete(moving);
  };
  const played = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout => {
    if (ms < SHORTEST_MS || ms > LONGEST_MS || DAEMONS_OWN_MS.includes(ms)) return real(fn, ms, ...args);
    waited += ms;
    return real(() => void move(ms).then(() => fn(...args)), 0);
  };
  // The other faces of setTimeout (its promisified form) are left as they are.
  globalThis.setTimeout = Object.assign(played, { __promisify__: real.__promisify__ }) as typeof setTimeout;
  return {
    waitedMs: () => waited,
    restore: async () => {
      globalThis.setTimeout = real;
      isOver = true;
      await Promise.all(moves);
    },
  };
};
