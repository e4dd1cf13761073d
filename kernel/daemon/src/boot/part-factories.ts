/** The platform's parts that cause effects. Each factory can be replaced by the program that composes a daemon. */
import { join } from 'node:path';
import { type Dir, type Ids, type Logger, SecretChange, SecretResolve } from '@svc/api';
import type { PlatformParts } from '@svc/context';
import type { HookRegistry } from '@svc/core';
import { createExecAdapter } from '@svc/platform/adapters/child/exec-adapter';
import { createFetchAdapter } from '@svc/platform/adapters/fetch/fetch-adapter';
import { createModelOrigins } from '@svc/platform/adapters/fetch/model-origins';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { createSecrets } from '@svc/platform/adapters/secrets-adapter';
import { createTcpAdapter } from '@svc/platform/adapters/tcp/tcp-adapter';
import { createWebSocketAdapter } from '@svc/platform/adapters/web-socket/web-socket-adapter';
import type { Bus } from '@svc/platform/bus/bus';
import { createCarriedBus } from '@svc/platform/bus/carried-bus';
import type { Carrier } from '@svc/platform/bus/carrier';
import { createLocalBusHub } from '@svc/platform/bus/local-bus';
import type { NatsOptions } from '@svc/platform/bus/nats-carrier';
import { createJournal } from '@svc/platform/journal/journal';
import { createValueChecks } from '@svc/platform/schema/value-checks';
import { openStorage } from '@svc/platform/storage/storage';
import { createWorkers } from '@svc/platform/workers/workers';

export interface BusOptions {
  /** Of the server whose database others may use as well; undefined for a file of this daemon alone. */
  readonly databaseUrl: string | undefined;
  /** Of the NATS server that carries the bus in the place of the database's. */
  readonly nats: Pick<NatsOptions, 'urls' | 'credentials'> | undefined;
  readonly ids: Ids;
  readonly log: Logger;
}

/** A daemon that has its database to itself is the only member of its bus; daemons on one server hear each other through it, or through NATS. */
function joinBus(name: string, { databaseUrl, ids, log, nats }: BusOptions): Bus {
  const failed = (cause: unknown): void => log.error('a message of another process could not be taken', { cause });
  if (databaseUrl === undefined) {
    if (nats !== undefined) log.warn('[cluster] bus is ignored: only this daemon uses its SQLite file. To run several, set [storage] url to a PostgreSQL database.');
    return createLocalBusHub().join(name, failed);
  }
  // Drivers are loaded where they are used.
  const carrier = async (): Promise<Carrier> => {
    if (nats === undefined) return (await import('@svc/platform/bus/postgres-carrier')).postgresCarrier(databaseUrl);
    const [{ deploymentOf }, { natsCarrier }] = await Promise.all([import('@svc/platform/bus/deployment'), import('@svc/platform/bus/nats-carrier')]);
    return natsCarrier({ ...nats, name, deployment: () => deploymentOf(databaseUrl, ids) });
  };
  return createCarriedBus({ name, failed, log, carrier });
}

/** The adapters and the storage: what causes effects. A program that counts, delays or kills at effects wraps these. */
export interface PartFactories {
  readonly joinBus: (name: string, options: BusOptions) => Bus;
  readonly openStorage: typeof openStorage;
  readonly createJournal: typeof createJournal;
  readonly createFetchAdapter: typeof createFetchAdapter;
  readonly createExecAdapter: typeof createExecAdapter;
  readonly createTcpAdapter: typeof createTcpAdapter;
  readonly openDir: (root: string) => Dir;
}

export const standardFactories: PartFactories = {
  joinBus,
  openStorage,
  createJournal,
  createFetchAdapter,
  createExecAdapter,
  createTcpAdapter,
  openDir,
};

export interface AdapterInputs extends Pick<PlatformParts, 'home' | 'env' | 'clock' | 'log' | 'config' | 'ownerKey'> {
  readonly hooks: HookRegistry;
  /** Where this daemon listens. */
  ownPort(): number;
}

/** The adapters. Nothing heavy is loaded before an adapter is first used. */
export function createAdapters(
  factories: PartFactories,
  inputs: AdapterInputs,
): Pick<PlatformParts, 'secrets' | 'fetchAdapter' | 'modelOrigins' | 'execAdapter' | 'tcpAdapter' | 'webSocketAdapter' | 'openDir' | 'workers' | 'schemas'> {
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
  const tcpAdapter = factories.createTcpAdapter({ config, clock, log: log.logger('tcp'), ownPort });
  return {
    secrets,
    modelOrigins,
    fetchAdapter: factories.createFetchAdapter({
      ...{ config, secrets, clock, env, ownPort },
      log: log.logger('fetch'),
      isModelUrl: modelOrigins.covers,
      modelProxy: modelOrigins.proxyOf,
      modelProxies: modelOrigins.proxies,
    }),
    tcpAdapter,
    webSocketAdapter: createWebSocketAdapter({ tcp: tcpAdapter, clock }),
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
