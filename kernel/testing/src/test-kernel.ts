/**
 * A whole daemon inside a test: a real database of its own (SQLite, or PostgreSQL inside `describeOnEngines`), real HTTP
 * on a free port (`useOnePort` for a browser), the extensions as they ship. It stops itself after the test that
 * booted it, and fails that test when something is left open.
 */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Actor, actorFrom } from '@svc/api';
import { type BootOptions, type Daemon, type InstalledFiles, bootDaemon } from '@svc/daemon';
import { nextPort } from './free-port.js';
import { copyMigrated } from './migrated-database.js';
import { databaseOfHome } from './postgres/engines.js';
import { releaseFile } from './release-file.js';
import { sharedCode } from './shared-code.js';
import { TestHttp } from './test-http.js';

export interface TestKernelOptions {
  /** Text of config.toml. */
  readonly config?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A folder to use, and to keep; by default a fresh one that is removed. A database that is not there yet is a migrated one. */
  readonly home?: string;
  /** For a test of what a first start does: the database begins empty. */
  readonly isFirstStart?: boolean;
  readonly extra?: readonly InstalledFiles[];
  /** Extensions of others; `enable` them by config. */
  readonly thirdParties?: BootOptions['thirdParties'];
  readonly factories?: BootOptions['factories'];
  readonly clock?: BootOptions['clock'];
  readonly ids?: BootOptions['ids'];
  /** Another index than this build's, such as one that a test writes anew. */
  readonly releaseFile?: string;
  readonly stopDrainMs?: number;
  readonly onShutdown?: (reason: string) => void;
  readonly onRestore?: BootOptions['onRestore'];
  readonly isRestored?: boolean;
  /** Bearer key that `http` sends. */
  readonly key?: string;
}

export interface TestKernel {
  readonly daemon: Daemon;
  readonly url: string;
  readonly home: string;
  readonly http: TestHttp;
  /** The same daemon as somebody else sees it. */
  as(key: string): TestHttp;
  stop(): Promise<void>;
}

/** Rates so high that no test meets them by accident. */
export const OPEN_RATE = '[api]\nrate_limit_per_second = 100000\n[rate_limit]\nmax_ws_per_ip = 10000\nmax_ws_per_user = 10000\n';
export const OWNER: Actor = actorFrom({ id: 'owner', role: 'owner', ownerId: 'owner' });

const running = new Set<TestKernel>();

/** How many daemons this process has started: a run tells it, as they are most of what it costs. */
const STARTED = Symbol.for('svc.testing.daemons');
const place = globalThis as { [STARTED]?: number };

export async function bootTestKernel(options: TestKernelOptions = {}): Promise<TestKernel> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'svc-test-')));
  await mkdir(home, { recursive: true });
  if (options.config !== undefined || options.home === undefined) await writeFile(join(home, 'config.toml'), options.config ?? OPEN_RATE);
  // Where a test makes the parts that open it, or another build, its database is made by them.
  const isOurs = options.releaseFile === undefined && options.factories === undefined && options.isFirstStart !== true && !existsSync(join(home, 'data/svc.db'));
  const database = await databaseOfHome(home, isOurs ? () => copyMigrated(home, { releaseFile: releaseFile(), code: sharedCode() }) : undefined);
  place[STARTED] = (place[STARTED] ?? 0) + 1;
  const daemon = await bootDaemon({
    env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, ...database, ...options.env },
    releaseFile: options.releaseFile ?? releaseFile(),
    foreground: false,
    checkReplies: true,
    code: sharedCode(),
    port: await nextPort(),
    ...pick(options, ['extra', 'thirdParties', 'factories', 'clock', 'ids', 'stopDrainMs', 'onShutdown', 'onRestore', 'isRestored']),
  });
  const kernel: TestKernel = {
    daemon,
    url: daemon.url,
    home,
    http: new TestHttp(daemon.url, options.key ?? (() => ownerKeyOf(home))),
    as: (key) => new TestHttp(daemon.url, key),
    stop: async () => {
      if (!running.delete(kernel)) return;
      await daemon.stop('the test is over');
      if (options.home === undefined) await rm(home, { recursive: true, force: true });
    },
  };
  running.add(kernel);
  return kernel;
}

/** The key that the daemon made, as the owner's command line reads it; undefined in a home where it made none. */
export const ownerKeyOf = (home: string): string | undefined => {
  try {
    return readFileSync(join(home, 'owner.key'), 'utf8').trim();
  } catch {
    return undefined; // none was made
  }
};

/** For a root hook: whatever a test booted and did not stop is stopped, but for one that later tests use. Throws the leaks that this shows. */
export async function stopTestKernels(lasting: TestKernel | undefined = undefined): Promise<void> {
  const leaks: string[] = [];
  for (const kernel of [...running].filter((one) => one !== lasting)) {
    await kernel.stop();
    leaks.push(...kernel.daemon.kernel.extensions().flatMap((one) => one.leaks.map((leak) => `${one.id}: ${leak}`)));
  }
  if (leaks.length > 0) throw new Error(`something was left open:\n${leaks.join('\n')}`);
}

const pick = <T extends object, K extends keyof T>(from: T, keys: readonly K[]): { [P in K]?: Exclude<T[P], undefined> } =>
  // Only keys that have a value: optional members may not be undefined.
  Object.fromEntries(keys.filter((key) => from[key] !== undefined).map((key) => [key, from[key]])) as { [P in K]?: Exclude<T[P], undefined> };
