/** How many answers there were, of which kind and how long each took: a few numbers in memory, added to with each. */
import type { Histogram } from '@svc/api';

/** Upper ends in seconds, as Prometheus' own clients have them, and up to a minute: an answer may wait for a model. */
const BOUNDS: readonly number[] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

export interface RequestFigures {
  /** An answer is over: its status, and the milliseconds since its request came. */
  ended(status: number, ms: number): void;
  durations(): Pick<Histogram, 'buckets' | 'sum' | 'count'>;
  /** Answers by the first digit of their status, as `2xx`. */
  answers(): Readonly<Record<string, number>>;
}

export const createRequestFigures = (): RequestFigures => {
  const counts = new Array<number>(BOUNDS.length).fill(0);
  const answers: Record<string, number> = { '1xx': 0, '2xx': 0, '3xx': 0, '4xx': 0, '5xx': 0 };
  let sum = 0;
  let count = 0;
  return {
    ended: (status, ms) => {
      const seconds = ms / 1_000;
      const place = BOUNDS.findIndex((bound) => seconds <= bound);
      if (place >= 0) counts[place] = (counts[place] ?? 0) + 1;
      sum += seconds;
      count += 1;
      const kind = `${Math.floor(status / 100)}xx`;
      answers[kind] = (answers[kind] ?? 0) + 1;
    },
    durations: () => {
      let below = 0;
      const upTo = (index: number): number => {
        below += counts[index] ?? 0;
        return below;
      };
      return { sum, count, buckets: BOUNDS.map((le, index) => ({ le, count: upTo(index) })) };
    },
    answers: () => ({ ...answers }),
  };
};
