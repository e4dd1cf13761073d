/** Whose code is running: known inside every entry point of the kernel, so that an unhandled errors finds its extension. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lifetime } from './lifetime.js';

/** One loaded instance of an extension. */
export interface Contributor {
  readonly id: string;
  readonly generation: number;
  readonly lifetime: Lifetime;
  /** Which build made it; what one build made was compiled against the same declarations. Undefined for what came from elsewhere. */
  readonly build?: string;
  /** Its code runs in another process. */
  readonly isRemote?: boolean;
}

const running = new AsyncLocalStorage<Contributor>();

let lastEntered: string | undefined;

export const runAs = <T>(owner: Contributor, fn: () => T): T => {
  lastEntered = owner.id;
  return running.getStore() === owner ? fn() : running.run(owner, fn);
};

/** For messages about a loop that stood still: a hint, not a proof. */
export const lastEnteredId = (): string | undefined => lastEntered;

export const currentContributor = (): Contributor | undefined => running.getStore();
