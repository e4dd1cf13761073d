/**
 * Children that live on and are spoken to over their pipes.
 *
 * Y1  Started, recorded and ended as any child (exec-adapter.ts); their number is limited, of one extension and of all.
 * Y2  What is not read stays in the pipe, and the child waits; what is not taken of its input is limited, and the writer waits.
 * Y3  `exit` resolves when the child and all that it started are gone; what it had written can still be read.
 */
import type { ChildEnd, ChildHandle, SpawnOptions } from '@svc/api';
import { execErrors } from '../errors.js';
import type { ChildHost } from './child-host.js';
import { childInput, childOutput } from './child-pipes.js';
import type { ChildPolicy } from './child-policy.js';
import { type End, endWhenSilent, untilEnded } from './ending.js';
import { launch, type Launched } from './launch.js';

const MAX_OF_ONE = 16;
const MAX_OF_ALL = 256;

export interface SpawnRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
}

export interface Spawner {
  /** `mostOfOne`: how many children of this owner live at one time. */
  spawn(policy: ChildPolicy, owner: string, request: SpawnRequest, mostOfOne?: number): Promise<ChildHandle>;
  close(): Promise<void>;
}

interface Living {
  readonly owner: string;
  readonly controller: AbortController;
  /** Settles when the child is gone, or was never there. */
  gone: Promise<unknown>;
}

export const createSpawner = (host: ChildHost): Spawner => {
  const living = new Set<Living>();
  return {
    spawn: async (policy, owner, request, mostOfOne = MAX_OF_ONE) => {
      const ofOne = [...living].filter((one) => one.owner === owner).length;
      if (ofOne >= mostOfOne) throw execErrors.busy(mostOfOne);
      if (living.size >= MAX_OF_ALL) throw execErrors.busy(MAX_OF_ALL);
      const one: Living = { owner, controller: new AbortController(), gone: Promise.resolve() };
      living.add(one);
      const starting = begin(host, policy, owner, request, { controller: one.controller, left: () => void living.delete(one) });
      one.gone = starting.then(
        ({ exit }) => exit,
        () => undefined, // told to whoever asked for the child
      );
      return starting;
    },
    close: async () => {
      const all = [...living];
      for (const { controller } of all) controller.abort();
      await Promise.allSettled(all.map(({ gone }) => gone));
    },
  };
};

interface Leaving {
  readonly controller: AbortController;
  /** It counts no more. */
  readonly left: () => void;
}

const begin = async (host: ChildHost, policy: ChildPolicy, owner: string, { command, args, options }: SpawnRequest, { controller, left }: Leaving): Promise<ChildHandle> => {
  const signal = options.signal ? AbortSignal.any([options.signal, controller.signal]) : controller.signal;
  const launched = await launch(host, policy, { command, args, options: { ...options, ownerKey: options.ownerKey ?? owner } }, signal).catch((error: unknown) => {
    left();
    throw error;
  });
  const { child } = launched;
  const isDropped = options.stderr === 'drop';
  if (isDropped) child.stderr?.resume();
  const exit = untilGone(host, launched, { ...options, timeoutMs: lifeOf(options, policy) }, signal).finally(left);
  launched.releaseStart(true);
  return {
    pid: child.pid ?? 0,
    ...(launched.sandbox ? { sandbox: launched.sandbox } : {}),
    stdin: childInput(child.stdin, command),
    stdout: childOutput(child.stdout, exit, host.deps.clock),
    stderr: childOutput(isDropped ? null : child.stderr, exit, host.deps.clock),
    exit,
    kill: () => {
      controller.abort();
      return exit;
    },
  };
};

/** Who limits its child at all is held to what the operator allows. */
const lifeOf = ({ timeoutMs }: SpawnOptions, { timeout_secs }: ChildPolicy): number | undefined =>
  timeoutMs === undefined || timeout_secs === undefined ? timeoutMs : Math.min(timeoutMs, timeout_secs * 1_000);

type Limits = Pick<SpawnOptions, 'idleTimeoutMs' | 'stderr'> & { readonly timeoutMs: number | undefined };

const untilGone = async (host: ChildHost, launched: Launched, { idleTimeoutMs, timeoutMs, stderr }: Limits, signal: AbortSignal): Promise<ChildEnd> => {
  const { child, tree } = launched;
  const { clock, log } = host.deps;
  const streams = [
    { from: child.stdout, event: 'readable' as const },
    { from: child.stderr, event: stderr === 'drop' ? ('data' as const) : ('readable' as const) },
  ];
  const startMs = clock.mono();
  let isSilent = false;
  const silent = (end: () => void) => () => {
    // One whose time is over is silent too, while it ends.
    isSilent = timeoutMs === undefined || clock.mono() - startMs < timeoutMs;
    end();
  };
  const watchSilence = idleTimeoutMs === undefined ? undefined : (end: () => void) => endWhenSilent(streams, clock, idleTimeoutMs, silent(end));
  const end = await untilEnded(launched, tree, clock, { timeoutMs, watchSilence }, signal).catch((cause: unknown): End => {
    log.warn('a child could not be waited for', { pid: child.pid, cause });
    return { code: null, signal: null, why: 'exit' };
  });
  child.stdin?.destroy();
  child.stdio[3]?.destroy();
  await launched.forget().catch((cause: unknown) => log.warn('the record of a child that is gone could not be removed', { pid: child.pid, cause }));
  if (end.exceeded !== undefined) return { exitCode: end.code, signal: end.signal, why: 'exceeded', exceeded: end.exceeded };
  return { exitCode: end.code, signal: end.signal, why: end.why === 'cancelled' ? 'ended' : end.why === 'exit' ? 'exit' : isSilent ? 'idle' : 'timeout' };
};
