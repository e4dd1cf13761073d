/** What the running daemon says about itself. */
import type { HealthDetail } from '@svc/client';
import type { Cli } from '../cli.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { EXIT } from '../exit-codes.js';
import { Failure } from '../failure.js';
import { duration } from '../terminal/layout.js';
import { type Check, fail, fromFinding, pass, warn } from './check.js';

/** Of an older daemon some of it may be missing. */
type Health = Partial<Omit<HealthDetail, 'database'>> & { readonly database?: string };

export interface DaemonChecks {
  readonly isRunning: boolean;
  readonly checks: readonly Check[];
}

export const daemonChecks = async (cli: Cli): Promise<DaemonChecks> => {
  const daemon = await cli.daemon();
  try {
    const health: Health = await daemon.call('getHealthDetail', {}, { timeoutMs: 15_000 });
    return { isRunning: true, checks: [runningCheck(health, daemon.url), ...databaseCheck(health), ...(await storedKeysCheck(daemon)), ...(health.doctor ?? []).map(fromFinding)] };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.code === 'cli_daemon_not_running') return { isRunning: false, checks: [warn('daemon', 'not running', 'svc start')] };
    // Without a key nobody is told more, and that is as it should be.
    if (error.exit === EXIT.refused) return { isRunning: true, checks: [warn('daemon', `runs at ${daemon.url}; details require a key: ${error.message}`, error.fix)] };
    return { isRunning: true, checks: [fail('daemon', `answers at ${daemon.url}, but not to this: ${error.message}`, error.fix)] };
  }
};

/** The daemon knows the keys of its vault, which no environment shows. Without an answer the look at the environment counts. */
const storedKeysCheck = async (daemon: DaemonClient): Promise<Check[]> => {
  const found = await daemon.call('listProviders', {}, { timeoutMs: 15_000 }).catch((error: unknown) => {
    if (error instanceof Failure) return undefined;
    throw error;
  });
  const keyed = found?.providers.filter(({ key_present: has, key_required: needs }) => has === true && needs).map(({ name }) => name) ?? [];
  return keyed.length === 0 ? [] : [pass('provider_keys', `the daemon has keys of ${keyed.sort().join(', ')}`)];
};

const runningCheck = (health: Health, url: string): Check => {
  const text = `${health.version === undefined ? '' : `${health.version} `}at ${url}${health.uptime_seconds === undefined ? '' : `, up ${duration(health.uptime_seconds)}`}`;
  if (health.status === undefined || health.status === 'ok') return pass('daemon', text);
  const failing = (health.doctor ?? []).flatMap(({ check, result }) => (result === 'fail' ? [check] : []));
  return warn('daemon', `${text}, ${health.status}${failing.length === 0 ? '' : `: see ${failing.join(', ')}`}`, 'svc status');
};

const databaseCheck = ({ database }: Health): Check[] => {
  if (database === undefined) return [];
  return [database === 'connected' || database === 'ok' ? pass('daemon_db', database) : fail('daemon_db', database, 'svc logs --lines 50')];
};
