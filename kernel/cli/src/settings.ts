/**
 * Where things are: home, config, the daemon's address and the API key. Flags win over the
 * environment, a running daemon's own daemon.json over what config.toml says it would do.
 */
import { errnoOf } from '@svc/platform/config/errno';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { isKeyHash, isTable, textThatIsSet } from '@svc/api';
import { type Home, resolveHome } from '@svc/platform/config/home';
import { usageFailure } from './failure.js';

export const DEFAULT_PORT = 4545;

export interface GlobalFlags {
  json?: boolean;
  yes?: boolean;
  /** commander's name for --no-color: false when given. */
  color?: boolean;
  home?: string;
  port?: string;
}

/** What commands read of the file that a running daemon writes about itself; it is removed when the daemon stops in order. */
export interface DaemonFile {
  readonly pid: number;
  readonly url: string;
  readonly version: string | undefined;
}

export interface Settings {
  readonly home: string;
  readonly configFile: string;
  readonly dataDir: string;
  readonly logDir: string;
  /** The daemon's environment: this process's, with the flags written into it. */
  readonly env: NodeJS.ProcessEnv;
  /** `--port`, else SVC_PORT. */
  readonly port: number | undefined;
  /** Whether the command line names another daemon's port than this home's. */
  readonly isElsewhere: boolean;
  /** Whether somebody said which home is meant. */
  readonly isHomeNamed: boolean;
  /** Undefined when there is none, or its process is gone. */
  daemonFile(): DaemonFile | undefined;
  /** Where the daemon is, or would be. */
  url(): Promise<string>;
  /** The key to send; undefined where there is none, or only its hash. */
  apiKey(): Promise<string | undefined>;
}

export const createSettings = (flags: GlobalFlags, env: NodeJS.ProcessEnv = process.env): Settings => {
  const flagPort = flags.port === undefined ? undefined : portOf(flags.port);
  const merged = { ...env, ...(flags.home === undefined ? {} : { SVC_HOME: flags.home }), ...(flagPort === undefined ? {} : { SVC_PORT: String(flagPort) }) };
  const where = resolve(merged);
  const settings: Settings = {
    home: where.home,
    configFile: where.configFile,
    dataDir: where.dataDir,
    logDir: where.logDir,
    env: { ...merged, SVC_HOME: where.home },
    port: where.port,
    isElsewhere: flagPort !== undefined,
    isHomeNamed: textThatIsSet(merged.SVC_HOME) !== undefined,
    daemonFile: () => readDaemonFile(path.join(where.home, 'daemon.json')),
    url: async () => {
      // A port named on the command line is an order; one in the environment only says where a daemon would start.
      if (flagPort !== undefined) return `http://127.0.0.1:${flagPort}`;
      return settings.daemonFile()?.url ?? expectedUrl(where);
    },
    apiKey: async () => (await sendableKey(env, where.configFile)) ?? (isOurs(settings.daemonFile(), flagPort) ? madeKey(where.home) : undefined),
  };
  return settings;
};

/** The daemon's own rules for the environment; what they refuse is wrong usage here. */
const resolve = (env: NodeJS.ProcessEnv): Home => {
  try {
    return resolveHome(env);
  } catch (error) {
    throw usageFailure(error instanceof Error ? error.message : String(error));
  }
};

const portOf = (value: string): number => {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (port < 1 || port > 65_535) throw usageFailure(`--port is "${value}"; a port is a number from 1 to 65535.`);
  return port;
};

const readDaemonFile = (file: string): DaemonFile | undefined => {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return undefined; // absent: no daemon has started here, or it stopped in order
  }
  const parsed = parseDaemonFile(text);
  return parsed !== undefined && isAlive(parsed.pid) ? parsed : undefined;
};

const parseDaemonFile = (text: string): DaemonFile | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    const { pid, url, version } = isTable(value) ? value : {};
    return typeof pid === 'number' && typeof url === 'string' ? { pid, url, version: typeof version === 'string' ? version : undefined } : undefined;
  } catch {
    return undefined; // half written: the same as none, the next look finds it whole
  }
};

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM'; // somebody else's process is alive too
  }
};

/** Without a running daemon: SVC_LISTEN and SVC_PORT, else config.toml's address, else the default. */
const expectedUrl = async ({ configFile, port, listen }: Home): Promise<string> => {
  const address = listen ?? (await configText(configFile, /^\s*(?:api_listen|listen_addr)\s*=/m, ['api_listen', 'listen_addr']));
  const split = /^(.*):(\d{1,5})$/.exec(address ?? '');
  const host = split?.[1] ?? '127.0.0.1';
  const reachable = host === '0.0.0.0' || host === '' ? '127.0.0.1' : host === '[::]' ? '[::1]' : host;
  return `http://${reachable}:${port ?? split?.[2] ?? DEFAULT_PORT}`;
};

/** In the daemon's order: SVC_API_KEY, then `api_key`, which the environment may set as well. */
const sendableKey = async (env: NodeJS.ProcessEnv, configFile: string): Promise<string | undefined> => {
  const key = textThatIsSet(env.SVC_API_KEY) ?? textThatIsSet(env.SVC__API_KEY) ?? textThatIsSet(await configText(configFile, /^\s*"?api_key"?\s*=/m, ['api_key'], false));
  return key === undefined || isKeyHash(key) ? undefined : key;
};

/** Whether the daemon of this home runs, and at the port that is meant: whatever else listens there must not be sent its key. */
const isOurs = (daemon: DaemonFile | undefined, port: number | undefined): boolean => daemon !== undefined && (port === undefined || new URL(daemon.url).port === String(port));

/** The key that the daemon made for the owner of this home. */
const madeKey = async (home: string): Promise<string | undefined> => {
  const { ownerKeyFile, readOwnerKey } = await import('@svc/platform/config/file/owner-key-file');
  const found = await readOwnerKey(ownerKeyFile(home));
  return found.kind === 'key' ? found.key : undefined;
};

/** A text at the top level or in [api]. The TOML parser is loaded only when the file seems to have the key. */
const configText = async (configFile: string, mention: RegExp, names: readonly string[], isInApi = true): Promise<string | undefined> => {
  const { readConfigFile } = await import('@svc/platform/config/file/config-file');
  // No config file, or not ours to read: the daemon's refusal will say what is missing.
  const { text } = await readConfigFile(configFile);
  if (text === null) return undefined;
  if (!mention.test(text)) return undefined;
  const { loadToml } = await import('@svc/platform/config/file/toml-parse');
  const parse = await loadToml();
  let parsed: Record<string, unknown>;
  try {
    parsed = parse(text);
  } catch {
    return undefined; // broken TOML is doctor's to explain; the daemon runs on its last good values
  }
  const api = isInApi && isTable(parsed.api) ? parsed.api : {};
  const found = names.map((name) => parsed[name] ?? api[name]).find((value) => typeof value === 'string' && value !== '');
  return typeof found === 'string' ? found : undefined;
};
