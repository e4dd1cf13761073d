/**
 * How often a call was made in its run, and what follows.
 *
 * L1  The third and fourth identical call (same tool, same arguments) run with a warning.
 * L2  From the fifth on it is blocked, whatever came of the earlier ones.
 * L3  The thirtieth blocked call of a run ends the run.
 * L4  Everything is counted from the run's own record: a restart or another replica changes nothing.
 */

export const WARN_AT = 3;
export const BLOCK_AT = 5;
export const BREAK_AT_BLOCKED = 30;

export type Repetition = { readonly verdict: 'run' } | { readonly verdict: 'warn' | 'block'; readonly identical: number } | { readonly verdict: 'break'; readonly blocked: number };

/** `earlier` are the run's calls before this one, oldest first. Blocked calls count like any other. */
export const checkRepetition = (digest: string, earlier: ReadonlyArray<{ readonly digest: string }>): Repetition => {
  const counts = new Map<string, number>();
  let blocked = 0;
  const count = (one: string): number => {
    const identical = (counts.get(one) ?? 0) + 1;
    counts.set(one, identical);
    // That a call was blocked follows from its place in the run; no status needs to be trusted.
    if (identical >= BLOCK_AT) blocked += 1;
    return identical;
  };
  for (const call of earlier) count(call.digest);
  if (blocked >= BREAK_AT_BLOCKED) return { verdict: 'break', blocked };
  const identical = count(digest);
  if (blocked >= BREAK_AT_BLOCKED) return { verdict: 'break', blocked };
  if (identical >= BLOCK_AT) return { verdict: 'block', identical };
  return identical >= WARN_AT ? { verdict: 'warn', identical } : { verdict: 'run' };
};
