/** The platform's parts, made in order. Each factory can be replaced by the program that composes a daemon. */
import { join } from 'node:path';
import { type Dir, type Ids, type Schemas, SecretChange, SecretResolve } from '@svc/api';
import type { HookRegistry } from '@svc/core';
import type { Bus } from '@svc/platform/bus/bus';
import { createLocalBusHub, type LocalBusHub } from '@svc/platform/bus/local-bus';
import type { TimerClock } from '@svc/platform/clock/clock';
import type { Config } from '@svc/platform/config/config';
import type { Home } from '@svc/platform/config/home';
import type { SectionClaims } from '@svc/platform/config/kernel-sections';
import { type ExecDoor, createExecDoor } from '@svc/platform/doors/child/exec-door';
import { type FetchDoor, createFetchDoor } from '@svc/platform/doors/fetch/fetch-door';
import { createModelOrigins, type ModelOrigins } from '@svc/platform/doors/fetch/model-origins';
import { openDir } from '@svc/platform/doors/files/files-door';
import { type SecretsDoor, createSecrets } from '@svc/platform/doors/secrets-door';
import { createTcpDoor, type TcpDoor } from '@svc/platform/doors/tcp/tcp-door';
import type { Http } from '@svc/platform/http/http-server';
import { createJournal, type PlatformJournal } from '@svc/platform/journal/journal';
import type { Log } from '@svc/platform/log/log';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { StreamsAdmin, Topics } from '@svc/platform/streams/streams';
import { createWorkers, type WorkerPools } from '@svc/platform/workers/workers';
import type { OwnerKey } from './owner-key/owner-key.js';

/** The doors and the storage: what causes effects. A program that counts, delays or kills at effects wraps these. */
export interface PartFactories {
  readonly joinBus: (...member: [...Parameters<LocalBusHub['join']>, soleWriter: boolean]) => Bus;
  readonly openStorage: typeof openStorage;
  readonly createJournal: typeof createJournal;
  readonly createFetchDoor: typeof createFetchDoor;
  readonly createExecDoor: typeof createExecDoor;
  readonly createTcpDoor: typeof createTcpDoor;
  readonly openDir: (root: string) => Dir;
}

/** A daemon that has its database to itself is the only member of its bus; daemons that share one are given a bus that they share. */
export const standardFactories: PartFactories = {
  joinBus: (name, failed, soleWriter) => createLocalBusHub({ soleWriter }).join(name, failed),
  openStorage,
  createJournal,
  createFetchDoor,
  createExecDoor,
  createTcpDoor,
  openDir,
};

export interface PlatformParts {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: TimerClock;
  readonly ids: Ids;
  readonly log: Log;
  readonly config: Config;
  readonly claims: () => SectionClaims;
  readonly bus: Bus;
  readonly storage: Storage;
  readonly journal: PlatformJournal;
  readonly streams: Topics & StreamsAdmin;
  readonly http: Http;
  readonly secrets: SecretsDoor;
  readonly fetchDoor: FetchDoor;
  readonly modelOrigins: ModelOrigins;
  readonly execDoor: ExecDoor;
  /** Makes callers need a key, before something runs that could reach the port by itself. */
  readonly ownerKey: Pick<OwnerKey, 'need'>;
  readonly tcpDoor: TcpDoor;
  readonly openDir: (root: string) => Dir;
  readonly workers: WorkerPools;
  readonly schemas: Schemas;
}

export interface DoorInputs {
  readonly home: Home;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: TimerClock;
  readonly log: Log;
  readonly config: Config;
  readonly hooks: HookRegistry;
  readonly ownerKey: Pick<OwnerKey, 'need'>;
  /** Where this daemon listens, once it does. */
  ownPort(): number | undefined;
}

/** The doors. Nothing heavy is loaded before a door is first used. */
export function createDoors(factories: PartFactories, inputs: DoorInputs): Pick<PlatformParts, 'secrets' | 'fetchDoor' | 'modelOrigins' | 'execDoor' | 'tcpDoor' | 'openDir' | 'workers' | 'schemas'> {
  const { home, env, clock, log, config, hooks, ownerKey, ownPort } = inputs;
  const resolve = hooks.handle(SecretResolve);
  const change = hooks.handle(SecretChange);
  const secrets = createSecrets({
    env,
    log,
    ask: (name) => resolve.call({ name }),
    change: (wanted) => change.call(wanted),
  });
  const modelOrigins = createModelOrigins();
  return {
    secrets,
    modelOrigins,
    fetchDoor: factories.createFetchDoor({ config, secrets, clock, log: log.logger('fetch'), isModelUrl: modelOrigins.covers, ownPort }),
    tcpDoor: factories.createTcpDoor({ config, clock, log: log.logger('tcp'), ownPort }),
    execDoor: factories.createExecDoor({
      ...{ config, env, clock, ownPort },
      registerDir: join(home.dataDir, 'children'),
      log: log.logger('exec'),
      home: home.home,
      beforeUnsandboxed: (command) => ownerKey.need(`the program ${command}, which an agent runs without a sandbox,`),
    }),
    openDir: factories.openDir,
    workers: createWorkers({ clock }),
    schemas: createValueChecks(),
  };
}
