/** Step 1: what stands before the port is open. Settings, keys and the registries of the wiring; nothing heavy is loaded. */
import { join } from 'node:path';
import * as api from '@svc/api';
import { createInstalledStore, type InstalledFiles, type InstalledStore } from '@svc/core';
import type { Bus } from '@svc/platform/bus/bus';
import type { TimerClock } from '@svc/platform/clock/clock';
import { setLogLevel } from '@svc/platform/config/apply-settings';
import { type Config, createConfig } from '@svc/platform/config/config';
import { ownerKeyFile } from '@svc/platform/config/file/owner-key-file';
import type { Home } from '@svc/platform/config/home';
import { type SectionClaims, settingsOf } from '@svc/platform/config/kernel-sections';
import { type KeyWatch, networkGuard, refuseOpenNetwork, startRefusal, watchKeys } from '@svc/platform/config/open-network';
import { type KeyNeed, openOwnerKey } from '@svc/platform/config/owner-key';
import { databaseUrlOf, listenAddress } from '@svc/platform/config/start-settings';
import type { Log } from '@svc/platform/log/log';
import { makeDataFolder } from '@svc/platform/process/home-lock';
import { createDurableRelay, type DurableEvents, type DurableRelay, durableEventsOf } from '@svc/platform/relay/durable-relay';
import { addressOf } from '@svc/platform/storage/postgres/postgres-url';
import { trialFactories } from '../backup/trial.js';
import { type Preset, type Release, readRelease } from '../release.js';
import type { BootOptions } from './contract.js';
import { type BusOptions, type PartFactories, standardFactories } from './part-factories.js';
import type { Progress } from './progress.js';
import { claimsOf, presetOf } from './start-rules.js';
import { createWiring, type Wiring } from './wiring.js';

/** What a start was given, with the clock and ids that it uses where none were given. */
export type Booting = BootOptions & {
  readonly clock: TimerClock;
  readonly ids: api.Ids;
  /** A test moves the time: then the database's own would not fit. */
  readonly isClockGiven: boolean;
};

export interface Ground {
  readonly options: Booting;
  readonly progress: Progress;
  readonly factories: PartFactories;
  readonly home: Home;
  readonly log: Log;
  readonly startedAt: string;
  readonly release: Release;
  readonly installed: InstalledStore<InstalledFiles>;
  readonly config: Config;
  readonly keys: KeyWatch;
  readonly ownerKey: KeyNeed;
  readonly claims: () => SectionClaims;
  readonly preset: { readonly name: string; readonly preset: Preset };
  readonly listen: { readonly host: string; readonly port: number };
  /** Of the server; undefined for the file in the data folder. */
  readonly databaseUrl: string | undefined;
  /** The file that would name one could not be read. */
  readonly isDatabaseGuessed: boolean;
  readonly bus: Bus;
  readonly wiring: Wiring;
  readonly durable: DurableEvents;
  readonly relay: DurableRelay;
}

export async function layGround(options: Booting, home: Home, log: Log, progress: Progress): Promise<Ground> {
  const { clock, env } = options;
  const release = await readRelease(options.releaseFile, api, options.code);
  const installed = createInstalledStore([...release.extensions, ...(options.extra ?? [])]);
  const claims = claimsOf(installed);
  const storedKey = await openOwnerKey({ file: ownerKeyFile(home.home), ids: options.ids, log: log.logger('kernel'), redact: log.redact });
  const config = createConfig({
    file: home.configFile,
    env,
    log,
    sections: claims,
    lastGoodFile: join(home.dataDir, 'config-last-good.json'),
    guard: networkGuard(env, claims, home, () => progress.address()?.host),
    refusesStart: startRefusal(env, claims, home),
    revisionKey: options.ids.hex(32),
    ownerKeyHash: storedKey.hash,
  });
  await makeDataFolder(home);
  await config.load();
  setLogLevel(log, config);
  const listen = listenAddress(config, home, options.port);
  const databaseUrl = takeUrl(config, log);
  const keys = watchKeys(env, claims, config);
  refuseOpenNetwork(listen.host, keys.hasKey());
  const factories = { ...standardFactories, ...(options.isTrial ? trialFactories : {}), ...options.factories };
  const bus = factories.joinBus(options.ids.uuid(), { databaseUrl, nats: takeNats(config, env, log), ids: options.ids, log: log.logger('bus') });
  const durable = durableEventsOf(installed);
  const checksReplies = options.checkReplies ?? false;
  const wiring = createWiring({ clock, log: log.logger('kernel'), bus, installed, isDurable: durable.isDurable, validatesAll: checksReplies, lifecycle: progress.lifecycle });
  if (checksReplies) await wiring.validator.load();
  return {
    options,
    progress,
    factories,
    home,
    log,
    startedAt: clock.iso(),
    release,
    installed,
    config,
    keys,
    ownerKey: storedKey.makerIn({ hasKey: keys.hasKey, apply: config.applyOwnerKey }),
    claims,
    preset: presetOf(release, config),
    listen,
    databaseUrl,
    isDatabaseGuessed: databaseUrl === undefined && config.closed().includes('storage'),
    bus,
    wiring,
    durable,
    relay: createDurableRelay({ installed, hub: wiring.events, clock, log: log.logger('events') }),
  };
}

/** Known to the log before anything is done with it. */
function takeUrl(config: Config, log: Log): string | undefined {
  const url = databaseUrlOf(config);
  const password = url === undefined ? undefined : addressOf(url).password;
  if (password !== undefined) log.redact(password);
  return url;
}

/** As for the database: what must not be shown is known to the log first. */
function takeNats(config: Config, env: Booting['env'], log: Log): BusOptions['nats'] {
  const { bus: urls, bus_credentials_env: variable } = settingsOf(config, 'cluster');
  if (urls === undefined) return undefined;
  const credentials = api.textThatIsSet(env[variable]);
  if (credentials !== undefined) for (const secret of [credentials, credentials.slice(credentials.indexOf(':') + 1)]) log.redact(secret);
  return { urls, credentials };
}
