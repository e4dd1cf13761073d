/**
 * Extensions that came from elsewhere, as the daemon runs them: each in a process of its own.
 *
 * T1  What runs has no more grants than a person agreed to, whatever its manifest asks for.
 * T2  A process that ends too often takes its extension out of service, and no other.
 */
import { join } from 'node:path';
import type { ExtensionOrigin, ExtensionProcess, Manifest } from '@svc/api/internal';
import type { ActorRegistry, Lifecycle, Contributor } from '@svc/core';
import { type AllContributions, namesOf } from '@svc/installer/contributions';
import { type CrashRegistry, createCrashRegistry, type ProcessLimits, remoteDefinition, type Usage } from '@svc/isolation';
import type { InstalledFiles } from '@svc/core';

/** One of them as it lies in the store. */
export interface ThirdParty {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** Absolute path of its folder. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly contributions: AllContributions;
  /** Those that a person agreed to. */
  readonly grants: readonly string[];
  readonly origin: ExtensionOrigin;
  /** Looks whether its files are those that were installed; answers with the SHA-256 of its bundle. Not for a folder in development. */
  verify?(): Promise<string>;
}

export interface ThirdPartiesDeps {
  /** Absolute path of the program that their processes run. */
  readonly program: string;
  limits(): ProcessLimits;
  readonly actors: Pick<ActorRegistry, 'isHanded'>;
  readonly now: () => number;
  /** Notes its process for the next start. */
  record(pid: number, id: string): Promise<() => Promise<void>>;
  /** Whether somebody waits for the outcome of a start: the daemon is up, and a person changes something. */
  isUp(): boolean;
  lifecycle(): Pick<Lifecycle, 'degrade' | 'recover' | 'quarantine'> | undefined;
  /** Before a process starts that could reach the port of this daemon by itself. A rejection keeps it from starting. */
  beforeUnwalled(what: string): Promise<void>;
  reportUnhandled(owner: Pick<Contributor, 'id' | 'generation'>, place: string, error: unknown): void;
}

export interface ThirdParties {
  installed(thirdParty: ThirdParty): InstalledFiles;
  processOf(id: string): ExtensionProcess | undefined;
  forgive(id: string): void;
}

const BUNDLE = 'dist/index.js';

type Running = NonNullable<Parameters<typeof remoteDefinition>[1]['running']>;

export const createThirdParties = (deps: ThirdPartiesDeps): ThirdParties => {
  const crashes = createCrashRegistry(deps.now);
  const processes = new Map<string, { readonly pid: number; readonly usage: Usage | undefined }>();
  const remote = new Set<string>();
  return {
    installed: (thirdParty) => {
      remote.add(thirdParty.id);
      return toInstalled(thirdParty, deps, crashes, () => tracked(processes, thirdParty.id));
    },
    processOf: (id) => (remote.has(id) ? { pid: processes.get(id)?.pid ?? null, memoryBytes: processes.get(id)?.usage?.rssBytes ?? null, crashes: crashes.count(id) } : undefined),
    forgive: crashes.forget,
  };
};

/** Of one generation: when the one before it goes, the process of the next is the one that counts. */
const tracked = (processes: Map<string, NonNullable<Parameters<Running>[0]>>, id: string): Running => {
  let pid: number | undefined;
  return (now) => {
    const isCurrent = processes.get(id)?.pid === pid;
    if (now && (isCurrent || now.pid !== pid)) {
      pid = now.pid;
      processes.set(id, now);
    } else if (!now && isCurrent) processes.delete(id);
  };
};

const toInstalled = (thirdParty: ThirdParty, deps: ThirdPartiesDeps, crashes: CrashRegistry, track: () => Running): InstalledFiles => {
  const { contributions, description, folder, id, origin, version } = thirdParty;
  const manifest = agreed(thirdParty);
  const bundle = join(folder, BUNDLE);
  return {
    id,
    version,
    description,
    bundled: false,
    origin,
    manifest,
    contributions: namesOf(contributions),
    workers: {},
    migrations: contributions.migrations.map(({ name }) => name),
    assets: join(folder, 'dist/assets'),
    ...(manifest.panels?.length
      ? { panels: { folder: join(folder, 'dist/panels'), files: Object.fromEntries(manifest.panels.map(({ id }) => [id, { script: `${id}.js`, style: `${id}.css` }])) } }
      : {}),
    isRemote: true,
    load: async () => {
      // Each time: what lies on the disk may have been changed since it was validated.
      const sha256 = await thirdParty.verify?.();
      return remoteDefinition({ id, version, manifest, contributions, bundle, ...(sha256 === undefined ? {} : { sha256 }) }, hostOf(thirdParty, origin.isolation, deps, crashes, track()));
    },
  };
};

/** T1. An optional grant that nobody agreed to is not there; one that is needed would have stopped the installation. */
const agreed = ({ grants, manifest }: ThirdParty): Manifest => ({ ...manifest, grants: (manifest.grants ?? []).filter(({ grant }) => grants.includes(grant)) });

const hostOf = (thirdParty: ThirdParty, isolation: 'isolated' | 'walled', deps: ThirdPartiesDeps, crashes: CrashRegistry, running: Running): Parameters<typeof remoteDefinition>[1] => {
  const { folder, id } = thirdParty;
  return {
    id,
    isolation,
    program: deps.program,
    folder,
    limits: deps.limits(),
    crashes,
    isActor: (value) => deps.actors.isHanded(value),
    isTried: deps.isUp,
    ...(isolation === 'isolated' ? { beforeLaunch: () => deps.beforeUnwalled(`the extension ${id}, which runs without bubblewrap,`) } : {}),
    record: (pid) => deps.record(pid, id),
    reportUnhandled: (place, error) => deps.reportUnhandled({ id, generation: 0 }, place, error),
    recovered: () => deps.lifecycle()?.recover(id),
    crashed: (why, isTooMany) => {
      if (isTooMany) void deps.lifecycle()?.quarantine(id, `its process ended five times in ten minutes, last: ${why}`);
      else deps.lifecycle()?.degrade(id, `its process stopped and is restarted: ${why}`);
    },
    running,
  };
};
