/** The end of a child: by itself, by its time, or by whoever started it; and of all that it had started. */
import type { Readable } from 'node:stream';
import type { TimerClock } from '../../clock/clock.js';
import { GRACE_MS } from './child-host.js';
import { signalGroup, signalOne } from './child-register.js';
import { endTree, type TreeIdentity } from './child-tree.js';
import type { Running } from './launch.js';
import { ownProcesses } from './sandbox/processes-inside.js';
import { watchBounds } from './sandbox/sandbox-watch.js';

export const DRAIN_MS = 500;

export interface End {
  readonly code: number | null;
  readonly signal: string | null;
  readonly why: 'exit' | 'timeout' | 'cancelled' | 'exceeded';
  /** Which bound of the sandbox, where that was why. */
  readonly exceeded?: string;
}

export interface EndLimits {
  readonly timeoutMs: number | undefined;
  /** Calls back when the child has been silent too long; gives what stops the watch. */
  readonly watchSilence?: ((end: () => void) => () => void) | undefined;
}

/** Waits for the exit, ends the group when time is up or the caller is gone, and leaves no timer and no member behind. */
export const untilEnded = async ({ child, exited, inside }: Running, tree: TreeIdentity, clock: TimerClock, limits: EndLimits, signal: AbortSignal): Promise<End> => {
  const pid = child.pid ?? 0;
  let why: End['why'] = 'exit';
  let exceeded: string | undefined;
  let killAtMs = 0;
  const cancels: Array<() => void> = [];
  const end = (reason: End['why']): void => {
    if (why !== 'exit') return;
    why = reason;
    if (inside) notifyInside(pid, inside.bounds.processes);
    else signalGroup(pid, 'SIGTERM');
    killAtMs = clock.mono() + GRACE_MS;
    cancels.push(clock.schedule(GRACE_MS, () => signalGroup(pid, 'SIGKILL')));
  };
  const onAbort = (): void => end('cancelled');
  signal.addEventListener('abort', onAbort, { once: true });
  if (signal.aborted) onAbort();
  if (limits.timeoutMs !== undefined) cancels.push(clock.schedule(limits.timeoutMs, () => end('timeout')));
  if (inside)
    cancels.push(
      watchBounds({ pid, workspace: inside.workspace, bounds: inside.bounds }, clock, (what) => {
        if (why !== 'exit') return;
        [why, exceeded] = ['exceeded', what];
        // No time to clean up: what forks or takes memory so fast uses it for more.
        signalGroup(pid, 'SIGKILL');
      }),
    );
  if (limits.watchSilence) cancels.push(limits.watchSilence(() => end('timeout')));
  try {
    const { code, signal: ended } = await exited;
    // The leader is gone. Members that were told to end get the rest of their grace, others nothing.
    await endRest(pid, killAtMs, clock);
    // Bubblewrap takes all along (Z3): no process is looked for.
    await endTree(inside ? { ...tree, mark: '' } : tree, clock);
    return { code, signal: ended, why, ...(exceeded === undefined ? {} : { exceeded }) };
  } finally {
    for (const cancel of cancels) cancel();
    signal.removeEventListener('abort', onAbort);
  }
};

/** Resolves when both outputs are at their end, or after a moment: a third party that nobody could find may hold the pipes open. */
export const drainedSoon = async ({ drained }: Running, clock: TimerClock): Promise<void> => {
  let cancel = (): void => undefined;
  await Promise.race([
    drained,
    new Promise<void>((done) => {
      cancel = clock.schedule(DRAIN_MS, done);
    }),
  ]);
  cancel();
};

/** Calls `end` when none of the streams has had an `event` for so long. */
export const endWhenSilent = (streams: ReadonlyArray<{ readonly from: Readable | null; readonly event: 'data' | 'readable' }>, clock: TimerClock, ms: number, end: () => void): (() => void) => {
  let cancel = clock.schedule(ms, end);
  const received = (): void => {
    cancel();
    cancel = clock.schedule(ms, end);
  };
  for (const { from, event } of streams) from?.on(event, received);
  return () => {
    for (const { from, event } of streams) from?.off(event, received);
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

/** Bubblewrap would end at once, and all with it: the command's own processes are told instead. */
const notifyInside = (outer: number, most: number): void => {
  const own = ownProcesses(outer, most);
  // None yet: it has not begun.
  if (own.length === 0) signalGroup(outer, 'SIGTERM');
  for (const pid of own) signalOne(pid, 'SIGTERM');
};
