/** A shell as the pages expect one: `svc` and `npx svc` are the built command, the home is empty, and port 4545 is whichever is free. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@svc/testing/free-port';
import { ROOT } from '../conformance/operations.js';

const quoted = (...command: readonly string[]): string => `'${command.join("' '")}'`;
const MAIN = join(ROOT, 'dist/cli/main.js');
/** The options of this process are for the daemon, which works on. */
const SVC = `npx() { [ "$1" = svc ] && shift; if [ "$1" = start ]; then ${quoted(process.execPath, ...process.execArgv, MAIN)} "$@"; else ${quoted(process.execPath, MAIN)} "$@"; fi; }\nsvc() { npx svc "$@"; }\n`;

export interface Ran {
  readonly code: number | null;
  readonly output: string;
}

export interface SvcShell {
  /** Where the person stands: files of snippets are written here. */
  readonly folder: string;
  readonly port: number;
  /** Until its first command that fails. */
  run(script: string): Promise<Ran>;
  clean(): Promise<void>;
}

export const createShell = async (): Promise<SvcShell> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-docs-'));
  const port = await freePort();
  const env = { PATH: process.env.PATH, HOME: folder, TERM: 'dumb', SVC_HOME: join(folder, 'home'), SVC_PORT: String(port) };
  const run = (script: string): Promise<Ran> =>
    new Promise((resolve, reject) => {
      const child = spawn('bash', ['-euo', 'pipefail', '-c', SVC + script.replaceAll('127.0.0.1:4545', `127.0.0.1:${port}`)], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
      child.on('error', reject);
      child.on('close', (code) => resolve({ code, output }));
    });
  return {
    folder,
    port,
    run,
    clean: async () => {
      await run('npx svc stop || true');
      rmSync(folder, { recursive: true, force: true });
    },
  };
};
