/**
 * Packages that lie built in a git repository. git itself fetches one commit into an empty folder and writes the files of
 * the package as a tar archive, which is validated as every other.
 *
 * G1  Nothing of the repository runs: no checkout, no hooks, no submodules, no filters, no settings of the machine.
 * G2  git asks nobody for a password and speaks only the protocol of the address.
 * G3  What is fetched has a limit in bytes and in time.
 * G4  It connects to the host of the address alone: no redirect is followed, and what an index of others named is public (reachable.ts).
 */
import { ARCHIVE_LIMITS, inMegabytes } from '@svc/api';
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { installErrors } from '../errors.js';
import { isOfPackage } from '../package/package-files.js';
import type { FetchContext } from './fetching.js';
import { publicAddressesOf } from './reachable.js';
import { withoutSecrets } from './source.js';

const FETCH_MS = 5 * 60_000;
const POLL_EVERY_MS = 200;
const MAX_TEXT = 64 * 1024 * 1024;
/** What git needs to reach others; nothing that tells it what to run. */
const PASSED = ['PATH', 'HOME', 'USER', 'SSH_AUTH_SOCK', 'SSL_CERT_FILE', 'SSL_CERT_DIR', 'GIT_SSL_CAINFO', 'HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'no_proxy'];

const environment = (): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ASKPASS: 'true',
  GIT_LITERAL_PATHSPECS: '1',
  GIT_SSH_COMMAND: 'ssh -oBatchMode=yes',
  LC_ALL: 'C',
});

/** `pinned`: the addresses that were validated; git looks no name up again. */
const settingsFor = ({ protocol: scheme, hostname, port }: URL, pinned: readonly string[] | undefined): string[] => {
  const protocol = scheme.slice(0, -1);
  return [
    'core.hooksPath=/dev/null',
    'core.fsmonitor=false',
    'core.attributesFile=/dev/null',
    'protocol.allow=never',
    `protocol.${protocol}.allow=always`,
    'http.followRedirects=false',
    ...(pinned ? [`http.curloptResolve=${hostname}:${port || (protocol === 'http' ? '80' : '443')}:${pinned.join(',')}`] : []),
    'transfer.fsckObjects=true',
    'gc.auto=0',
    'maintenance.auto=false',
  ].flatMap((setting) => ['-c', setting]);
};

export interface GitSource {
  readonly url: string;
  readonly ref: string | undefined;
  /** The index that named it, where a person did not. */
  readonly namedBy?: string;
}

/** Writes the package as an archive. `work` is made and holds what was fetched. Rejects with `install_download`, `install_not_found` or an error of archives. */
export const fetchGit = async ({ url, ref, namedBy }: GitSource, file: string, work: string, context: FetchContext): Promise<void> => {
  const what = withoutSecrets(url);
  const address = new URL(url);
  const pinned = namedBy === undefined ? undefined : await publicAddressesOf(address, new URL(namedBy), process.env);
  const git = runner(work, settingsFor(address, pinned), context.signal);
  await mkdir(work);
  await git.text(['init', '-q', '--bare', '--template=']);
  context.onProgress({ step: 'fetch', what });
  await fetchCommit(git, work, url, ref, what, context);
  const paths = await packagePaths(git);
  if (paths.length === 0) throw installErrors.incomplete('package.json at the root of the repository');
  const archive = git.start(['archive', '--format=tar', '--prefix=package/', 'FETCH_HEAD', '--', ...paths]);
  await Promise.all([pipeline(archive.output, createGzip({ level: 1 }), createWriteStream(file, { flags: 'wx', mode: 0o600 })), archive.ended]).catch((error: unknown) => {
    throw installErrors.download(what, error instanceof Error ? error.message : 'git archive failed');
  });
};

const fetchCommit = async (git: Git, work: string, url: string, ref: string | undefined, what: string, { onProgress, signal }: FetchContext): Promise<void> => {
  const { child, ended } = git.start(['fetch', '-q', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-commit-graph', '--', url, ref ?? 'HEAD']);
  let isTooLarge = false;
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGKILL');
  }, FETCH_MS);
  const watch = setInterval(() => {
    void sizeOf(work).then((bytes) => {
      onProgress({ step: 'fetch', what, done: bytes });
      if (bytes <= ARCHIVE_LIMITS.bytes) return;
      isTooLarge = true;
      child.kill('SIGKILL');
    });
  }, POLL_EVERY_MS);
  try {
    await ended;
  } catch (error) {
    signal?.throwIfAborted();
    if (isTooLarge) throw installErrors.archive_size('The repository', inMegabytes(ARCHIVE_LIMITS.bytes));
    if (isLate) throw installErrors.download(what, `it took more than ${FETCH_MS / 60_000} minutes`);
    const words = error instanceof Error ? error.message : '';
    if (/couldn't find remote ref|not our ref|unadvertised object/.test(words)) throw installErrors.not_found(`"${ref ?? 'HEAD'}"`, `in ${what}`);
    throw installErrors.download(what, reasonOf(words)).with({ cause: error });
  } finally {
    clearTimeout(late);
    clearInterval(watch);
  }
};

const reasonOf = (words: string): string => {
  if (/ENOENT/.test(words)) return 'git is not installed on this machine';
  if (/could not read Username|Authentication failed|Permission denied/.test(words)) return 'it asks for a login';
  if (/returned error: 3\d\d/.test(words)) return 'it redirects, and redirects are not followed; use the final address (some servers need .git at the end)';
  if (/not found|does not exist|does not appear to be a git repository/i.test(words)) return 'the repository does not exist';
  if (/resolve host|Connection refused|unable to access|Failed to connect/.test(words)) return 'nobody answered';
  return 'git could not fetch it';
};

/** The names at the root that belong to a package. */
const packagePaths = async (git: Git): Promise<string[]> => {
  const listed = await git.text(['ls-tree', '-z', '--name-only', 'FETCH_HEAD']);
  return listed.split('\0').filter((name) => name === 'dist' || isOfPackage(name));
};

const sizeOf = async (dir: string): Promise<number> => {
  const names = await readdir(dir, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(dir, name)).catch(() => undefined))?.size ?? 0));
  return sizes.reduce((sum, size) => sum + size, 0);
};

interface Git {
  start(args: readonly string[]): { readonly child: ChildProcess; readonly output: Readable; readonly ended: Promise<void> };
  text(args: readonly string[]): Promise<string>;
}

const runner = (dir: string, settings: readonly string[], signal: AbortSignal | undefined): Git => {
  const start: Git['start'] = (args) => {
    const child = spawn('git', [...settings, ...args], { cwd: dir, env: environment(), stdio: ['ignore', 'pipe', 'pipe'], ...(signal ? { signal, killSignal: 'SIGKILL' as const } : {}) });
    let words = '';
    child.stderr.on('data', (chunk: Buffer) => {
      if (words.length < 4_096) words += chunk.toString('utf8');
    });
    const ended = new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(words.trim() || `git ended with ${code}`))));
    });
    ended.catch(() => undefined); // told to whoever awaits it
    return { child, output: child.stdout, ended };
  };
  const text: Git['text'] = async (args) => {
    const { output, ended } = start(args);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of output) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_TEXT) throw installErrors.archive_count(ARCHIVE_LIMITS.count);
    }
    await ended.catch((error: unknown) => {
      throw installErrors.download('git', reasonOf(error instanceof Error ? error.message : ''));
    });
    return Buffer.concat(chunks).toString('utf8');
  };
  return { start, text };
};
