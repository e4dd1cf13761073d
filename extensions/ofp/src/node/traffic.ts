/** How many messages passed: in all, and within the last minute. */

const SECONDS = 60;

export interface MinuteCount {
  add(): void;
  /** Within the last 60 seconds. */
  lately(): number;
}

/** `now` in milliseconds that only grow. */
export const createMinuteCount = (now: () => number): MinuteCount => {
  const counts = new Array<number>(SECONDS).fill(0);
  let second = Math.floor(now() / 1_000);
  const advance = (): void => {
    const current = Math.floor(now() / 1_000);
    for (let left = Math.min(SECONDS, current - second); left > 0; left--) counts[(current - left + 1) % SECONDS] = 0;
    second = Math.max(second, current);
  };
  return {
    add: () => {
      advance();
      counts[second % SECONDS] = (counts[second % SECONDS] ?? 0) + 1;
    },
    lately: () => {
      advance();
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
};
