/** Where `svc config` reads and changes settings: at the daemon that runs, else in the file, by the daemon's own code. */
import { didYouMean, isSvcError, type JsonSchema, nearest } from '@svc/api';
import type { SettingShown } from '@svc/api/internal';
import type { Cli } from '../cli.js';
import type { DaemonClient } from '../daemon/daemon-client.js';
import { resolveHome } from '@svc/platform/config/home';
import { Failure } from '../failure.js';
import { extensionClaims } from '../local-config.js';

export type SettingRow = Omit<SettingShown, 'keys'>;

export interface SetOutcome {
  readonly status: string;
  readonly path: string;
  readonly waits_for?: string;
  readonly reload_error?: string;
  readonly warnings: readonly string[];
}

export interface SettingsSource {
  /** Where they come from, for a person. */
  readonly where: 'daemon' | 'file';
  rows(): Promise<readonly SettingRow[]>;
  /** With the marks that the daemon knows. */
  schema(): Promise<JsonSchema>;
  /** For editors. */
  editorSchema(): Promise<unknown>;
  set(path: string, value: unknown): Promise<SetOutcome>;
}

/** Runs `work` at the daemon; where none runs, or it cannot tell this user, on the file. */
export const atSettings = async <T>(cli: Cli, work: (source: SettingsSource) => Promise<T>): Promise<T> => {
  if (!cli.settings.isElsewhere && cli.settings.daemonFile() === undefined) return work(await inFile(cli));
  try {
    return await work(atDaemon(await cli.daemon()));
  } catch (error) {
    if (cli.settings.isElsewhere || !isUnable(error)) throw error;
    cli.out.note(`From the file: ${error.message}`);
    return work(await inFile(cli));
  }
};

/** Nobody answers, no key is known here, the daemon is closed, or the area is off: whoever owns the file goes on all the same. */
const isUnable = (error: unknown): error is Failure =>
  error instanceof Failure && (error.code === 'cli_daemon_not_running' || error.status === 401 || error.code === 'security_unavailable' || (error.status === 404 && error.code === 'not_found'));

const atDaemon = (daemon: DaemonClient): SettingsSource => ({
  where: 'daemon',
  rows: async () => (await daemon.call('listSettings')).settings,
  schema: () => daemon.call('getConfigSchema'),
  editorSchema: () => daemon.call('getRegistrySchema'),
  set: (path, value) => daemon.call('setConfigValue', { body: { path, value } }),
});

const inFile = async ({ settings, distDir }: Cli): Promise<SettingsSource> => {
  const [{ openLocalSettings }, { startRefusal }, { plainConfigSchema }, { allClaims }] = await Promise.all([
    import('@svc/platform/config/settings/local-settings'),
    import('@svc/platform/config/open-network'),
    import('@svc/platform/config/settings/config-document'),
    import('@svc/platform/config/claims'),
  ]);
  const ofAreas = await extensionClaims(distDir);
  const claims = () => ofAreas;
  const config = await openLocalSettings({ file: settings.configFile, env: settings.env, sections: claims, refusesStart: startRefusal(settings.env, claims, resolveHome(settings.env)) });
  return {
    where: 'file',
    rows: async () => (await config.shown()).settings,
    schema: async () => config.schema(),
    editorSchema: async () => plainConfigSchema(allClaims(ofAreas)),
    set: async (path, value) => {
      const changed = await refusedAsFailure(() => config.edit({ path, value }));
      const { problems } = await config.reload();
      return { status: 'applied', path: changed, warnings: problems.flatMap(({ severity, message }) => (severity === 'notice' ? [] : [message])) };
    },
  };
};

/** The settings' own errors in the words of a command. */
export const refusedAsFailure = async <T>(work: () => Promise<T>): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isSvcError(error)) throw error;
    throw new Failure(error.message, { code: error.code, fix: error.hint });
  }
};

const MAX_NAMED = 3;

/** The settings at a path or below it, by either spelling. Throws a failure that names the nearest. */
export const rowsAt = async (source: SettingsSource, asked: string): Promise<readonly SettingRow[]> => {
  const rows = await source.rows();
  const path = asked.replace(/^\//, '');
  const found = rows.filter((row) => row.path === path || row.path.startsWith(`${path}.`));
  if (found.length > 0) return found;
  const older = await olderSpelling(source, path, rows);
  if (older !== undefined) return [older];
  const names = new Set(rows.flatMap((row) => [row.path, row.path.split('.')[0] ?? '']));
  throw new Failure(`${asked} is not a setting.${didYouMean(path, [...names]) || inSections(path, rows)}`, { code: 'cli_no_such_setting', fix: 'svc config show' });
};

/** A name without its section, misspelt or not: the whole key is named. */
const inSections = (name: string, rows: readonly SettingRow[]): string => {
  const last = (row: SettingRow): string => row.path.split('.').at(-1) ?? '';
  const [near] = nearest(name, rows.map(last), 1);
  const found = rows.filter((row) => last(row) === near).map(({ path }) => `"${path}"`);
  return found.length === 0 ? '' : ` Did you mean ${found.slice(0, MAX_NAMED).join(' or ')}?`;
};

const olderSpelling = async (source: SettingsSource, name: string, rows: readonly SettingRow[]): Promise<SettingRow | undefined> => {
  const { properties = {} } = await source.schema();
  return rows.find(({ path }) => {
    const [section = '', key = ''] = path.split('.');
    return properties[section]?.properties?.[key]?.['x-alias']?.includes(name) === true;
  });
};
