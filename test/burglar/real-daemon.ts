/** The daemon as it ships, in a process of its own: what is claimed of its end can only be seen from outside. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseOfHome, OPEN_RATE, releaseFile, thirdParty, type ThirdPartySpec, TestHttp } from '@svc/testing';
import { freePort } from '@svc/testing/free-port';

export interface RealDaemon {
  readonly pid: number;
  readonly process: ChildProcess;
  /** Undefined until it listens. */
  http(): TestHttp;
  readonly gone: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  /** What it has said on its terminal. */
  said(): string;
}

const running = new Set<RealDaemon>();
const homes: string[] = [];

export const newHome = async (settings = ''): Promise<string> => {
  const home = await realpath(await mkdtemp(join(tmpdir(), 'svc-real-')));
  homes.push(home);
  await writeFile(join(home, 'config.toml'), `${OPEN_RATE}${settings}`);
  return home;
};

/** `isReady: false` returns when the process was started. */
export const startDaemon = async (
  home: string,
  { env = {}, isReady = true, readyMs = 60_000 }: { env?: Readonly<Record<string, string>>; isReady?: boolean; readyMs?: number } = {},
): Promise<RealDaemon> => {
  await rm(join(home, 'daemon.json'), { force: true });
  const port = await freePort();
  const child = spawn(process.execPath, [...process.execArgv, join(dirname(releaseFile()), 'daemon/main.js'), '--foreground'], {
    env: { PATH: process.env.PATH, HOME: home, SVC_HOME: home, SVC_PORT: String(port), ...(await databaseOfHome(home)), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-100_000);
    });
  const gone = once(child, 'close').then(([code, signal]) => ({ code: code as number | null, signal: signal as string | null }));
  const http = new TestHttp(`http://127.0.0.1:${port}`, () => ownerKey(home));
  const daemon: RealDaemon = { pid: child.pid ?? 0, process: child, http: () => http, gone, said: () => said };
  running.add(daemon);
  void gone.then(() => running.delete(daemon));
  if (isReady) await until(async () => child.exitCode !== null || (await readFile(join(home, 'daemon.json'), 'utf8').catch(() => '')) !== '', readyMs);
  if (isReady && child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
  return daemon;
};

/** The key that the daemon makes before it starts an isolated extension; svc sends it the same way. */
const ownerKey = (home: string): string | undefined => {
  const file = join(home, 'owner.key');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : undefined;
};

/** For afterEach: nothing outlives the test that started it. */
export const endDaemons = async (): Promise<void> => {
  for (const daemon of running) daemon.process.kill('SIGKILL');
  await Promise.all([...running].map(({ gone }) => gone));
  for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true, maxRetries: 5 });
};

export const until = async (done: () => boolean | Promise<boolean>, waitMs = 30_000): Promise<void> => {
  for (const end = Date.now() + waitMs; !(await done()); ) {
    if (Date.now() > end) throw new Error(`it did not come about within ${waitMs} ms`);
    await sleep(50);
  }
};

/** The folder of a package, as a build would leave it. */
export const packaged = async (spec: ThirdPartySpec): Promise<string> => {
  const one = await thirdParty(spec);
  await writeFile(join(one.folder, 'package.json'), JSON.stringify({ name: `@acme/${one.id}`, version: one.version, description: 'An extension of somebody else', license: 'MIT' }));
  await writeFile(join(one.folder, 'contributions.json'), JSON.stringify(one.contributions));
  return one.folder;
};
