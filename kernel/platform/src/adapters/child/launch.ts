/** Starts a child that is recorded, and begins only when its starter says so (X1 to X3 of exec-adapter.ts). */
import { type ChildProcess, spawn } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type ExecOptions, isSvcError, type SandboxState } from '@svc/api';
import { execErrors } from '../errors.js';
import { childEnvironment } from './child-environment.js';
import type { ChildHost } from './child-host.js';
import type { ChildPolicy } from './child-policy.js';
import { type ChildTree, createChildTree, outerMark } from './child-tree.js';
import { findProgram } from './find-program.js';
import { ownFileNamed } from './own-files.js';
import { bootId, startTimeOf } from './process-identity.js';
import { boundOutside, OWN_PROCESSES } from './sandbox/bounds.js';
import type { Inside } from './sandbox/command-sandbox.js';
import { limitProcesses } from './sandbox/pids-cgroup.js';

const startScript = (limits: string): string => `IFS= read -r go <&3 || exit 125; exec 3<&-; ${limits} exec "$@"`;
const START_FD = 3;

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: Pick<ExecOptions, 'agent' | 'cwd' | 'env' | 'envNames' | 'guardsOwnFiles' | 'ownerKey'>;
}

export interface Launched extends Running {
  readonly tree: ChildTree;
  /** Of a command of an agent. */
  readonly sandbox?: SandboxState;
  /** Takes its record away. */
  forget(): Promise<void>;
}

/** The child stands at its start signal; `releaseStart(true)` lets it begin. */
export const launch = async (host: ChildHost, policy: ChildPolicy, { command, args, options }: Launch, signal: AbortSignal): Promise<Launched> => {
  const { deps } = host;
  const tree = createChildTree(await host.cgroup(), outerMark(deps.env));
  const env = { ...childEnvironment(deps.env, policy.allowed_env_vars ?? [], options.env, options.envNames), ...tree.env };
  if ([command, ...args].some((part) => part.includes('\0'))) throw execErrors.bad_command('it contains a NUL character');
  const cwd = await stat(options.cwd).catch(() => undefined);
  if (!cwd?.isDirectory()) throw execErrors.bad_cwd();
  const own = options.guardsOwnFiles && deps.home !== undefined ? await ownFileNamed([command, ...args], options.cwd, deps.home) : undefined;
  if (own !== undefined) throw execErrors.own_files(own);
  const entered = options.agent ? await host.sandbox.enter(basename(command), options.cwd, env, options.agent) : undefined;
  try {
    const launched = await begin(host, { command, args, options }, { env, tree, inside: entered?.inside }, signal);
    return entered ? { ...launched, sandbox: entered.state } : launched;
  } catch (error) {
    await entered?.inside?.left();
    throw error;
  }
};

interface Prepared {
  readonly env: Record<string, string>;
  readonly tree: ChildTree;
  readonly inside: Inside | undefined;
}

const begin = async (host: ChildHost, { command, args, options }: Launch, { env, tree, inside }: Prepared, signal: AbortSignal): Promise<Launched> => {
  const program = await findProgram(command, options.cwd, (inside?.env ?? env).PATH ?? '');
  // A link may lead to where nothing is seen.
  if (inside && !(inside.isSeen(program) && inside.isSeen(await realpath(program)))) throw execErrors.not_seen(program);
  if (signal.aborted) throw execErrors.cancelled(basename(command)).with({ cause: signal.reason });
  const running = start({ program, args, cwd: options.cwd, env: inside?.env ?? env, inside });
  const forget = await record(host, running.child, tree, basename(command), options.ownerKey ?? '').catch((error: unknown) => {
    // Unrecorded, it must not begin: the start signal closes unread.
    running.releaseStart(false);
    throw isSvcError(error) ? error : execErrors.failed(basename(command)).with({ cause: error });
  });
  if (!inside) return { ...running, tree, forget };
  await boundOutside(running.child.pid ?? 0, tree.cgroup, inside.bounds);
  const freeProcesses = await limitProcesses(running.child.pid ?? 0, tree.mark, inside.bounds.processes + OWN_PROCESSES, host.deps.clock.sleep);
  const left = async (): Promise<void> => {
    await inside.left();
    await freeProcesses?.();
  };
  return { ...running, tree, forget: async () => forget().finally(left) };
};

export interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly drained: Promise<void>;
  /** Set where the sandbox takes all that was started along when it ends. */
  readonly inside?: Inside | undefined;
  releaseStart(go: boolean): void;
}

interface Start {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly inside: Inside | undefined;
}

const start = ({ program, args, cwd, env, inside }: Start): Running => {
  const waitsForStart = process.platform !== 'win32';
  const words = inside ? inside.wrapped(program, args) : [program, ...args];
  const child = waitsForStart
    ? spawn('/bin/sh', ['-c', startScript(inside?.limits ?? ''), 'sh', ...words], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    : spawn(program, [...args], { cwd, env, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<{ code: number | null; signal: string | null }>((done, fail) => {
    child.once('exit', (code, signal) => done({ code, signal }));
    child.once('error', (error) => fail(execErrors.failed(basename(program)).with({ cause: error })));
  });
  // Awaited later; a failure to spawn must not count as unhandled until then.
  exited.catch(() => undefined);
  const drained = new Promise<void>((done) => child.once('close', () => done()));
  // The two ends that we write to may close before we do; the exit says all there is to say.
  const pipe = waitsForStart ? child.stdio[START_FD] : undefined;
  pipe?.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  return {
    child,
    exited,
    drained,
    inside,
    releaseStart: (go) => {
      if (pipe && 'end' in pipe) pipe.end(go ? 'go\n' : '');
      if (!go) child.kill('SIGKILL');
    },
  };
};

const record = async (host: ChildHost, child: ChildProcess, tree: ChildTree, command: string, ownerKey: string): Promise<() => Promise<void>> => {
  if (child.pid === undefined) throw execErrors.failed(command);
  const startedAt = await startTimeOf(child.pid);
  if (startedAt === undefined) throw execErrors.failed(command);
  const { mark, cgroup } = tree;
  const forget = await host.register.add({ pid: child.pid, startedAt, bootId: await bootId(), ownerKey, command, mark, cgroup });
  await tree.adopt(child.pid);
  return forget;
};
