/**
 * Where root runs the tests on Linux, each process of a run has namespaces of its own. Its temporary files are in memory, so
 * that no claim waits for a disk: they go when it ends. Whatever it started is below the first process there, which reaps
 * what was orphaned: all of it is counted, and ends with it.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import { join } from 'node:path';
import { ALONE } from './costs.mjs';

/** Less than this is left to those who need it. */
const ENOUGH_MEMORY = 4 * 2 ** 30;

const UNSHARE = ['--mount', '--propagation', 'private', '--pid', '--fork', '--mount-proc', '--kill-child'];
/** The folder, then the command. The shell stays as the first process, which takes the orphans. */
const SCRIPT = `mount -t tmpfs -o mode=1777 svc-tests "$1" && export TMPDIR="$1" ${ALONE}=1 && shift && "$@"; exit $?`;

const command = (folder) => [...UNSHARE, '/bin/sh', '-c', SCRIPT, 'sh', folder];

const isPossible = (folder) =>
  process.platform === 'linux' && process.getuid() === 0 && os.freemem() > ENOUGH_MEMORY && spawnSync('unshare', [...command(folder), 'true'], { stdio: 'ignore', timeout: 10_000 }).status === 0;

/** How processes are forked, or undefined where they run as this one does. */
export const makeNamespaces = () => {
  const folder = mkdtempSync(join(os.tmpdir(), 'svc-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  if (isPossible(folder)) return { fork: { execPath: 'unshare', execArgv: [...command(folder), process.execPath] }, remove };
  remove();
  return undefined;
};
