/**
 * How long to wait before a connection is tried again.
 *
 * F1  The wait doubles with each failure, up to a most. A connection that was steady begins again with the first wait.
 * F2  The program of a sidecar that failed too often in a row is left alone: its circuit is open, with the reason. It is tried again after five minutes,
 *     then after twice as long each time, an hour at most. One steady life closes the circuit.
 */
import type { SidecarEntry } from './config.js';

export interface Backoff {
  /** After a failure of something that lasted this long. */
  failed(lastedMs: number): { readonly waitMs: number; readonly isOpen: boolean; readonly failures: number };
}

const PLATFORM = { firstMs: 1_000, mostMs: 60_000, steadyMs: 60_000, retries: Number.POSITIVE_INFINITY };
const OPEN_MS = 300_000;
const MOST_OPEN_MS = 3_600_000;
/** The most that is added, so that programs which died together do not start together. */
const SPREAD = 0.2;

const limitsOf = (entry: SidecarEntry | undefined): typeof PLATFORM =>
  entry === undefined
    ? PLATFORM
    : {
        firstMs: entry.restart_initial_backoff_ms ?? 500,
        mostMs: entry.restart_max_backoff_ms ?? 30_000,
        steadyMs: (entry.restart_reset_after_secs ?? 60) * 1_000,
        retries: entry.restart_max_retries ?? 10,
      };

/** `chance`: from 0 to 1. */
export const createBackoff = (entry: SidecarEntry | undefined, chance: () => number): Backoff => {
  const { firstMs, mostMs, steadyMs, retries } = limitsOf(entry);
  let failures = 0;
  return {
    failed: (lastedMs) => {
      failures = lastedMs > steadyMs ? 1 : failures + 1;
      const isOpen = failures > retries;
      const base = isOpen ? Math.min(MOST_OPEN_MS, OPEN_MS * 2 ** (failures - retries - 1)) : Math.min(mostMs, firstMs * 2 ** (failures - 1));
      return { waitMs: Math.round(base * (entry === undefined ? 1 : 1 + SPREAD * chance())), isOpen, failures };
    },
  };
};
