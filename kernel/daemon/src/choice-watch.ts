/**
 * `svc ext` writes a choice beside a daemon that cannot be asked: auth is off, or the area that switches areas.
 * So while that is the case, and only then, the daemon looks for such choices.
 */
import type { Disposable, Logger } from '@svc/api';
import type { Lifecycle } from '@svc/core';
import { createTimers } from '@svc/platform/clock/timers';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Choices } from './choices.js';

const LOOK_EVERY_MS = 1_000;

export interface ChoiceWatchDeps {
  readonly clock: TimerClock;
  readonly log: Logger;
  readonly choices: Choices;
  readonly lifecycle: Pick<Lifecycle, 'follow'>;
  /** Whether areas can be switched over the API as usual. */
  isAskable(): boolean;
}

export function watchChoices({ choices, clock, isAskable, lifecycle, log }: ChoiceWatchDeps): Disposable {
  const timers = createTimers({ clock, onError: (error) => log.warn('choices could not be read; the next look tries again', { cause: error }) });
  return timers.every(LOOK_EVERY_MS, async () => {
    if (isAskable()) return;
    const changed = await choices.refresh();
    if (changed.length === 0) return;
    log.info('choices were made beside the daemon', { extensions: changed });
    await lifecycle.follow(changed);
  });
}
