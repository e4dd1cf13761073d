/** What a manifest may mount into the sandbox, beside its workspace. */
import { existsSync, realpathSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { SandboxMount } from '@svc/api/internal';
import { type Bind, isWithin } from '@svc/sandbox';
import { execErrors } from '../../errors.js';

/** State of the system and of other programs: sockets, processes, devices, accounts. */
const NEVER = ['/proc', '/sys', '/dev', '/run', '/var/run', '/boot', '/etc', '/root/.ssh', '/var/lib/docker', '/var/lib/containerd'];
/** The sandbox's own, which a mount would cover. */
const COVERED = ['/', '/tmp', '/usr', '/bin', '/sbin', '/lib', '/lib64'];

/** Links are followed first. Throws `exec_bad_mount`. */
export const checkedMounts = (mounts: readonly SandboxMount[], home: string | undefined): Promise<Bind[]> =>
  Promise.all(
    mounts.map(async ({ path, isWritable }) => {
      if (!isAbsolute(path)) throw execErrors.bad_mount(path, 'it is not absolute');
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined) throw execErrors.bad_mount(path, 'it does not exist');
      const why = isSkill(real, isWritable, home) ? undefined : whyNever(real, home);
      if (why !== undefined) throw execErrors.bad_mount(path, why);
      return { path: real, isWritable };
    }),
  );

/** The folder of one skill, for reading: its instructions name its programs. Everything else of the home is the daemon's. */
const isSkill = (path: string, isWritable: boolean, home: string | undefined): boolean =>
  home !== undefined && !isWritable && isWithin(join(realOf(home), 'skills'), path) && path !== join(realOf(home), 'skills');

/** `path` is real. */
const whyNever = (path: string, home: string | undefined): string | undefined => {
  if (COVERED.includes(path)) return 'it would cover a folder of the sandbox itself';
  if (home !== undefined && touches(realOf(home), path)) return "it is, contains or is inside the daemon's home folder";
  const never = NEVER.find((folder) => touches(realOf(folder), path));
  return never === undefined ? undefined : `${never} is never mounted`;
};

const touches = (one: string, other: string): boolean => isWithin(one, other) || isWithin(other, one);

const realOf = (path: string): string => (existsSync(path) ? realpathSync(path) : path);

/** The daemon's home is covered where it lies below a folder that is bound. */
export const hiddenFrom = (home: string | undefined): string[] => {
  if (home === undefined || !existsSync(home)) return [];
  const real = realpathSync(home);
  return ['/usr', '/nix/store'].some((folder) => isWithin(folder, real)) ? [real] : [];
};
