/**
 * The one way to start a process.
 *
 * X1  A child leads its own process group, and the whole group is ended with it: TERM, after 3 s KILL; what it leaves behind when it exits by itself, at once,
 *     and so is what left the group (child-tree.ts says how far that reaches).
 * X2  It is recorded before it can act: it starts as a shell that waits for one line on a pipe and then becomes the
 *     program under the same process id. A daemon that dies before it wrote the record closes the pipe, and the child ends without having begun.
 * X3  Its environment is scrubbed, its output capped, its time limited: a caller may ask for less than [exec_policy] allows, never for more.
 * X4  One that lives on (spawn-adapter.ts) has no limit of output, but of number, and its pipes push back; of time where its starter sets one.
 *
 * Whether an agent may run this command is the tool's decision; this adapter knows only whether anybody may.
 */
import { basename } from 'node:path';
import type { ChildHandle, ExecOptions, ExecResult, PtyHandle, PtyOptions, PtyState, SandboxState, SpawnOptions } from '@svc/api';
import { execErrors } from '../errors.js';
import { type ChildHost, type ChildHostDeps, createChildHost } from './child-host.js';
import { type ChildPolicy, policyOf } from './child-policy.js';
import { drainedSoon, type End, endWhenSilent, untilEnded } from './ending.js';
import { launch } from './launch.js';
import { bootId, startTimeOf } from './process-identity.js';
import { createOutputCap, type OutputCap } from './output-cap.js';
import { createPtyOpener, type PtyOpener } from './pty-adapter.js';
import { createSpawner, type Spawner } from './spawn-adapter.js';

const TIMEOUT_MS = 30_000;
const MAX_TIMEOUT_SECS = 86_400;
const MAX_OUTPUT_BYTES = 102_400;
const MAX_CHILDREN = 64;

export type ExecAdapterDeps = ChildHostDeps;

export interface ExecAdapter {
  /** Throws for what could not be run or was cancelled; a program that fails or takes too long is a result. */
  exec(command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult>;
  /** `owner` is the extension: each has a number of children that live at one time. */
  spawn(owner: string, command: string, args: readonly string[], options: SpawnOptions, mostOfOne?: number): Promise<ChildHandle>;
  /** A program in a terminal of its own (pty-adapter.ts). */
  openPty(owner: string, command: string, args: readonly string[], options: PtyOptions): Promise<PtyHandle>;
  ptyState(): Promise<PtyState>;
  /** Whether commands of agents are kept apart now, and why not. */
  sandbox(): Promise<SandboxState>;
  /** Notes a process that somebody else of the kernel has started, so that the next life ends it. The returned function takes the note away. */
  record(child: { readonly pid: number; readonly ownerKey: string; readonly command: string }): Promise<() => Promise<void>>;
  /** Ends children of earlier lives of the daemon. Resolves with their number when they are gone. */
  endSurvivors(ownerKey?: string): Promise<number>;
  /** Ends all children of this life. */
  close(): Promise<void>;
}

interface AdapterState {
  readonly host: ChildHost;
  readonly spawner: Spawner;
  readonly ptys: PtyOpener;
  readonly running: Map<symbol, { end: () => void; gone: Promise<unknown> }>;
  closed: boolean;
}

export const createExecAdapter = (deps: ExecAdapterDeps): ExecAdapter => {
  const host = createChildHost(deps);
  const state: AdapterState = { host, spawner: createSpawner(host), ptys: createPtyOpener(host), running: new Map(), closed: false };
  return {
    exec: (command, args, options) => admit(state, command, args, options),
    spawn: async (owner, command, args, options, mostOfOne) => state.spawner.spawn(policyOf(deps.config, state.closed), owner, { command, args, options }, mostOfOne),
    openPty: async (owner, command, args, options) => state.ptys.open(policyOf(deps.config, state.closed), owner, { command, args, options }),
    ptyState: () => state.ptys.state(),
    sandbox: () => host.sandbox.state(),
    record: async (child) => host.register.add({ ...child, startedAt: (await startTimeOf(child.pid)) ?? '', bootId: await bootId(), mark: '', cgroup: '' }),
    endSurvivors: (ownerKey) => host.register.endSurvivors(ownerKey),
    close: async () => {
      state.closed = true;
      const children = [...state.running.values()];
      for (const child of children) child.end();
      await Promise.allSettled([state.spawner.close(), state.ptys.close(), ...children.map((child) => child.gone)]);
    },
  };
};

const admit = async (state: AdapterState, command: string, args: readonly string[], options: ExecOptions): Promise<ExecResult> => {
  const policy = policyOf(state.host.deps.config, state.closed);
  if (state.running.size >= MAX_CHILDREN) throw execErrors.busy(MAX_CHILDREN);
  const controller = new AbortController();
  const id = Symbol(command);
  const gone = run(state.host, policy, command, args, options, controller);
  state.running.set(id, { end: () => controller.abort(), gone });
  try {
    return await gone;
  } finally {
    state.running.delete(id);
  }
};

const run = async (host: ChildHost, policy: ChildPolicy, command: string, args: readonly string[], options: ExecOptions, controller: AbortController): Promise<ExecResult> => {
  const { clock } = host.deps;
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  const launched = await launch(host, policy, { command, args, options }, signal);
  const { child, tree } = launched;
  const startMs = clock.mono();
  const output = createOutputCap(child, Math.min(options.maxOutputBytes ?? MAX_OUTPUT_BYTES, policy.max_output_bytes ?? Number.MAX_SAFE_INTEGER));
  launched.releaseStart(true);
  child.stdin?.end(options.stdin ?? '');
  const timeoutMs = Math.min(options.timeoutMs ?? TIMEOUT_MS, (policy.timeout_secs ?? MAX_TIMEOUT_SECS) * 1_000);
  const { idleTimeoutMs } = options;
  const streams = [child.stdout, child.stderr].map((from) => ({ from, event: 'data' as const }));
  const watchSilence = idleTimeoutMs === undefined ? undefined : (end: () => void) => endWhenSilent(streams, clock, idleTimeoutMs, end);
  try {
    const end = await untilEnded(launched, tree, clock, { timeoutMs, watchSilence }, signal);
    await drainedSoon(launched, clock);
    if (end.why === 'cancelled') throw execErrors.cancelled(basename(command)).with({ cause: signal.reason });
    return { ...resultOf(end, output, clock.mono() - startMs), ...(launched.sandbox ? { sandbox: launched.sandbox } : {}) };
  } finally {
    for (const stream of child.stdio) stream?.destroy();
    await launched.forget();
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
  ...(end.exceeded === undefined ? {} : { exceeded: end.exceeded }),
});
