/** Errors that nobody awaited: each is a strike against the extension whose code was running, or the end of the process. */
import type { Logger } from '@svc/api';
import type { HookRegistry } from './hooks/hook-registry.js';
import type { StrikeRegistry } from './hooks/strike-registry.js';
import type { Lifecycle } from './lifecycle.js';
import { type Contributor, currentContributor } from './owner.js';

export interface UnhandledHandler {
  /** A tap failed; the hook's policy has already been applied. One that only observes is not called again after five times in a minute. */
  strike(hooks: HookRegistry, owner: Contributor, hook: string, error: unknown, lostMs?: number): void;
  /** A tap that was not waited for any more answers again. */
  answered(owner: Contributor, hook: string): void;
  report(owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown): void;
  /** For `uncaughtException` and `unhandledRejection`. False when no extension's code was running. */
  caught(error: unknown): boolean;
}

export interface UnhandledDeps {
  readonly log: Logger;
  readonly strikes: StrikeRegistry;
  /** Undefined before there is one: nothing can be degraded then. */
  lifecycle(): Pick<Lifecycle, 'degrade' | 'quarantine' | 'recover'> | undefined;
}

export const createUnhandledHandler = ({ lifecycle, log, strikes }: UnhandledDeps): UnhandledHandler => {
  const note = (owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown, hooks: { suspend(): boolean; cutOff(): 'left out' | 'refused' | undefined }, lostMs = 0): void => {
    log.error('extension code failed', { extension: owner.id, generation: owner.generation, place, cause: error });
    const running = lifecycle();
    if (!running || owner.id === 'kernel') return;
    const verdict = strikes.strike(owner.id, place, lostMs);
    if (verdict === 'suspend') running.degrade(owner.id, hooks.suspend() ? `it failed repeatedly in ${place} and is not called there until it is reloaded` : `it failed repeatedly in ${place}`);
    if (verdict === 'slow') running.degrade(owner.id, slowly(place, hooks.cutOff(), strikes.lostMs(owner.id, place)));
    if (verdict === 'quarantine') void running.quarantine(owner.id, `it failed 20 times in 5 minutes, last in ${place}`);
  };
  const report = (owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown): void => note(owner, place, error, { suspend: () => false, cutOff: () => undefined });
  return {
    report,
    strike: (hooks, owner, hook, error, lostMs) => note(owner, hook, error, { suspend: () => hooks.suspend(owner, hook), cutOff: () => hooks.cutOff(owner, hook) }, lostMs),
    answered: (owner, hook) => {
      log.info('a hook listener answers in time again', { extension: owner.id, hook });
      const running = lifecycle();
      if (!running) return;
      strikes.forget(owner.id);
      running.recover(owner.id);
    },
    caught: (error) => {
      const owner = currentContributor();
      if (!owner) return false;
      report(owner, 'an unhandled error', error);
      return true;
    },
  };
};

const slowly = (place: string, how: 'left out' | 'refused' | undefined, lostMs: number): string => {
  const lost = `it did not answer ${place} in time, and ${Math.round(lostMs / 1_000)} s were lost`;
  if (how === 'left out') return `${lost}: it is not called there until it is reloaded`;
  return how === 'refused' ? `${lost}: requests that it checks are refused. svc tries it again every 30 s; a reload tries it now` : lost;
};
