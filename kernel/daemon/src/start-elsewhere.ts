/**
 * Where the system's copy of the environment cannot be overwritten (see own-environment.ts), the daemon runs in a
 * process of its own that never had the secrets as variables. This one only passes on: signals there, the exit back.
 */
import { spawn } from 'node:child_process';
import { handOver } from '@svc/platform/config/environment/own-environment';
import type { BootOptions } from './boot.js';

const PASSED_ON = ['SIGTERM', 'SIGHUP', 'SIGUSR2'] as const;
const EXIT_FAILED = 1;

/** Does not return: this process ends as the other one did. */
export function startElsewhere(mainFile: string, argv: readonly string[], env: BootOptions['env']): Promise<never> {
  const given = handOver(env);
  const child = spawn(process.execPath, [...process.execArgv, mainFile, ...argv], { env: given.env, stdio: ['inherit', 'inherit', 'inherit', ...given.pipes] });
  given.send(child);
  for (const signal of PASSED_ON) process.on(signal, () => void child.kill(signal));
  // A terminal sends Ctrl-C to both, and a second one means "at once".
  process.on('SIGINT', () => void (process.stdin.isTTY === true || child.kill('SIGINT')));
  return new Promise((_, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (signal === null) process.exit(code ?? EXIT_FAILED);
      for (const name of ['SIGINT', ...PASSED_ON]) process.removeAllListeners(name);
      process.kill(process.pid, signal);
    });
  });
}
