/** How much the workspaces hold, measured after commands: what a command leaves behind counts for the next one. */
import type { TimerClock } from '../../../clock/clock.js';
import { folderBytes } from './sandbox-watch.js';

/** A large workspace is not walked through after each of many small commands: a twentieth of the time goes into it at most. */
const REST = 20;
const MAX_REST_MS = 30_000;
const MAX_WORKSPACES = 1_000;

interface Measured {
  readonly bytes: number;
  readonly atMs: number;
  readonly tookMs: number;
}

export const createDiskRegistry = (clock: Pick<TimerClock, 'mono' | 'schedule'>) => {
  const known = new Map<string, Measured>();
  const going = new Set<string>();
  const measure = async (workspace: string, enough: number): Promise<void> => {
    const startMs = clock.mono();
    const bytes = await folderBytes(workspace, enough);
    known.delete(workspace);
    known.set(workspace, { bytes, atMs: clock.mono(), tookMs: clock.mono() - startMs });
    if (known.size > MAX_WORKSPACES) known.delete(known.keys().next().value ?? '');
  };
  const begin = (workspace: string, enough: number): void => {
    // What cannot be measured (the workspace is gone) is not full.
    void measure(workspace, enough)
      .catch(() => known.delete(workspace))
      .finally(() => going.delete(workspace));
  };
  return {
    isFull: (workspace: string, limit: number): boolean => (known.get(workspace)?.bytes ?? 0) > limit,
    /** In a moment, and once for many. */
    measure: (workspace: string, limit: number): void => {
      if (going.has(workspace)) return;
      going.add(workspace);
      const last = known.get(workspace);
      // A full one is looked at again soon: somebody may be removing files.
      const waitMs = last && last.bytes <= limit ? Math.max(0, last.atMs + Math.min(MAX_REST_MS, last.tookMs * REST) - clock.mono()) : 0;
      if (waitMs === 0) begin(workspace, limit);
      else clock.schedule(waitMs, () => begin(workspace, limit));
    },
  };
};
