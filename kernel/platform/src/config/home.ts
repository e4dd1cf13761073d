/**
 * Where this installation lives. The CLI and the daemon ask the same function,
 * so it imports nothing heavy and touches no disk.
 */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { configErrors } from './errors.js';

export interface Home {
  readonly home: string;
  readonly configFile: string;
  readonly dataDir: string;
  readonly logDir: string;
  readonly workspacesDir: string;
  /** From SVC_PORT: wins over the port of `[api] listen_addr`. */
  readonly port: number | undefined;
  /** From SVC_LISTEN: wins over `[api] listen_addr`. */
  readonly listen: string | undefined;
}

export const databaseFileOf = (dataDir: string): string => join(dataDir, 'svc.db');

/** Beside the database: which one it is, and how far it had come. */
export const identityFileOf = (databaseFile: string): string => `${databaseFile}-identity.json`;

/** Reads SVC_HOME (default ~/.svc), SVC_CONFIG, SVC_PORT and SVC_LISTEN. Throws `config_home_invalid` with the variable's name. */
export const resolveHome = (env: Readonly<Record<string, string | undefined>>): Home => {
  const home = absolute(env.SVC_HOME, join(homedir(), '.svc'));
  return {
    home,
    configFile: absolute(env.SVC_CONFIG, join(home, 'config.toml')),
    dataDir: join(home, 'data'),
    logDir: join(home, 'logs'),
    workspacesDir: join(home, 'workspaces'),
    port: portOf(env.SVC_PORT),
    listen: listenOf(env.SVC_LISTEN),
  };
};

const absolute = (value: string | undefined, fallback: string): string => {
  if (value === undefined || value === '') return fallback;
  if (value === '~' || value.startsWith('~/')) return join(homedir(), value.slice(1));
  return isAbsolute(value) ? value : resolve(value);
};

const portOf = (value: string | undefined): number | undefined => {
  if (value === undefined || value === '') return undefined;
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (port < 1 || port > 65_535) throw configErrors.home_invalid('SVC_PORT', value, 'a port from 1 to 65535');
  return port;
};

const listenOf = (value: string | undefined): string | undefined => {
  if (value === undefined || value === '') return undefined;
  if (!/^(\[[0-9a-fA-F:.]+\]|[^:\s]+):\d{1,5}$/.test(value)) throw configErrors.home_invalid('SVC_LISTEN', value, 'an address and a port, such as 127.0.0.1:4545');
  return value;
};
