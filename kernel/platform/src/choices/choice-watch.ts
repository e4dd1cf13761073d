/**
 * Follows choices that were made elsewhere: by another daemon on this database, or by `svc ext` beside one that cannot
 * be asked (auth is off, or the area that switches areas).
 *
 * The bus says when somebody chose. A message that was lost is made good by a look every few seconds, and each second
 * while the API cannot switch.
 */
import type { Disposable, Logger } from '@svc/api';
import type { Lifecycle } from '@svc/core';
import type { Bus } from '../bus/bus.js';
import { createTimers } from '../clock/timers.js';
import type { TimerClock } from '../clock/clock.js';
import type { Choices } from './choices.js';

const POLL_EVERY_MS = 1_000;
/** Looks between two that are made in any case. */
const IDLE_LOOKS = 4;

export interface ChoiceWatchDeps {
  readonly bus: Pick<Bus, 'subscribe' | 'onGap'>;
  readonly clock: TimerClock;
  readonly log: Logger;
  readonly choices: Choices;
  readonly lifecycle: Pick<Lifecycle, 'follow'>;
  /** Whether areas can be switched over the API as usual. */
  isAskable(): boolean;
}

export function watchChoices({ bus, choices, clock, isAskable, lifecycle, log }: ChoiceWatchDeps): Disposable {
  const onError = (cause: unknown): void => log.warn('choices could not be read; svc tries again', { cause });
  const timers = createTimers({ clock, onError });
  let idle = 0;
  const look = async (): Promise<void> => {
    idle = 0;
    const changed = await choices.refresh();
    if (changed.length === 0) return;
    log.info('choices were changed outside this daemon', { extensions: changed });
    await lifecycle.follow(changed);
  };
  const lookNow = (): void => void look().catch(onError);
  const listening = [bus.subscribe('choices', lookNow), bus.onGap(lookNow)];
  const tick = timers.every(POLL_EVERY_MS, async () => {
    if (isAskable() && idle++ < IDLE_LOOKS) return;
    await look();
  });
  return {
    dispose: async () => {
      for (const one of listening) await one.dispose();
      await tick.dispose();
    },
  };
}
