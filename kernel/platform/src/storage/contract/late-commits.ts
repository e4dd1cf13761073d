/** Who made what of a commit, where a third-party extension made some of it: whose time it is, and who was late. */
import { isSvcError, type SvcError } from '@svc/api';
import type { Waiting } from './batch-end.js';
import { storageErrors } from './errors.js';
import { secondsOf, type StatementLimits, type StatementRules } from './statement-limits.js';
import type { Unit, UnitPart } from './write-compiler.js';

/** Thrown where a commit took too long: its transaction is gone. */
export class LateCommit extends Error {
  readonly by: string | undefined;
  readonly ms: number;

  constructor(by: string | undefined, ms: number) {
    super('a commit took too long');
    this.by = by;
    this.ms = ms;
  }
}

const THIRD_PARTY = { isThirdParty: true };
const OWN = { isThirdParty: false };

export const partsOf = (unit: Unit): readonly UnitPart[] => unit.parts ?? [{ by: undefined, from: 0, statement: 0 }];

export const makersOf = (batch: readonly Waiting[]): Set<string> => {
  const makers = new Set<string>();
  for (const { unit } of batch) for (const { by } of unit.parts ?? []) if (by !== undefined) makers.add(by);
  return makers;
};

export const ownersOf = ({ parts = [] }: Unit): Set<string> => new Set(parts.flatMap(({ by }) => by ?? []));

export const limitsOfPart = (rules: StatementRules, by: string | undefined): StatementLimits => rules.limitsOf(by === undefined ? OWN : THIRD_PARTY);

/** How long all of them together may take before each is looked at by itself. */
export const limitOfBatch = (rules: StatementRules, batch: readonly Waiting[]): number => limitsOfPart(rules, batch.some(({ unit }) => unit.parts !== undefined) ? '' : undefined).statementMs;

/** Notes who was late, and says so. */
export const lateRefusal = (rules: StatementRules, by: string | undefined, ms: number): SvcError => {
  if (by !== undefined) rules.late({ id: by, isThirdParty: true }, 'write', ms);
  return storageErrors.too_slow(by ?? 'this daemon', 'commit', secondsOf(limitsOfPart(rules, by).statementMs));
};

/** The refusal of a commit whose makers were late with another one a moment ago. */
export const refusalOf = (rules: StatementRules, unit: Unit): SvcError | undefined => {
  if (unit.parts === undefined) return undefined;
  try {
    rules.refuseLate(ownersOf(unit));
    return undefined;
  } catch (error) {
    if (isSvcError(error)) return error;
    throw error;
  }
};
