/** Brings into force what config.toml says now, and knows what of it waits for the next start. */
import type { SettingsApplied } from '@svc/api';
import type { Lifecycle } from '@svc/core';
import { allClaims } from './claims.js';
import type { Config } from './config.js';
import type { Home } from './home.js';
import { type SectionClaims, settingsOf } from './kernel-sections.js';
import { schemaOfPlace, type SettingPlace, settingsIn } from './settings/setting-tree.js';
import type { Log } from '../log/log.js';
import { isDatabaseKept, listenAddress } from './start-settings.js';

export interface ApplyDeps {
  readonly config: Config;
  readonly log: Log;
  readonly home: Home;
  readonly claims: () => SectionClaims;
  readonly lifecycle: Pick<Lifecycle, 'converge' | 'isActive'>;
  /** Tells everybody which sections are others now. */
  readonly deliver: (sections: readonly string[]) => void;
  /** Which settings are others now, for the audit trail. */
  readonly entered: (settings: readonly string[], why: string) => void;
  /** What was read once, at the start. */
  readonly started: { readonly listen: { readonly host: string; readonly port: number }; readonly databaseUrl: string | undefined; readonly port: number | undefined };
}

export interface Settings {
  /** Reads config.toml again; what does not hold keeps its last good value. `why` goes to the log. `isElsewhere`: another daemon was told to, and has entered it into the audit trail. */
  apply(why: string, options?: { isElsewhere?: boolean }): Promise<SettingsApplied>;
}

export function applierOf(deps: ApplyDeps): Settings {
  const atStart = restartValues(deps);
  return {
    apply: async (why, { isElsewhere = false } = {}) => {
      const { config, lifecycle } = deps;
      const { changed, settings, problems } = await config.reload();
      setLogLevel(deps.log, config);
      deps.deliver(changed);
      if (!isElsewhere) deps.entered(settings, why);
      await lifecycle.converge();
      const log = deps.log.logger('config');
      log.info(problems.length === 0 ? 'settings reloaded' : 'settings reloaded; invalid ones keep their last valid value', { why, changed, problems: problems.length });
      const restart = awaitingRestart(deps, atStart);
      for (const setting of restart) log.warn(`${setting} was changed and takes effect at the next start`, { setting });
      return {
        changed: settings,
        unread: settings.filter((path) => isUnread(deps, path)),
        restart,
        problems: problems.flatMap(({ severity, message }) => (severity === 'notice' ? [] : [message])),
        unreadable: config.isFileRead() ? null : (problems[0]?.message ?? 'config.toml cannot be read.'),
      };
    },
  };
}

export const setLogLevel = (log: Log, config: { get(section: string): unknown }): void => log.setLevel(settingsOf(config, 'log').level);

const isUnread = ({ claims, lifecycle }: ApplyDeps, path: string): boolean => {
  const [section = ''] = path.split('.');
  const all = allClaims(claims());
  const owner = (all[section] ?? all[`/${section}`])?.owner ?? 'kernel';
  return owner !== 'kernel' && !lifecycle.isActive(owner);
};

/** Read at the start by more than their value: variables and a file that could not be read count as well. */
const VALIDATED_APART = ['api.listen_addr', 'storage.url'];

const restartPlaces = ({ claims, config }: ApplyDeps): SettingPlace[] =>
  settingsIn(allClaims(claims()), (name) => config.get(name)).filter((place) => schemaOfPlace(place)['x-restart'] === true && !VALIDATED_APART.includes(place.path.join('.')));

const restartValues = (deps: ApplyDeps): ReadonlyMap<string, string> => new Map(restartPlaces(deps).map(({ path, value }) => [path.join('.'), JSON.stringify(value) ?? '']));

const awaitingRestart = (deps: ApplyDeps, atStart: ReadonlyMap<string, string>): string[] => {
  const { config, home, started } = deps;
  const wanted = listenAddress(config, home, started.port);
  return [
    ...(isDatabaseKept(config, started.databaseUrl) ? [] : ['storage.url']),
    ...(wanted.host === started.listen.host && wanted.port === started.listen.port ? [] : ['api.listen_addr']),
    // One that an area brought later was read when that began.
    ...[...restartValues(deps)].flatMap(([path, value]) => (atStart.has(path) && atStart.get(path) !== value ? [path] : [])),
  ];
};
