/**
 * A real PostgreSQL for tests: one server per test process, one database per test.
 *
 * A shell stands between: it ends the server and removes its folder when the pipe from the tests closes, which the
 * system does for a process that was killed, too.
 */
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { openPostgres } from '@svc/platform/storage/postgres/postgres-connection';
import { freePort } from '../free-port.js';
import { releaseFile } from '../release-file.js';
import { postgresBinaries, unprivileged } from './binaries.js';

const PASSWORD = 'a-password-for-tests';
const READY_MS = 60_000;
const STRATEGY_SINCE = 150_000;

/** Commands come by lines; each is answered when it is done. No fsync: a killed server keeps what it wrote, a power cut is not tested. No autovacuum: it would go around hundreds of databases that no test looks at any more. */
const KEEPER = `
trap '' INT TERM HUP
start() { "$BIN/postgres" -D "$DIR/data" -p "$PORT" -k "$DIR" -h 127.0.0.1 -c fsync=off -c full_page_writes=off -c autovacuum=off -c max_connections=$MAX -c shared_buffers=32MB -c dynamic_shared_memory_type=mmap >>"$DIR/log" 2>&1 & pid=$!; }
start
while read -r word; do
  case $word in
    crash) kill -QUIT $pid; wait $pid; echo done ;;
    start) start; echo done ;;
  esac
done
kill -INT $pid; wait $pid; rm -rf "$DIR"`;

export interface PostgresCluster {
  /** A new database; its URL. Empty, or as the database of the URL `template` is, to which nobody may be connected. */
  fresh(template?: string): Promise<string>;
  /** The URL of a database by name, with another user or password where given. */
  urlOf(name: string, who?: { user?: string; password?: string }): string;
  /** Runs SQL as the owner of the cluster, in the database of this URL or the first one. */
  admin(sql: string, url?: string): Promise<readonly unknown[]>;
  /** Ends the server at once, as a crash would (stop -m immediate). */
  crash(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  readonly maxConnections?: number;
  /** How a password is proved: as servers come, or by what costs no time. */
  readonly auth?: 'scram-sha-256' | 'md5';
}

export async function startCluster({ auth = 'scram-sha-256', maxConnections = 100 }: ClusterOptions = {}): Promise<PostgresCluster> {
  const dir = mkdtempSync(join(tmpdir(), 'svc-pg-'));
  const user = unprivileged();
  const port = await freePort();
  initialise(dir, user, auth);
  const env = { PATH: process.env.PATH, BIN: postgresBinaries(), DIR: dir, PORT: String(port), MAX: String(maxConnections) };
  const keeper = spawn('/bin/sh', ['-c', KEEPER], { cwd: dir, env, detached: true, stdio: ['pipe', 'pipe', 'ignore'], ...user });
  letGo(keeper);
  const lines = createInterface({ input: keeper.stdout });
  const urlOf: PostgresCluster['urlOf'] = (name, who = {}) => `postgres://${who.user ?? 'svc'}:${who.password ?? PASSWORD}@127.0.0.1:${port}/${name}`;
  const admin: PostgresCluster['admin'] = async (sql, url = urlOf('postgres')) => {
    const connection = await openPostgres(url);
    try {
      return (await connection.query(sql)).at(-1)?.rows ?? [];
    } finally {
      await connection.close();
    }
  };
  const ready = (): Promise<void> => answers(() => admin('SELECT 1'), join(dir, 'log'));
  await ready();
  // Copying files is half the work of writing each page to the log, which is the default since there is a choice.
  const how = Number(((await admin('SHOW server_version_num')) as Array<{ server_version_num: string }>)[0]?.server_version_num) >= STRATEGY_SINCE ? ' STRATEGY FILE_COPY' : '';
  let made = 0;
  return {
    urlOf,
    admin,
    fresh: async (template) => {
      made += 1;
      const name = `test_${made}`;
      await admin(`CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${new URL(template).pathname.slice(1)}`}${how}`);
      return urlOf(name);
    },
    crash: () => say(keeper, lines, 'crash'),
    start: async () => {
      await say(keeper, lines, 'start');
      await ready();
    },
    stop: async () => {
      keeper.ref();
      keeper.stdin.end();
      await once(keeper, 'exit');
    },
  };
}

/** The tests of each package bring this module in their own bundle: the server belongs to the process. */
const OURS = Symbol.for('svc.testing.postgres');
const place = globalThis as { [OURS]?: Promise<PostgresCluster> };

/** The one of this process; it ends with it. By scram-sha-256, half of what a connection costs is the proof of its password, and there are thousands. */
export const sharedCluster = (): Promise<PostgresCluster> => {
  place[OURS] ??= startCluster({ auth: 'md5' });
  return place[OURS];
};

/** What initdb makes is the same each time, and takes it a second: made once for this build of PostgreSQL, then copied. */
function initialise(dir: string, user: { uid: number; gid: number } | undefined, auth: string): void {
  chmodSync(dir, 0o700);
  if (user) chownSync(dir, user.uid, user.gid);
  const version = execFileSync(join(postgresBinaries(), 'postgres'), ['--version'], { cwd: dir, encoding: 'utf8', ...user });
  const kept = join(
    dirname(releaseFile()),
    'postgres',
    createHash('sha256')
      .update(`${version} ${postgresBinaries()} ${user?.uid ?? process.getuid?.()} ${auth}`)
      .digest('hex')
      .slice(0, 16),
  );
  if (existsSync(kept)) {
    execFileSync('cp', ['-a', kept, join(dir, 'data')]);
    return;
  }
  makeData(dir, user, auth);
  const draft = `${kept}-${process.pid}-${randomUUID()}`;
  mkdirSync(dirname(kept), { recursive: true });
  execFileSync('cp', ['-a', join(dir, 'data'), draft]);
  try {
    renameSync(draft, kept);
  } catch {
    rmSync(draft, { recursive: true, force: true }); // another process was faster
  }
}

function makeData(dir: string, user: { uid: number; gid: number } | undefined, auth: string): void {
  const passwordFile = join(dir, 'password');
  writeFileSync(passwordFile, PASSWORD);
  if (user) chownSync(passwordFile, user.uid, user.gid);
  const args = ['-D', join(dir, 'data'), '--no-sync', '-E', 'UTF8', '--locale=C', '-U', 'svc', `--auth=${auth}`, `--pwfile=${passwordFile}`];
  const made = spawnSync(join(postgresBinaries(), 'initdb'), args, { cwd: dir, encoding: 'utf8', env: { PATH: process.env.PATH }, ...user });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`);
}

/** Neither the shell nor its pipes keep the tests alive; their end ends it. */
function letGo(keeper: ChildProcess): void {
  keeper.unref();
  for (const stream of [keeper.stdin, keeper.stdout]) if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
}

async function say(keeper: ChildProcess, lines: Interface, word: string): Promise<void> {
  const answered = once(lines, 'line');
  keeper.stdin?.write(`${word}\n`);
  await answered;
}

async function answers(ask: () => Promise<unknown>, logFile: string): Promise<void> {
  const deadline = performance.now() + READY_MS;
  for (;;) {
    try {
      await ask();
      return;
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`PostgreSQL did not come up:\n${readFileSync(logFile, 'utf8')}`, { cause });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
