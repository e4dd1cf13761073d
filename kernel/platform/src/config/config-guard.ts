/**
 * A rule above single settings: values that would open what must stay shut do not come into force.
 * The sections it watches keep what they held before, over reloads and restarts, until the rule is content.
 */
import type { ConfigProblem, Evaluation } from './evaluate.js';
import type { SectionClaims } from './kernel-sections.js';
import { createChecker } from './section-check.js';

type Get = (section: string) => unknown;

export interface ConfigGuard {
  readonly sections: readonly string[];
  refuses(get: Get): boolean;
  /** What a person reads for as long as the former values stay in force. */
  problem(get: Get): Pick<ConfigProblem, 'key' | 'message' | 'expected'>;
}

/** What the guarded sections held: in this process, or in an earlier one. */
export interface Former {
  readonly values: Readonly<Record<string, unknown>>;
  /** From disk: an older program may have validated them by another schema. */
  readonly isStored: boolean;
}

/** The values that stay in force in place of the new ones; undefined when the rule is content, or has nothing to fall back on. */
export const heldBack = async (guard: ConfigGuard | undefined, evaluation: Evaluation, former: Former, claims: SectionClaims): Promise<Readonly<Record<string, unknown>> | undefined> => {
  if (!guard?.refuses((section) => evaluation.values.get(section))) return undefined;
  const held: Record<string, unknown> = {};
  const checker = createChecker();
  for (const section of guard.sections) {
    const value = former.values[section];
    if (value === undefined) continue;
    const isGood = !former.isStored || (await checker.check(section, claims[section], value)).ok;
    if (isGood) held[section] = value;
  }
  return guard.refuses((section) => (Object.hasOwn(held, section) ? held[section] : evaluation.values.get(section))) ? undefined : held;
};

export const withHeld = (guard: ConfigGuard, evaluation: Evaluation, held: Readonly<Record<string, unknown>>, file: string): Evaluation => {
  const values = new Map([...evaluation.values, ...Object.entries(held)]);
  const problem: ConfigProblem = { file, line: null, severity: 'error', ...guard.problem((section) => values.get(section)) };
  return { ...evaluation, values, kept: new Set([...evaluation.kept, ...Object.keys(held)]), problems: [...evaluation.problems, problem] };
};
