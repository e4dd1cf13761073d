/**
 * How often a call was made in its run, and what follows.
 *
 * L1  The third and fourth identical call (same tool, same arguments) run with a warning.
 * L2  From the fifth on it is blocked, whatever came of the earlier ones.
 * L3  The thirtieth blocked call of a run ends the run.
 * L5  A call that reaches no tool counts as identical to those just before it that reached none either, whatever their names.
 * L4  Everything is counted from the run's own record: a restart or another replica changes nothing.
 */

export const WARN_AT = 3;
export const BLOCK_AT = 5;
export const BREAK_AT_BLOCKED = 30;

export type Repetition = { readonly verdict: 'run' } | { readonly verdict: 'warn' | 'block'; readonly identical: number } | { readonly verdict: 'break'; readonly blocked: number };

/** One call as it is counted. `missed`: it reached no tool. */
export interface CountedCall {
  readonly digest: string;
  readonly missed?: boolean | undefined;
}

/** `earlier` are the run's calls before this one, oldest first. Blocked calls count like any other. */
export const checkRepetition = (digest: string, earlier: readonly CountedCall[], missed = false): Repetition => {
  const counts = new Map<string, number>();
  let blocked = 0;
  let streak = 0;
  const count = (one: CountedCall): number => {
    const same = (counts.get(one.digest) ?? 0) + 1;
    counts.set(one.digest, same);
    streak = one.missed ? streak + 1 : 0;
    const identical = Math.max(same, streak);
    // That a call was blocked follows from its place in the run; no status needs to be trusted.
    if (identical >= BLOCK_AT) blocked += 1;
    return identical;
  };
  for (const call of earlier) count(call);
  if (blocked >= BREAK_AT_BLOCKED) return { verdict: 'break', blocked };
  const identical = count({ digest, missed });
  if (blocked >= BREAK_AT_BLOCKED) return { verdict: 'break', blocked };
  if (identical >= BLOCK_AT) return { verdict: 'block', identical };
  return identical >= WARN_AT ? { verdict: 'warn', identical } : { verdict: 'run' };
};
