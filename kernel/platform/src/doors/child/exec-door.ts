/**
 * The one way to start a process.
 *
 * X1  A child leads its own process group, and the whole group is ended with it: TERM, after 3 s KILL; what it leaves behind when it exits by itself, at once,
 *     and so is what left the group (child-tree.ts says how far that reaches).
 * X2  It is recorded before it can act: it starts as a shell that waits for one line on a pipe and then becomes the
 *     program under the same process id. A daemon that dies before it wrote the record closes the pipe, and the child ends without having begun.
 * X3  Its environment is scrubbed, its output capped, its time limited: a caller may ask for less than [exec_policy] allows, never for more.
 *
 * Whether an agent may run this command is the tool's judgement; this door knows only whether anybody may.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { basename, delimiter, isAbsolute, join, resolve } from 'node:path';
import { type ExecOptions, type ExecResult, isSvcError } from '@svc/api';
import type { TimerClock } from '../../clock/clock.js';
import type { ScopedLogger } from '../../log/log.js';
import { childEnvironment } from './child-environment.js';
import { type ChildRegister, createChildRegister, signalGroup } from './child-register.js';
import { type ChildTree, createChildTree, endTree, outerMark, ownCgroup } from './child-tree.js';
import { execErrors } from '../errors.js';
import { createOutputCap, type OutputCap } from './output-cap.js';
import { ownFileNamed } from './own-files.js';
import { bootId, startTimeOf } from './process-identity.js';

const TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_SECS = 86_400;
const MAX_OUTPUT_BYTES = 102_400;
const GRACE_MS = 3_000;
/** A stranger that nobody could find may hold the pipes open; nobody waits for it. */
const DRAIN_MS = 500;
const MAX_CHILDREN = 64;
const GATE = 'IFS= read -r go <&3 || exit 125; exec 3<&-; exec "$@"';
const GATE_FD = 3;

export interface ExecDoorDeps {
  config: { get(section: string): unknown; isClosed?(section: string): boolean };
  /** Folder of the child register, such as `<home>/data/children`. */
  registerDir: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: TimerClock;
  log: ScopedLogger;
  /** The folder whose files no guarded command may name, its own working directory excepted. */
  home?: string;
  /** Where cgroups of children are made; by default this process's own cgroup, where there is one. */
  cgroupOf?: () => Promise<string | undefined>;
}

export interface ExecDoor {
  /** Throws for what could not be run or was cancelled; a program that fails or takes too long is a result. */
  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** Ends children of earlier lives of the daemon. Resolves with their number when they are gone. */
  endSurvivors(ownerKey?: string): Promise<number>;
  /** Ends all children of this life. */
  close(): Promise<void>;
}

interface DoorState {
  readonly deps: ExecDoorDeps;
  readonly register: ChildRegister;
  readonly running: Map<symbol, { end: () => void; gone: Promise<unknown> }>;
  /** Found out at the first call. */
  cgroup: Promise<string | undefined> | undefined;
  closed: boolean;
}

interface Policy {
  mode?: string;
  allowed_env_vars?: readonly string[];
  timeout_secs?: number;
  max_output_bytes?: number;
}

export const createExecDoor = (deps: ExecDoorDeps): ExecDoor => {
  const state: DoorState = { deps, register: createChildRegister(deps.registerDir, GRACE_MS, deps.clock, deps.log), running: new Map(), cgroup: undefined, closed: false };
  return {
    exec: (command, args, options) => admit(state, command, args, options),
    endSurvivors: (ownerKey) => state.register.endSurvivors(ownerKey),
    close: async () => {
      state.closed = true;
      const children = [...state.running.values()];
      for (const child of children) child.end();
      await Promise.allSettled(children.map((child) => child.gone));
    },
  };
};

