/**
 * How far the daemon is: the one part that is told of what comes later.
 *
 * Parts that are made early ask it where the daemon listens, and for the lifecycle, which starts and stops what they
 * report of. Everything else a step of the boot needs was made by a step before it.
 */
import type { Lifecycle } from '@svc/core';
import type { Address } from './address.js';

export type Step =
  | { readonly at: 'opening' }
  | { readonly at: 'listening'; readonly address: Address }
  | { readonly at: 'starting' | 'ready' | 'stopping'; readonly address: Address; readonly lifecycle: Lifecycle };

export interface Progress {
  to(step: Step): void;
  /** As clients are told: everything before `ready` is `starting`. */
  phase(): 'starting' | 'ready' | 'stopping';
  /** Undefined until the port is open. */
  address(): Address | undefined;
  /** Undefined until extensions start. */
  lifecycle(): Lifecycle | undefined;
  /** Undefined until the daemon is ready: nothing is changed beside the start. */
  lifecycleWhenUp(): Lifecycle | undefined;
}

export const createProgress = (): Progress => {
  let now: Step = { at: 'opening' };
  return {
    to: (step) => {
      now = step;
    },
    phase: () => (now.at === 'ready' || now.at === 'stopping' ? now.at : 'starting'),
    address: () => ('address' in now ? now.address : undefined),
    lifecycle: () => ('lifecycle' in now ? now.lifecycle : undefined),
    lifecycleWhenUp: () => (now.at === 'ready' || now.at === 'stopping' ? now.lifecycle : undefined),
  };
};
