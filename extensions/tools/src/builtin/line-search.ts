/**
 * Finds runs of lines in a text by number instead of by character: every distinct line gets
 * one, and a run is found in one pass (Knuth, Morris, Pratt). Patch and file are both chosen
 * by whoever speaks to the model, so all work is counted and ends at a limit.
 */
import { toolErrors } from '../errors.js';

export type Sameness = 'exact' | 'spaces at end' | 'spaces around';

/** Shared by all texts of one patch. */
export interface Budget {
  left: number;
}

/** Less than a tenth of a second of searching; a patch that people write needs a thousandth of it. */
export const SEARCH_STEPS = 20_000_000;

/** To number a line costs about as much as so many comparisons of numbers. */
const STEPS_PER_LINE = 5;

/** Throws `tools_patch_too_costly`. */
export const spend = (budget: Budget, steps: number): void => {
  budget.left -= steps;
  if (budget.left < 0) throw toolErrors.patch_too_costly();
};

export interface LineSearch {
  /** The first place at or after `from` where all of `wanted` stands, or -1. */
  find(wanted: readonly string[], from: number, sameness: Sameness): number;
}

interface Numbered {
  readonly numbers: ReadonlyMap<string, number>;
  readonly line: Int32Array;
  /** Where each number stands for the last time: most runs that are not there are known by it. */
  readonly last: readonly number[];
}

/** The lines must not change. Throws `tools_patch_too_costly`. */
export const createLineSearch = (lines: readonly string[], budget: Budget): LineSearch => {
  const known = new Map<Sameness, Numbered>();
  return {
    find: (wanted, from, sameness) => {
      let text = known.get(sameness);
      if (!text) {
        spend(budget, lines.length * STEPS_PER_LINE);
        text = numbered(lines, NORMAL[sameness]);
        known.set(sameness, text);
      }
      spend(budget, wanted.length * STEPS_PER_LINE);
      return search(text, wanted.map(NORMAL[sameness]), from, budget);
    },
  };
};

const NORMAL: Readonly<Record<Sameness, (line: string) => string>> = {
  exact: (line) => line,
  'spaces at end': (line) => line.trimEnd(),
  'spaces around': (line) => line.trim(),
};

const numbered = (lines: readonly string[], normal: (line: string) => string): Numbered => {
  const numbers = new Map<string, number>();
  const line = new Int32Array(lines.length);
  const last: number[] = [];
  for (const [at, text] of lines.entries()) {
    const key = normal(text);
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    line[at] = number;
    last[number] = at;
  }
  return { numbers, line, last };
};

const search = ({ numbers, line, last }: Numbered, wanted: readonly string[], from: number, budget: Budget): number => {
  const run = new Int32Array(wanted.length);
  for (const [offset, text] of wanted.entries()) {
    const number = numbers.get(text);
    if (number === undefined || (last[number] ?? -1) < from + offset) return -1;
    run[offset] = number;
  }
  const fallback = fallbacksOf(run);
  let matched = 0;
  for (let at = from; at < line.length; at++) {
    // Falling back is paid for by the steps that came before.
    while (matched > 0 && line[at] !== run[matched]) matched = fallback[matched - 1] ?? 0;
    if (line[at] === run[matched]) matched++;
    if (matched < run.length) continue;
    spend(budget, at - from + 1);
    return at + 1 - run.length;
  }
  spend(budget, line.length - from);
  return -1;
};

/** For each length of a beginning: how much of it is also its end. */
const fallbacksOf = (run: Int32Array): Int32Array => {
  const fallback = new Int32Array(run.length);
  let matched = 0;
  for (let at = 1; at < run.length; at++) {
    while (matched > 0 && run[at] !== run[matched]) matched = fallback[matched - 1] ?? 0;
    if (run[at] === run[matched]) matched++;
    fallback[at] = matched;
  }
  return fallback;
};
