/**
 * Starts the process of an extension, with nothing but what it needs.
 *
 * W1  isolated: Node's permission model. It reads this program and its own folder; it writes nothing, starts nothing, loads no addon. Node 20 does not keep it from the network.
 * W2  walled: the same inside bubblewrap, where the operating system takes away the network, the file system and the sight of other processes.
 * W3  Its environment is empty.
 * W4  What it must not do without stands before it (lowered.ts): its priority, and its end with that of the daemon.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpathSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { bubblewrapArguments, nodeBinds, probeSandbox, type SandboxFault, type SandboxPlan } from '@svc/sandbox';
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
const TMP_BYTES = 64 * 1024 * 1024;

/** Rejects with `isolation_wall_missing`. */
export const launch = async (options: LaunchOptions): Promise<Launched> => {
  const node = nodeArguments(options);
  const isWalled = options.isolation === 'walled';
  const [command, args] = isWalled ? await walled(options, node) : [process.execPath, node];
  const first = lowered(command, args);
  // A group of its own: the register of children ends what a daemon that was killed has left, by its group.
  const child = spawn(first.command, first.args, { cwd: '/', env: {}, stdio: ['ignore', 'pipe', 'pipe', 'pipe'], windowsHide: true, detached: true });
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

const walled = async (options: LaunchOptions, node: readonly string[]): Promise<[command: string, args: string[]]> => {
  const plan = planOf([options.program, options.folder]);
  const probed = await probe();
  if ('fault' in probed) throw isolationErrors.wall_missing(textOf(probed.fault));
  const { program, features } = probed.bubblewrap;
  return [program, [...bubblewrapArguments(plan, features), '--', realpathSync(process.execPath), ...node]];
};

const planOf = (read: readonly string[]): SandboxPlan => ({
  hostname: 'extension',
  binds: [...nodeBinds(process.execPath), ...read.map((path) => ({ path }))],
  chdir: '/',
  tmpBytes: TMP_BYTES,
  isEnvironmentCleared: true,
  hasSession: true,
});

let probed: ReturnType<typeof probeSandbox> | undefined;

/** Looked at once. */
const probe = (): ReturnType<typeof probeSandbox> => {
  probed ??= probeSandbox(planOf([]));
  return probed;
};

const textOf = ({ cause, fix }: SandboxFault): string => `${cause}. ${fix}`;

/** Why there is no wall; undefined where there is. */
export const wallFault = async (): Promise<string | undefined> => {
  const found = await probe();
  return 'fault' in found ? textOf(found.fault) : undefined;
};
