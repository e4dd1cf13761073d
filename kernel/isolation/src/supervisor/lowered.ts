/**
 * What stands before the program of an extension, so that it is so from its first instruction on.
 *
 * O1  It has a lower priority than the daemon, and all that it starts inherits that. A priority that is set afterwards
 *     misses what was started in between: bubblewrap starts the program at once. Where Linux shares its processors between
 *     sessions (`sched_autogroup_enabled`), the priority of a process counts within its session only: the session gets one too.
 * O2  When memory is short the system ends it, and not the daemon.
 * O3  On Linux with `setpriv` (util-linux) the system ends it with the daemon, however the daemon ends and whatever it does.
 */
import { accessSync, constants } from 'node:fs';

/** Less than everybody else's: what the daemon itself has to do comes first. */
const NICENESS = '10';
const FOLDERS = ['/usr/bin', '/bin', '/run/current-system/sw/bin'];
/** Its own shell becomes the program: the process keeps its number. */
const SCRIPT = `{ echo 1000 > /proc/self/oom_score_adj; echo ${NICENESS} > /proc/self/autogroup; } 2>/dev/null; exec "$@"`;

export const lowered = (command: string, args: readonly string[]): { readonly command: string; readonly args: readonly string[] } => {
  const [sh, nice] = [placeOf('sh'), placeOf('nice')];
  if (sh === undefined || nice === undefined) return { command, args };
  const setpriv = process.platform === 'linux' ? placeOf('setpriv') : undefined;
  const bound = setpriv === undefined ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
  return { command: sh, args: ['-c', SCRIPT, 'sh', nice, '-n', NICENESS, ...bound, command, ...args] };
};

const placeOf = (program: string): string | undefined => FOLDERS.map((folder) => `${folder}/${program}`).find(isProgram);

const isProgram = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // looked for elsewhere
  }
};