const admit = async (state: DoorState, command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> => {
  // The section was validated at load; a closed one holds no policy that anybody chose.
  const policy = (state.deps.config.get('exec_policy') ?? {}) as Policy;
  if (policy.mode === 'deny' || state.closed || state.deps.config.isClosed?.('exec_policy')) throw execErrors.denied();
  if (state.running.size >= MAX_CHILDREN) throw execErrors.busy(MAX_CHILDREN);
  const controller = new AbortController();
  const id = Symbol(command);
  const gone = run(state, policy, command, args, options, controller);
  state.running.set(id, { end: () => controller.abort(), gone });
  try {
    return await gone;
  } finally {
    state.running.delete(id);
  }
};

const run = async (state: DoorState, policy: Policy, command: string, args: readonly string[], options: ExecOptions, controller: AbortController): Promise<ExecResult> => {
  const { clock } = state.deps;
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  state.cgroup ??= (state.deps.cgroupOf ?? ownCgroup)();
  const tree = createChildTree(await state.cgroup, outerMark(state.deps.env));
  const env = { ...childEnvironment(state.deps.env, policy.allowed_env_vars ?? [], options.env, options.envNames), ...tree.env };
  if ([command, ...args].some((part) => part.includes('\0'))) throw execErrors.bad_command('it holds a NUL');
  const cwd = await stat(options.cwd).catch(() => undefined);
  if (!cwd?.isDirectory()) throw execErrors.bad_cwd();
  const own = options.guardsOwnFiles && state.deps.home !== undefined ? await ownFileNamed([command, ...args], options.cwd, state.deps.home) : undefined;
  if (own !== undefined) throw execErrors.own_files(own);
  const program = await findProgram(command, options.cwd, env.PATH ?? '');
  if (signal.aborted) throw execErrors.cancelled(basename(command)).with({ cause: signal.reason });
  const startMs = clock.mono();
  const running = start(program, args, options.cwd, env);
  const forget = await record(state, running.child, tree, basename(command), options.ownerKey ?? '').catch((error: unknown) => {
    // Unrecorded, it must not begin: the gate closes unread.
    running.openGate(false);
    throw isSvcError(error) ? error : execErrors.failed(basename(command)).with({ cause: error });
  });
  const output = createOutputCap(running.child, Math.min(options.maxOutputBytes ?? MAX_OUTPUT_BYTES, policy.max_output_bytes ?? Number.MAX_SAFE_INTEGER));
  running.openGate(true);
  feed(running.child, options.stdin);
  const timeoutMs = Math.min(options.timeoutMs ?? TIMEOUT_MS, (policy.timeout_secs ?? MAX_TIMEOUT_SECS) * 1_000);
  try {
    const end = await untilGone(running, tree, clock, { timeoutMs, idleTimeoutMs: options.idleTimeoutMs }, signal);
    if (end.why === 'cancelled') throw execErrors.cancelled(basename(command)).with({ cause: signal.reason });
    return resultOf(end, output, clock.mono() - startMs);
  } finally {
    await forget();
  }
};

interface Running {
  readonly child: ChildProcess;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  readonly drained: Promise<void>;
  openGate(go: boolean): void;
}

const start = (program: string, args: readonly string[], cwd: string, env: Record<string, string>): Running => {
  const isGated = process.platform !== 'win32';
  const child = isGated
    ? spawn('/bin/sh', ['-c', GATE, 'sh', program, ...args], { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] })
    : spawn(program, [...args], { cwd, env, windowsHide: true, stdio: ['pipe', 'pipe', 'pipe'] });
  const exited = new Promise<{ code: number | null; signal: string | null }>((done, fail) => {
    child.once('exit', (code, signal) => done({ code, signal }));
    child.once('error', (error) => fail(execErrors.failed(basename(program)).with({ cause: error })));
  });
  // Awaited later; a failure to spawn must not count as unhandled until then.
  exited.catch(() => undefined);
  const drained = new Promise<void>((done) => child.once('close', () => done()));
  // The two ends that we write to may close before we do; the exit says all there is to say.
  const gate = isGated ? child.stdio[GATE_FD] : undefined;
  gate?.on('error', () => undefined);
  child.stdin?.on('error', () => undefined);
  return {
    child,
    exited,
    drained,
    openGate: (go) => {
      if (gate && 'end' in gate) gate.end(go ? 'go\n' : '');
      if (!go) child.kill('SIGKILL');
    },
  };
};

const record = async (state: DoorState, child: ChildProcess, tree: ChildTree, command: string, ownerKey: string): Promise<() => Promise<void>> => {
  if (child.pid === undefined) throw execErrors.failed(command);
  const startedAt = await startTimeOf(child.pid);
  if (startedAt === undefined) throw execErrors.failed(command);
  const { mark, cgroup } = tree;
  const forget = await state.register.add({ pid: child.pid, startedAt, bootId: await bootId(), ownerKey, command, mark, cgroup });
  await tree.adopt(child.pid);
  return forget;
};

