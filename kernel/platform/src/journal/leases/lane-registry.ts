/**
 * What this process knows of the lanes: which unfinished runs are in each.
 * It only guesses whether a lane is free; the unique index of the database decides.
 * Bounded by the number of unfinished runs.
 */
interface Member {
  readonly kind: string;
  /** Running or waiting: the lane is taken. */
  holds: boolean;
}

export interface LaneRegistry {
  isEmpty(lane: string): boolean;
  put(lane: string | null, runId: string, kind: string, holds: boolean): void;
  /** `isNews`: another process says so, of a run that need not be known here; whoever is queued here may be next all the same. */
  remove(lane: string | null, runId: string, isNews?: boolean): void;
  members(): Array<{ readonly lane: string; readonly runId: string }>;
}

/** `onFree(kind)` is called when a lane that nobody holds has somebody queued. */
export const createLaneRegistry = (onFree: (kind: string) => void): LaneRegistry => {
  const lanes = new Map<string, Map<string, Member>>();
  const signal = (lane: string): void => {
    const members = [...(lanes.get(lane)?.values() ?? [])];
    if (members.some(({ holds }) => holds)) return;
    for (const kind of new Set(members.map((member) => member.kind))) onFree(kind);
  };
  return {
    members: () => [...lanes].flatMap(([lane, members]) => [...members.keys()].map((runId) => ({ lane, runId }))),
    isEmpty: (lane) => !lanes.has(lane),
    put(lane, runId, kind, holds) {
      if (lane === null) return;
      const members = lanes.get(lane) ?? new Map<string, Member>();
      lanes.set(lane, members.set(runId, { kind, holds }));
      if (!holds) signal(lane);
    },
    remove(lane, runId, isNews = false) {
      if (lane === null) return;
      const members = lanes.get(lane);
      if (!members || !(members.delete(runId) || isNews)) return;
      if (members.size === 0) lanes.delete(lane);
      else signal(lane);
    },
  };
};
