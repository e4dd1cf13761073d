/** Looks for keys that were revoked while the daemon runs, by `svc ext trust revoke` or by hand. */
import type { Disposable, Logger } from '@svc/api';
import { createTimers } from '@svc/platform/clock/timers';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { InstallationParts } from './installation.js';

const POLL_EVERY_MS = 2_000;

export const watchTrust = ({ clock, installation, log }: { readonly clock: TimerClock; readonly installation: Pick<InstallationParts, 'followTrust'>; readonly log: Logger }): Disposable =>
  createTimers({ clock, onError: (cause) => log.error('trust.toml could not be read: revocations in it have no effect', { cause }) }).every(POLL_EVERY_MS, installation.followTrust);
