/** How often the process of an extension ended by itself, over all its generations, and when it may begin again. */

const WINDOW_MS = 10 * 60_000;
/** So many within the window are too many. */
export const TOO_MANY_CRASHES = 5;
const FIRST_WAIT_MS = 1_000;
const LAST_WAIT_MS = 60_000;

export interface CrashRegistry {
  /** Notes one. `isTooMany`: it is not to be started again by itself. */
  crashed(id: string): { readonly waitMs: number; readonly isTooMany: boolean };
  /** A person enabled or reloaded it: what was counts no more. */
  forget(id: string): void;
  count(id: string): number;
}

export const createCrashRegistry = (now: () => number): CrashRegistry => {
  const registry = new Map<string, number[]>();
  const recent = (id: string): number[] => (registry.get(id) ?? []).filter((at) => now() - at < WINDOW_MS);
  return {
    crashed: (id) => {
      const all = [...recent(id), now()];
      registry.set(id, all);
      return { waitMs: Math.min(FIRST_WAIT_MS * 2 ** (all.length - 1), LAST_WAIT_MS), isTooMany: all.length >= TOO_MANY_CRASHES };
    },
    forget: (id) => void registry.delete(id),
    count: (id) => recent(id).length,
  };
};
