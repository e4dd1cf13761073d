/** What this machine gives: programs, port, the database file. */
import { errnoOf } from '@svc/platform/config/errno';
import { execFile } from 'node:child_process';
import { open, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { isAlive, type Settings } from '../settings.js';
import { type Check, fail, pass, warn } from './check.js';

const SQLITE_MAGIC = 'SQLite format 3\0';
const PROBE_MS = 5_000;
const run = promisify(execFile);

export const machineChecks = async (settings: Settings, isRunning: boolean): Promise<Check[]> => {
  const url = new URL(await settings.url());
  return Promise.all([
    nodeCheck(),
    programCheck('npm', 'needed to build and to install extensions'),
    programCheck('git', 'needed for extensions from git'),
    databaseCheck(settings),
    portCheck(url.hostname, Number(url.port), isRunning),
    discoveryCheck(settings),
  ]);
};

const nodeCheck = async (): Promise<Check> => checkOfNode(process.versions.node);

export const checkOfNode = (version: string): Check => {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const isNew = (major === 20 && minor >= 19) || (major === 22 && minor >= 12) || major > 22;
  if (!isNew) return fail('node', `${version} is too old`, 'install Node 24');
  return major < 22 ? warn('node', `${version} works, and gets no security fixes since April 2026`, 'install Node 24') : pass('node', version);
};

const programCheck = async (name: string, why: string): Promise<Check> => {
  try {
    const { stdout } = await run(name, ['--version'], { timeout: PROBE_MS });
    return pass(
      name,
      stdout
        .trim()
        .split('\n')[0]
        ?.replace(/^git version /, '') ?? '',
    );
  } catch (error) {
    const isAbsent = errnoOf(error) === 'ENOENT';
    return warn(name, isAbsent ? `not found; ${why}` : `found, but it does not run; ${why}`, `install ${name}, or put it on PATH`);
  }
};

/** Any file in the data folder that calls itself a database must be one. */
const databaseCheck = async ({ dataDir }: Settings): Promise<Check> => {
  let files: string[];
  try {
    files = (await readdir(dataDir)).filter((name) => /\.(db|sqlite3?)$/.test(name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return pass('database', 'created at the first start');
    return fail('database', `${dataDir} cannot be read`, 'make the folder yours');
  }
  if (files.length === 0) return pass('database', 'created at the first start');
  for (const name of files) {
    const problem = await fileProblem(path.join(dataDir, name));
    if (problem !== undefined) return fail('database', `${name} ${problem}`, 'stop the daemon and put a backup of the file in its place');
  }
  return pass('database', `${files.map((name) => path.join(dataDir, name)).join(', ')} can be read and written`);
};

const fileProblem = async (file: string): Promise<string | undefined> => {
  try {
    const handle = await open(file, 'r+');
    try {
      const head = Buffer.alloc(SQLITE_MAGIC.length);
      const { bytesRead } = await handle.read(head, 0, head.length, 0);
      // A file that has just been made is empty until the first commit.
      return bytesRead === 0 || head.toString('latin1') === SQLITE_MAGIC ? undefined : 'is not a SQLite database';
    } finally {
      await handle.close();
    }
  } catch (error) {
    return `cannot be opened (${errnoOf(error) ?? String(error)})`;
  }
};

const portCheck = (host: string, port: number, isRunning: boolean): Promise<Check> =>
  new Promise((resolve) => {
    if (isRunning) return resolve(pass('port', `${port} is the daemon's`));
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) =>
      resolve(
        error.code === 'EADDRINUSE'
          ? fail('port', `${port} is taken by another program`, 'stop that program, or choose another: SVC_PORT=4600 svc start')
          : fail('port', `${port} cannot be opened (${error.code})`, 'SVC_PORT=4600 svc start'),
      ),
    );
    server.listen(port, host.replace(/^\[|\]$/g, ''), () => server.close(() => resolve(pass('port', `${port} is free`))));
  });

const discoveryCheck = async ({ home }: Settings): Promise<Check> => {
  const file = path.join(home, 'daemon.json');
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch {
    return pass('stale_daemon_json', 'none, as expected without a daemon'); // the usual case
  }
  const pid = /"pid":\s*(\d+)/.exec(text)?.[1];
  if (pid !== undefined && isAlive(Number(pid))) return pass('stale_daemon_json', `names process ${pid}`);
  return warn('stale_daemon_json', `is left over from process ${pid ?? '?'}, which is gone`, 'svc start   replaces it');
};
