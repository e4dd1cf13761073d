/**
 * Whose daemon a port leads to. A home that was named, by `--home` or SVC_HOME, and has no daemon of its own leaves only
 * the port to go by, and there may be another home's: what is asked of one daemon must not be done by another.
 * `--port` names the daemon itself, so nothing is checked then.
 */
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import type { Settings } from '../settings.js';
import type { DaemonClient } from './daemon-client.js';

const POLL_MS = 3_000;

/** Throws `cli_other_home`. A daemon that does not say its home is let pass: what it refuses or cannot do, it says by itself. */
export const checkHome = async (settings: Settings, daemon: DaemonClient): Promise<void> => {
  if (!settings.isHomeNamed || settings.isElsewhere || settings.daemonFile() !== undefined) return;
  const found = await daemon.call('getStatus', {}, { timeoutMs: POLL_MS }).catch(() => undefined);
  const home: unknown = found?.home_dir;
  if (typeof home !== 'string' || home === '' || real(home) === real(settings.home)) return;
  throw new Failure(`The daemon at ${daemon.url} has another home: ${home}.`, {
    code: 'cli_other_home',
    exit: EXIT.notRunning,
    why: `no daemon runs for ${settings.home}`,
    fix: `svc --home ${home} status, or --port ${new URL(daemon.url).port} to mean the one at that port`,
  });
};

/** One folder may have several names. */
const real = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return path.resolve(folder); // it is not there, or not ours to look at
  }
};
