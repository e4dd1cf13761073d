/** The first start of a version that took the place of another: until it counts, files and tables can be put back. */
import { PhaseError } from '../generation.js';
import type { Installed } from './installed.js';

export interface Trials {
  /** Whether this version has not started yet since it took the place of another. */
  isOpen(candidate: Installed): boolean;
  /** Whether its migrations have something to do. Then nobody else may write to its tables while it is tried. */
  changesTables(candidate: Installed): boolean;
  /** Before any of it runs. A daemon that ends from here on puts back what was before at its next start. */
  begin(candidate: Installed): Promise<void>;
  /** It started: this version counts, with the tables as they are now. */
  confirm(candidate: Installed): Promise<void>;
  /** It did not start: files and tables are what they were. Answers with the version of before, where it can run. */
  undo(candidate: Installed, why: string): Promise<Installed | undefined>;
}

export interface TrialDeps {
  readonly trials?: Trials;
  readonly log: { error(message: string, fields?: Record<string, unknown>): void };
}

/** Makes the candidate. Where it took the place of another version and fails, `before` is that one, put back; `made` throws then. */
export const tried = async <T>(
  { log, trials }: TrialDeps,
  candidate: Installed,
  make: (confirm?: () => Promise<void>) => Promise<T>,
): Promise<{ readonly before?: Installed | undefined; made(): T }> => {
  const isTrial = trials?.isOpen(candidate) === true;
  try {
    if (isTrial) await trials.begin(candidate);
    const made = await make(isTrial ? () => trials.confirm(candidate) : undefined);
    return { made: () => made };
  } catch (error) {
    const made = (): never => {
      throw error;
    };
    if (!isTrial) return { made };
    const facts = { extension: candidate.id, version: candidate.version };
    log.error('a new version did not start; the earlier version is restored', { ...facts, phase: error instanceof PhaseError ? error.phase : null, cause: error });
    const before = await trials.undo(candidate, error instanceof Error ? error.message : String(error)).catch((cause: unknown) => {
      log.error('the earlier version could not be restored now; the next start restores it', { ...facts, cause });
      return undefined;
    });
    return { before, made };
  }
};
