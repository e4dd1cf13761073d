/** Whose code is running: known inside every entry point of the kernel, so that a stray error finds its extension. */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Lifetime } from './lifetime.js';

/** One loaded instance of an extension. */
export interface Owner {
  readonly id: string;
  readonly generation: number;
  readonly lifetime: Lifetime;
  /** Which build made it; what one build made was compiled against the same declarations. Undefined for what came from elsewhere. */
  readonly build?: string;
}

interface Running {
  readonly owner: Owner;
  readonly request: string | undefined;
}

const running = new AsyncLocalStorage<Running>();

let lastEntered: string | undefined;

export const runAs = <T>(owner: Owner, request: string | undefined, fn: () => T): T => {
  lastEntered = owner.id;
  return running.run({ owner, request }, fn);
};

/** For messages about a loop that stood still: a hint, not a proof. */
export const lastEnteredId = (): string | undefined => lastEntered;

export const currentOwner = (): Owner | undefined => running.getStore()?.owner;

export const currentRequest = (): string | undefined => running.getStore()?.request;
