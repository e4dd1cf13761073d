/** Errors that nobody awaited: each is a strike against the extension whose code was running, or the end of the process. */
import type { Logger } from '@svc/api';
import { type HookRegistry, type Lifecycle, type Contributor, type StrikeRegistry, currentContributor } from '@svc/core';

export interface UnhandledHandler {
  /** A tap failed; the hook's policy has already been applied. One that only observes is not called again after five times in a minute. */
  strike(owner: Contributor, hook: string, error: unknown, lostMs?: number): void;
  /** A tap that was not waited for any more answers again. */
  answered(owner: Contributor, hook: string): void;
  report(owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown): void;
  /** For `uncaughtException` and `unhandledRejection`. False when no extension's code was running. */
  caught(error: unknown): boolean;
  attach(lifecycle: Lifecycle, strikes: StrikeRegistry, hooks: HookRegistry): void;
}

export const createUnhandledHandler = (log: Logger): UnhandledHandler => {
  let attached: { lifecycle: Lifecycle; strikes: StrikeRegistry; hooks: HookRegistry } | undefined;
  const validator = (
    owner: Pick<Contributor, 'id' | 'generation'>,
    place: string,
    error: unknown,
    hooks: { suspend(hooks: HookRegistry): boolean; cutOff(hooks: HookRegistry): 'left out' | 'refused' | undefined },
    lostMs = 0,
  ): void => {
    log.error('extension code failed', { extension: owner.id, generation: owner.generation, place, cause: error });
    if (!attached || owner.id === 'kernel') return;
    const verdict = attached.strikes.strike(owner.id, place, lostMs);
    if (verdict === 'suspend')
      attached.lifecycle.degrade(owner.id, hooks.suspend(attached.hooks) ? `it failed repeatedly in ${place} and is not called there until it is reloaded` : `it failed repeatedly in ${place}`);
    if (verdict === 'slow') attached.lifecycle.degrade(owner.id, slowly(place, hooks.cutOff(attached.hooks), attached.strikes.lostMs(owner.id, place)));
    if (verdict === 'quarantine') void attached.lifecycle.quarantine(owner.id, `it failed 20 times in 5 minutes, last in ${place}`);
  };
  const report = (owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown): void => validator(owner, place, error, { suspend: () => false, cutOff: () => undefined });
  return {
    report,
    strike: (owner, hook, error, lostMs) => validator(owner, hook, error, { suspend: (hooks) => hooks.suspend(owner, hook), cutOff: (hooks) => hooks.cutOff(owner, hook) }, lostMs),
    answered: (owner, hook) => {
      log.info('a hook listener answers in time again', { extension: owner.id, hook });
      attached?.strikes.forget(owner.id);
      attached?.lifecycle.recover(owner.id);
    },
    caught: (error) => {
      const owner = currentContributor();
      if (!owner) return false;
      report(owner, 'an unhandled error', error);
      return true;
    },
    attach: (lifecycle, strikes, hooks) => {
      attached = { lifecycle, strikes, hooks };
    },
  };
};

const slowly = (place: string, how: 'left out' | 'refused' | undefined, lostMs: number): string => {
  const lost = `it did not answer ${place} in time, and ${Math.round(lostMs / 1_000)} s were lost`;
  if (how === 'left out') return `${lost}: it is not called there until it is reloaded`;
  return how === 'refused' ? `${lost}: requests that it checks are refused. svc tries it again every 30 s; a reload tries it now` : lost;
};
