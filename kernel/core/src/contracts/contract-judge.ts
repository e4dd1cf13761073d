/**
 * Holds what crosses between areas to its declaration. What one build compiled against the same declarations has been
 * judged by the compiler; anything else is judged at each crossing, and tests judge everything.
 */
import { SvcError, type TSchema } from '@svc/api';
import type { Owner } from '../owner.js';

/** What does not fit, in words that name the place; undefined when the value fits. */
export type Misfit = (schema: TSchema, value: unknown) => string | undefined;

export interface ContractJudge {
  /** Whether what these two hand each other is looked at. */
  isNeeded(one: Owner, other?: Owner): boolean;
  /** Whether these are of two builds, or of none that is known: what they hand each other is copied. */
  isForeign(one: Owner, other?: Owner): boolean;
  /** Throws `contract_mismatch`. */
  check(schema: TSchema, value: unknown, where: string): void;
}

/** Judges nothing: for wirings without contracts of their own. */
export const noJudge: ContractJudge = { isNeeded: () => false, isForeign: () => false, check: () => undefined };

/** `load` brings the checker, which is not needed where everything comes from one build. */
export const createContractJudge = (load: () => Promise<Misfit>, judgesAll: boolean): ContractJudge & { load(): Promise<void> } => {
  let misfit: Misfit | undefined;
  const isForeign: ContractJudge['isForeign'] = (one, other) => one.build === undefined || (other !== undefined && other.build !== one.build);
  return {
    load: async () => {
      misfit ??= await load();
    },
    isNeeded: (one, other) => judgesAll || isForeign(one, other),
    isForeign,
    check: (schema, value, where) => {
      if (!misfit) throw new Error('the checker of contracts was not loaded before a foreign extension');
      const problem = misfit(schema, value);
      if (problem === undefined) return;
      throw new SvcError('contract_mismatch', `${where} does not fit its declaration: ${problem}.`, { status: 500, hint: 'See the contract of the area that owns it.' });
    },
  };
};
