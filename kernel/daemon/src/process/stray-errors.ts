/** Errors that nobody awaited: each is a strike against the extension whose code was running, or the end of the process. */
import type { Logger } from '@svc/api';
import { type HookRegistry, type Lifecycle, type Owner, type StrikeBook, currentOwner } from '@svc/core';

export interface StrayHandler {
  /** A tap failed; the hook's policy has already been applied. One that only observes is not called again after five times in a minute. */
  strike(owner: Owner, hook: string, error: unknown): void;
  report(owner: Pick<Owner, 'id' | 'generation'>, place: string, error: unknown): void;
  /** For `uncaughtException` and `unhandledRejection`. False when no extension's code was running. */
  caught(error: unknown): boolean;
  attach(lifecycle: Lifecycle, strikes: StrikeBook, hooks: HookRegistry): void;
}

export const createStrayHandler = (log: Logger): StrayHandler => {
  let attached: { lifecycle: Lifecycle; strikes: StrikeBook; hooks: HookRegistry } | undefined;
  const judge = (owner: Pick<Owner, 'id' | 'generation'>, place: string, error: unknown, suspend: (hooks: HookRegistry) => boolean): void => {
    log.error('extension code failed', { extension: owner.id, generation: owner.generation, place, cause: error });
    if (!attached || owner.id === 'kernel') return;
    const verdict = attached.strikes.strike(owner.id, place);
    if (verdict === 'suspend')
      attached.lifecycle.degrade(owner.id, suspend(attached.hooks) ? `it failed repeatedly in ${place} and is not called there until it is reloaded` : `it failed repeatedly in ${place}`);
    if (verdict === 'quarantine') void attached.lifecycle.quarantine(owner.id, `it failed 20 times in 5 minutes, last in ${place}`);
  };
  const report = (owner: Pick<Owner, 'id' | 'generation'>, place: string, error: unknown): void => judge(owner, place, error, () => false);
  return {
    report,
    strike: (owner, hook, error) => judge(owner, hook, error, (hooks) => hooks.suspend(owner, hook)),
    caught: (error) => {
      const owner = currentOwner();
      if (!owner) return false;
      report(owner, 'an error that nobody caught', error);
      return true;
    },
    attach: (lifecycle, strikes, hooks) => {
      attached = { lifecycle, strikes, hooks };
    },
  };
};
