/** Starts `true` and `git status` by the exec adapter, in the sandbox and bare, in turns. Prints milliseconds of each as JSON. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@svc/platform/clock/clock';
import { createExecAdapter } from '@svc/platform/adapters/child/exec-adapter';

const { pairs } = JSON.parse(process.argv[2]);
const home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-bench-sandbox-')));
const cwd = join(home, 'workspaces', 'a');
mkdirSync(cwd, { recursive: true });
execFileSync('git', ['init', '-q', cwd]);
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const settings = { sandbox: 'required' };
const entryPoint = createExecAdapter({
  config: { get: (section) => (section === 'tools' ? settings : { mode: 'allowlist' }) },
  registerDir: join(home, 'data', 'children'),
  env: process.env,
  clock: systemClock(),
  log: silent,
  home,
});

const timed = async (sandbox, command, args) => {
  settings.sandbox = sandbox;
  const from = performance.now();
  const { exitCode } = await entryPoint.exec(command, args, { cwd, agent: { hosts: [], mounts: [] } });
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}`);
  return performance.now() - from;
};

const measured = async (command, ...args) => {
  const bare = [];
  const sandboxed = [];
  for (let i = -5; i < pairs; i++) {
    const pair = [await timed('off', command, args), await timed('required', command, args)];
    // The first few find everything cold.
    if (i < 0) continue;
    bare.push(pair[0]);
    sandboxed.push(pair[1]);
  }
  return { bare, sandboxed };
};

const state = await entryPoint.sandbox();
const commands = state.isOn ? { true: await measured('true'), 'git status': await measured('git', 'status') } : {};
await entryPoint.close();
rmSync(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ commands, ...(state.isOn ? {} : { cause: state.cause }) })}\n`);
