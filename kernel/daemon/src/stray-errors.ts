/** Errors that nobody awaited: each is a strike against the extension whose code was running, or the end of the process. */
import type { Logger } from '@svc/api';
import { type Lifecycle, type Owner, type StrikeBook, currentOwner } from '@svc/core';

export interface StrayHandler {
  /** A tap failed; the hook's policy has already been applied. */
  strike(owner: Owner, place: string, error: unknown): void;
  report(owner: Owner, place: string, error: unknown): void;
  /** For `uncaughtException` and `unhandledRejection`. False when no extension's code was running. */
  caught(error: unknown): boolean;
  attach(lifecycle: Lifecycle, strikes: StrikeBook): void;
}

export const createStrayHandler = (log: Logger): StrayHandler => {
  let attached: { lifecycle: Lifecycle; strikes: StrikeBook } | undefined;
  const report = (owner: Owner, place: string, error: unknown): void => {
    log.error('extension code failed', { extension: owner.id, generation: owner.generation, place, cause: error });
    if (!attached || owner.id === 'kernel') return;
    const verdict = attached.strikes.strike(owner.id, place);
    if (verdict === 'suspend') attached.lifecycle.degrade(owner.id, `it failed repeatedly in ${place}`);
    if (verdict === 'quarantine') void attached.lifecycle.quarantine(owner.id, `it failed 20 times in 5 minutes, last in ${place}`);
  };
  return {
    report,
    strike: report,
    caught: (error) => {
      const owner = currentOwner();
      if (!owner) return false;
      report(owner, 'an error that nobody caught', error);
      return true;
    },
    attach: (lifecycle, strikes) => {
      attached = { lifecycle, strikes };
    },
  };
};
