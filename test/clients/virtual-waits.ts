/** Clients wait seconds between their tries. Here those seconds are the daemon's virtual ones, and pass at once. */
import type { VirtualClock } from '@svc/platform/clock/clock';

const SHORTEST_MS = 900;
/** LangChain's longest. */
const LONGEST_MS = 64_000;

/** The daemon runs in this process too: how long it leaves a stream without headers stays real. */
const DAEMONS_OWN_MS = 15_000;

export interface VirtualWaits {
  /** What was waited in all, in milliseconds. */
  waitedMs(): number;
  restore(): void;
}

/** From here to `restore`, a wait of a client (a `setTimeout` of one second to a minute) moves the clock instead. */
export const virtualWaits = (clock: VirtualClock): VirtualWaits => {
  const real = globalThis.setTimeout;
  let waited = 0;
  const played = (fn: (...args: unknown[]) => void, ms = 0, ...args: unknown[]): NodeJS.Timeout => {
    if (ms < SHORTEST_MS || ms > LONGEST_MS || ms === DAEMONS_OWN_MS) return real(fn, ms, ...args);
    waited += ms;
    return real(() => void clock.advance(ms).then(() => fn(...args)), 0);
  };
  // The other faces of setTimeout (its promisified form) are left as they are.
  globalThis.setTimeout = Object.assign(played, { __promisify__: real.__promisify__ }) as typeof setTimeout;
  return {
    waitedMs: () => waited,
    restore: () => {
      globalThis.setTimeout = real;
    },
  };
};
