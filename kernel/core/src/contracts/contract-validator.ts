/**
 * Holds what crosses between areas to its declaration. What one build compiled against the same declarations has been
 * validated by the compiler; anything else is validated at each crossing, and tests validate everything.
 */
import { SvcError, type TSchema } from '@svc/api';
import type { Contributor } from '../owner.js';

/** What does not fit, in words that name the place; undefined when the value fits. */
export type Violation = (schema: TSchema, value: unknown) => string | undefined;

export interface ContractValidator {
  /** Whether what these two hand each other is looked at. */
  isNeeded(one: Contributor, other?: Contributor): boolean;
  /** Whether these are of two builds, or of none that is known: what they hand each other is copied. */
  isForeign(one: Contributor, other?: Contributor): boolean;
  /** Throws `contract_mismatch`. */
  check(schema: TSchema, value: unknown, where: string): void;
}

/** Validates nothing: for wirings without contracts of their own. */
export const noValidator: ContractValidator = { isNeeded: () => false, isForeign: () => false, check: () => undefined };

/** `load` brings the checker, which is not needed where everything comes from one build. */
export const createContractValidator = (load: () => Promise<Violation>, validatesAll: boolean): ContractValidator & { load(): Promise<void> } => {
  let violation: Violation | undefined;
  const isForeign: ContractValidator['isForeign'] = (one, other) => one.build === undefined || (other !== undefined && other.build !== one.build);
  return {
    load: async () => {
      violation ??= await load();
    },
    isNeeded: (one, other) => validatesAll || isForeign(one, other),
    isForeign,
    check: (schema, value, where) => {
      if (!violation) throw new Error('the checker of contracts was not loaded before a foreign extension');
      const problem = violation(schema, value);
      if (problem === undefined) return;
      throw new SvcError('contract_mismatch', `${where} does not fit its declaration: ${problem}.`, { status: 500, hint: 'See the contract of the area that owns it.' });
    },
  };
};
