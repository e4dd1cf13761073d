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
import { type ExecAdapter, createExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import { type FetchAdapter, createFetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import { createModelOrigins, type ModelOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { type SecretsAdapter, createSecrets } from '@svc/platform/adapters/secrets-adapter';
import { createTcpAdapter, type TcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import type { Http } from '@svc/platform/http/http-server';
import { createJournal, type PlatformJournal } from '@svc/platform/journal/journal';
import type { Log } from '@svc/platform/log/log';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { openStorage, type Storage } from '@svc/platform/storage/storage';
import type { StreamsAdmin, Topics } from '@svc/platform/streams/streams';
import { createWorkers, type WorkerPools } from '@svc/platform/workers/workers';
import type { OwnerKey } from './owner-key/owner-key.js';

/** The adapters and the storage: what causes effects. A program that counts, delays or kills at effects wraps these. */
export interface PartFactories {
  readonly joinBus: (...member: [...Parameters<LocalBusHub['join']>, soleWriter: boolean]) => Bus;
  readonly openStorage: typeof openStorage;
  readonly createJournal: typeof createJournal;
  readonly createFetchAdapter: typeof createFetchAdapter;
  readonly createExecAdapter: typeof createExecAdapter;
  readonly createTcpAdapter: typeof createTcpAdapter;
  readonly openDir: (root: string) => Dir;
}

/** A daemon that has its database to itself is the only member of its bus; daemons that share one are given a bus that they share. */
export const standardFactories: PartFactories = {
  joinBus: (name, failed, soleWriter) => createLocalBusHub({ soleWriter }).join(name, failed),
  openStorage,
  createJournal,
  createFetchAdapter,
  createExecAdapter,
  createTcpAdapter,
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
  readonly secrets: SecretsAdapter;
  readonly fetchAdapter: FetchAdapter;
  readonly modelOrigins: ModelOrigins;
  readonly execAdapter: ExecAdapter;
  /** Makes callers need a key, before something runs that could reach the port by itself. */
  readonly ownerKey: Pick<OwnerKey, 'need'>;
  readonly tcpAdapter: TcpAdapter;
  readonly openDir: (root: string) => Dir;
  readonly workers: WorkerPools;
  readonly schemas: Schemas;
}

export interface AdapterInputs {
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

/** The adapters. Nothing heavy is loaded before an adapter is first used. */
export function createAdapters(
  factories: PartFactories,
  inputs: AdapterInputs,
): Pick<PlatformParts, 'secrets' | 'fetchAdapter' | 'modelOrigins' | 'execAdapter' | 'tcpAdapter' | 'openDir' | 'workers' | 'schemas'> {
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
    fetchAdapter: factories.createFetchAdapter({ config, secrets, clock, log: log.logger('fetch'), isModelUrl: modelOrigins.covers, ownPort }),
    tcpAdapter: factories.createTcpAdapter({ config, clock, log: log.logger('tcp'), ownPort }),
    execAdapter: factories.createExecAdapter({
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
