/**
 * Starts the process of an extension, with nothing but what it needs.
 *
 * W1  isolated: Node's permission model. It reads this program and its own folder; it writes nothing, starts nothing, loads no addon. Node 20 does not keep it from the network.
 * W2  walled: the same inside bubblewrap, where the operating system takes away the network, the file system and the sight of other processes.
 * W3  Its environment is empty.
 * W4  What it must not do without stands before it (lowered.ts): its priority, and its end with that of the daemon.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { isolationErrors } from '../errors.js';
import { lowered } from './lowered.js';

export type Isolation = 'isolated' | 'walled';

export interface LaunchOptions {
  readonly isolation: Isolation;
  /** Absolute path of the program of child/program.ts. */
  readonly program: string;
  /** Absolute path of the folder of the extension. */
  readonly folder: string;
  /** Of the heap of its code. */
  readonly heapMb: number;
}

export interface Launched {
  readonly process: ChildProcess;
  readonly channel: Duplex;
  /** The pid of the process that runs the code, as this daemon sees it; of the wall around it where there is one. */
  readonly pid: number;
}

const PERMISSION = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission';
/** Where the libraries are that Node itself needs. */
const SYSTEM_FOLDERS = ['/usr', '/lib', '/lib64', '/lib32', '/bin', '/etc/ld.so.cache', '/nix/store'];

/** Rejects with `isolation_wall_missing`. */
export const launch = async (options: LaunchOptions): Promise<Launched> => {
  const node = nodeArguments(options);
  const isWalled = options.isolation === 'walled';
  if (isWalled) await needWall();
  const [command, args] = isWalled ? ['bwrap', [...wallArguments(options), realpathSync(process.execPath), ...node]] : [process.execPath, node];
  const first = lowered(command, args);
  // A group of its own: the register of children ends what a daemon that was killed has left, by its group.
  const child = spawn(first.command, first.args, { cwd: '/', env: isWalled ? { PATH: process.env.PATH } : {}, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], windowsHide: true, detached: true });
  const channel = child.stdio[3];
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  if (child.pid === undefined || channel === null || channel === undefined) throw isolationErrors.closed('it has no channel');
  // A pipe that Node makes for a child is a socket, which goes both ways.
  return { process: child, channel: channel as Duplex, pid: child.pid };
};

const nodeArguments = ({ folder, heapMb, program }: LaunchOptions): string[] => [
  PERMISSION,
  `--allow-fs-read=${program}`,
  `--allow-fs-read=${folder}/*`,
  `--max-old-space-size=${heapMb}`,
  // A process that mostly waits keeps little young garbage.
  '--max-semi-space-size=2',
  '--no-warnings',
  '--no-addons',
  '--disable-proto=delete',
  program,
];

const wallArguments = ({ folder, program }: LaunchOptions): string[] => {
  const seen = [...SYSTEM_FOLDERS, dirname(dirname(realpathSync(process.execPath)))].filter((path) => existsSync(path));
  return [
    ...['--unshare-all', '--die-with-parent', '--new-session', '--clearenv', '--cap-drop', 'ALL', '--hostname', 'extension'],
    // First: what is bound afterwards may lie below it.
    ...['--tmpfs', '/tmp'],
    ...seen.flatMap((path) => ['--ro-bind', path, path]),
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--ro-bind', program, program, '--ro-bind', folder, folder, '--chdir', '/'],
  ];
};

const run = promisify(execFile);
let wall: Promise<string | undefined> | undefined;

/** Why there is no wall; undefined where there is. Looked at once. */
export const wallFault = (): Promise<string | undefined> => {
  wall ??= run('bwrap', ['--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', 'true'], { timeout: 5_000 }).then(
    () => undefined,
    (error: NodeJS.ErrnoException & { stderr?: string }) => (error.code === 'ENOENT' ? 'bwrap is not installed' : (error.stderr?.trim().split('\n')[0] ?? error.message)),
  );
  return wall;
};

const needWall = async (): Promise<void> => {
  const fault = await wallFault();
  if (fault !== undefined) throw isolationErrors.wall_missing(fault);
};
