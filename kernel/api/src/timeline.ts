/** Periods that charts show, each divided into intervals of UTC. */
import { OneOf } from './schema/schema.js';

/** How many characters of an ISO time its interval is known by: rows are grouped by them on each engine alike. */
const CHARACTERS = { minute: 16, ten_minutes: 15, hour: 13, day: 10 } as const;
export type TimelineInterval = keyof typeof CHARACTERS;

const SHAPES = {
  hour: { interval: 'minute', seconds: 60, count: 60 },
  day: { interval: 'ten_minutes', seconds: 600, count: 144 },
  week: { interval: 'hour', seconds: 3_600, count: 168 },
  month: { interval: 'day', seconds: 86_400, count: 30 },
} as const;

export const TimelinePeriod = OneOf(['hour', 'day', 'week', 'month'], {
  default: 'day',
  description: 'The last hour by minutes, the last day by ten minutes, the last 7 days by hours, or the last 30 days by days, in UTC',
});
export type TimelinePeriod = keyof typeof SHAPES;

export interface Timeline {
  readonly interval: TimelineInterval;
  readonly intervalSeconds: number;
  /** ISO times at which the intervals begin, the oldest first; the last one has not ended. */
  readonly starts: readonly string[];
}

/** The intervals of a period that end now. */
export const timelineOf = (period: TimelinePeriod, now: number): Timeline => {
  const { interval, seconds, count } = SHAPES[period];
  const ms = seconds * 1_000;
  const last = Math.floor(now / ms) * ms;
  return { interval, intervalSeconds: seconds, starts: Array.from({ length: count }, (_, index) => new Date(last - (count - 1 - index) * ms).toISOString()) };
};

/** SQL for the beginning of the interval that a column with ISO times falls into; `startOf` completes it. */
export const intervalSql = (column: string, interval: TimelineInterval): string => `substr(${column}, 1, ${CHARACTERS[interval]})`;

const MIDNIGHT = '0000-00-00T00:00:00.000Z';

/** The ISO time at which an interval begins, from the characters that `intervalSql` leaves of it. */
export const startOf = (characters: string): string => characters + MIDNIGHT.slice(characters.length);
