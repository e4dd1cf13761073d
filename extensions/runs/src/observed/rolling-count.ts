/** How often something happened in the last hour, by minutes, in the memory of this process. */
import type { Clock } from '@svc/api';

const MINUTE_MS = 60_000;
const MINUTES = 60;

export interface RollingCount {
  add(): void;
  /** Of the running minute and the 59 before it. */
  lastHour(): number;
}

export const createRollingCount = (clock: Pick<Clock, 'mono'>): RollingCount => {
  const counts = new Map<number, number>();
  const forget = (now: number): void => {
    for (const minute of counts.keys()) {
      if (minute > now - MINUTES) return;
      counts.delete(minute);
    }
  };
  const minuteNow = (): number => Math.floor(clock.mono() / MINUTE_MS);
  return {
    add: () => {
      const now = minuteNow();
      const before = counts.get(now);
      if (before === undefined) forget(now);
      counts.set(now, (before ?? 0) + 1);
    },
    lastHour: () => {
      forget(minuteNow());
      return [...counts.values()].reduce((sum, count) => sum + count, 0);
    },
  };
};