const feed = (child: ChildProcess, stdin: string | undefined): void => {
  child.stdin?.end(stdin ?? '');
};

interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly why: 'exit' | 'timeout' | 'cancelled';
}

/** Waits for the exit, ends the group when time is up or the caller is gone, and leaves no timer and no member behind. */
const untilGone = async (
  { child, exited, drained }: Running,
  tree: ChildTree,
  clock: TimerClock,
  limits: { timeoutMs: number; idleTimeoutMs: number | undefined },
  signal: AbortSignal,
): Promise<End> => {
  const pid = child.pid ?? 0;
  let why: End['why'] = 'exit';
  let killAtMs = 0;
  const cancels: Array<() => void> = [];
  const end = (reason: End['why']): void => {
    if (why !== 'exit') return;
    why = reason;
    signalGroup(pid, 'SIGTERM');
    killAtMs = clock.mono() + GRACE_MS;
    cancels.push(clock.schedule(GRACE_MS, () => signalGroup(pid, 'SIGKILL')));
  };
  const onAbort = (): void => end('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  cancels.push(clock.schedule(limits.timeoutMs, () => end('timeout')));
  if (limits.idleTimeoutMs !== undefined) cancels.push(endWhenSilent(child, clock, limits.idleTimeoutMs, () => end('timeout')));
  try {
    const { code, signal: ended } = await exited;
    // The leader is gone. Members that were told to end get the rest of their grace, others nothing.
    await endRest(pid, killAtMs, clock);
    await endTree(tree, clock);
    await Promise.race([drained, new Promise<void>((done) => cancels.push(clock.schedule(DRAIN_MS, done)))]);
    return { code, signal: ended, why };
  } finally {
    for (const cancel of cancels) cancel();
    signal.removeEventListener('abort', onAbort);
    for (const stream of child.stdio) stream?.destroy();
  }
};

/** Calls `end` when neither output has had a byte for so long. */
const endWhenSilent = (child: ChildProcess, clock: TimerClock, ms: number, end: () => void): (() => void) => {
  let cancel = clock.schedule(ms, end);
  const heard = (): void => {
    cancel();
    cancel = clock.schedule(ms, end);
  };
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', heard);
  return () => {
    for (const stream of [child.stdout, child.stderr]) stream?.off('data', heard);
    cancel();
  };
};

const endRest = async (pid: number, untilMs: number, clock: TimerClock): Promise<void> => {
  while (clock.mono() < untilMs && hasGroup(pid)) await clock.sleep(20);
  if (hasGroup(pid)) signalGroup(pid, 'SIGKILL');
};

const hasGroup = (pid: number): boolean => {
  if (process.platform === 'win32') return false;
  try {
    return process.kill(-pid, 0);
  } catch {
    // ESRCH: nobody is left.
    return false;
  }
};

const resultOf = (end: End, output: OutputCap, durationMs: number): ExecResult => ({
  exitCode: end.code,
  signal: end.signal,
  stdout: output.stdout(),
  stderr: output.stderr(),
  truncated: output.isTruncated(),
  timedOut: end.why === 'timeout',
  durationMs,
});

/** The file that will run, found on the PATH the child will have: the gate's shell would report a missing one only by a number. */
const findProgram = async (command: string, cwd: string, path: string): Promise<string> => {
  if (command === '') throw execErrors.bad_command('it is empty');
  const isPath = command.includes('/') || (process.platform === 'win32' && command.includes('\\'));
  const candidates = isPath
    ? [isAbsolute(command) ? command : resolve(cwd, command)]
    : path
        .split(delimiter)
        .filter(isAbsolute)
        .map((folder) => join(folder, command));
  const suffixes = process.platform === 'win32' ? ['', '.exe', '.cmd', '.bat'] : [''];
  for (const candidate of candidates.flatMap((file) => suffixes.map((suffix) => file + suffix))) {
    const isFile = (await stat(candidate).catch(() => undefined))?.isFile() ?? false;
    if (
      isFile &&
      (await access(candidate, constants.X_OK).then(
        () => true,
        () => false,
      ))
    )
      return candidate;
  }
  throw execErrors.not_found(basename(command));
};
