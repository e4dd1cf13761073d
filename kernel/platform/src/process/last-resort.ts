/**
 * The end of the process, whatever hangs.
 *
 * E1  A thread that hangs in native code keeps `process.exit` from ending, and a loop that stands still keeps every timer
 *     from being called. So somebody else looks on: a shell that ends this process by SIGKILL when its time is over.
 * E2  The shell hears from a pipe when this process has gone. It never signals a process that took over its number.
 */
import { spawn } from 'node:child_process';
import { writeSync } from 'node:fs';

/** `sleep` is what is waited for; whoever reads the end of the pipe ends it, and then nothing is killed. */
const SCRIPT = 'exec 3<&0; sleep "$1" & s=$!; { read -r _ <&3; kill "$s"; } 2>/dev/null & wait "$s" && kill -9 "$2"';

/** From now on this process has so long. */
export const endWithin = (ms: number): void => {
  const watcher = spawn('sh', ['-c', SCRIPT, 'sh', String(Math.ceil(ms / 1_000)), String(process.pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // A Ctrl-C in the terminal is not for it.
    detached: true,
    env: { PATH: process.env.PATH },
  });
  // Without a shell there is `endNow` alone.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
};

/** Says what hangs where no thread is needed to say it, and ends the process without waiting for anything. */
export const endNow = (what: string): never => {
  try {
    writeSync(2, `${what}\n`);
  } catch {
    // nobody reads it any more
  }
  process.kill(process.pid, 'SIGKILL');
  throw new Error(what);
};

/** `process.exit`, within two seconds for sure. */
export const exitSurely = (code: number): never => {
  endWithin(EXIT_MS);
  return process.exit(code);
};

const EXIT_MS = 2_000;
