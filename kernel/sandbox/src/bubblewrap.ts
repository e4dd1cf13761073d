/**
 * The arguments of bubblewrap, for extensions of others and for commands of agents.
 *
 * K1  A process sees what its plan binds, and nothing else: the root is an empty folder, which is read-only once it is filled.
 * K2  It has no network, no other processes, no capabilities, no terminal and, where bubblewrap can say so, no user namespaces of its own.
 * K3  What lies below a bound folder and is to stay hidden is covered by an empty folder; what is bound afterwards may lie below that again.
 * K4  Nothing below /proc and /dev can be changed: settings of the kernel are the whole machine's.
 * K5  Every place that can be written to and lies in memory has a size.
 */
import type { BubblewrapFeatures } from './find-bubblewrap.js';
import { type Bind, systemBinds } from './system-folders.js';

export interface SandboxPlan {
  readonly hostname: string;
  /** In this order, after the folders of the system. */
  readonly binds: readonly Bind[];
  /** Folders that are covered, wherever they lie. */
  readonly hidden?: readonly string[];
  readonly chdir: string;
  /** Of /tmp and of /dev/shm. */
  readonly tmpBytes: number;
  /** Folders that are made in /tmp. */
  readonly folders?: readonly string[];
  /** By default as whoever starts it. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** By default the environment is what bubblewrap itself was started with: values do not belong on a command line, which others can read. */
  readonly isEnvironmentCleared?: boolean;
  /** Whoever starts it gives it a session without a terminal already (`detached`). A second one would have a priority of its own again, where Linux shares its processors between sessions. */
  readonly hasSession?: boolean;
}

export const bubblewrapArguments = (plan: SandboxPlan, features: BubblewrapFeatures): string[] => {
  const size = (bytes: number): string[] => (features.size ? ['--size', String(bytes)] : []);
  return [
    ...['--unshare-all', '--unshare-user', ...(features.disableUserns ? ['--disable-userns'] : [])],
    ...['--die-with-parent', ...(plan.hasSession ? [] : ['--new-session']), '--cap-drop', 'ALL', '--hostname', plan.hostname],
    ...(plan.user ? ['--uid', String(plan.user.uid), '--gid', String(plan.user.gid)] : []),
    ...(plan.isEnvironmentCleared ? ['--clearenv'] : []),
    // First: what is bound afterwards may lie below it.
    ...[...size(plan.tmpBytes), '--tmpfs', '/tmp', ...(plan.folders ?? []).flatMap((folder) => ['--dir', folder])],
    ...systemBinds(),
    // Where root runs the daemon, settings of the kernel would be files of the command's own user: /proc is for reading.
    ...['--proc', '/proc', '--remount-ro', '/proc', '--dev', '/dev', ...size(plan.tmpBytes), '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ...(plan.hidden ?? []).flatMap((folder) => [...size(4_096), '--tmpfs', folder]),
    ...plan.binds.flatMap(({ path, at, isWritable }) => [isWritable ? '--bind' : '--ro-bind', path, at ?? path]),
    // The folders that bubblewrap makes on the way to what is bound lie in memory without a size.
    ...['--remount-ro', '/', '--chdir', plan.chdir],
  ];
};
