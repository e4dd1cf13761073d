/** A command as an agent starts it, which tries to get what it may not: a file beside its workspace, a network, the daemon's environment. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type ExecResult, isSvcError, type SecurityLook } from '@svc/api';
import type { ExecAdapter } from './exec-adapter.js';
import { inProbeFolder } from '../files/probe-folder.js';

const TIMEOUT_MS = 2_500;
const OUTSIDE = 'a file outside of the workspace';
/** What every program needs, and the shell sets by itself. */
const PASSED_ON = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'LANG', 'LC_ALL', 'TERM', 'PWD', 'OLDPWD', 'SHLVL', '_'];
/** Given to the command as a tool could: neither may arrive. */
const REFUSED = { SVC_PROBE_TOKEN: 'probe', LD_PRELOAD: '/nonexistent/probe.so' };
const TRIES = `
cat "$1" 2>/dev/null && echo
(echo changed > "$1") 2>/dev/null
cat /proc/net/dev
export -p
`;

export interface SandboxProbeDeps {
  readonly adapter: Pick<ExecAdapter, 'exec' | 'sandbox'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `[exec_policy] allowed_env_vars`. */
  readonly allowed: readonly string[];
  /** It exists; what is made in it is removed again. */
  readonly folder: string;
}

export const lookAtSandbox = async (deps: SandboxProbeDeps): Promise<SecurityLook> => {
  try {
    return await inProbeFolder(deps.folder, (own) => tryCommand(deps, own));
  } catch (error) {
    if (isSvcError(error) && error.code === 'exec_denied') return { state: 'active', detail: 'No program can be started: [exec_policy] mode is "deny".' };
    throw error;
  }
};

const tryCommand = async ({ adapter, env, allowed }: SandboxProbeDeps, own: string): Promise<SecurityLook> => {
  const [workspace, outside] = [join(own, 'workspace'), join(own, 'outside.txt')];
  await mkdir(workspace);
  await writeFile(outside, OUTSIDE);
  const sandbox = await adapter.sandbox();
  // Without a sandbox it runs as a program of the daemon: for one of an agent the daemon would first make a key.
  const result = await adapter.exec('sh', ['-c', TRIES, 'sh', outside], { cwd: workspace, env: REFUSED, timeoutMs: TIMEOUT_MS, ...(sandbox.isOn ? { agent: { hosts: [], mounts: [] } } : {}) });
  if (result.exitCode !== 0)
    return { state: 'failed', detail: `The command of the check did not run (${result.timedOut ? 'too slow' : `exit code ${result.exitCode}`}): ${result.stderr.slice(0, 200)}` };
  const got = [...leaksOf(result, env, allowed), ...(sandbox.isOn ? await escapesOf(result, outside) : [])];
  if (got.length > 0) return { state: 'failed', detail: `A command got what it may not have: ${got.join(', ')}.` };
  const cleared = `Its environment had ${variablesIn(result).length} variables, none of the daemon's own`;
  if (!sandbox.isOn) return { state: 'degraded', detail: `${cleared}. But commands of agents run without a sandbox, as the daemon's user: ${sandbox.cause}. ${sandbox.fix}` };
  return { state: 'active', detail: `A command in the sandbox could not read or change a file outside of its workspace, and had no network. ${cleared}.` };
};

/** As `export -p` of a shell writes them; quotes taken off. */
const variablesIn = ({ stdout }: ExecResult): ReadonlyArray<readonly [name: string, value: string]> =>
  [...stdout.matchAll(/^(?:export|declare -x) ([A-Za-z_]\w*)(?:=(.*))?$/gm)].map(([, name = '', value = '']) => [name, value.replace(/^(['"])(.*)\1$/, '$2')]);

/** Variables of the daemon, and those that no tool may set. */
const leaksOf = (result: ExecResult, env: SandboxProbeDeps['env'], allowed: readonly string[]): string[] => {
  const mayPass = (name: string): boolean => PASSED_ON.includes(name) || allowed.some((pattern) => (pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern));
  // A name that both have may hold another value inside.
  return variablesIn(result)
    .filter(([name, value]) => name in REFUSED || (env[name] === value && !mayPass(name)))
    .map(([name]) => `the variable ${name}`);
};

const escapesOf = async ({ stdout }: ExecResult, outside: string): Promise<string[]> => [
  ...(stdout.includes(OUTSIDE) ? ['the text of a file outside of its workspace'] : []),
  ...((await readFile(outside, 'utf8')) === OUTSIDE ? [] : ['a change of a file outside of its workspace']),
  // As /proc/net/dev lists them: the one that stays inside is always there.
  ...[...stdout.matchAll(/^ *([\w.-]+): +\d/gm)].flatMap(([, name = '']) => (name === 'lo' ? [] : [`the network ${name}`])),
];
