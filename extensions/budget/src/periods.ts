/** The periods that usage is asked for, each by when it began. */
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

export const USAGE_PERIODS = ['hour', 'day', 'week', 'month'] as const;
export type UsagePeriod = (typeof USAGE_PERIODS)[number];

/** An hour is the last 60 minutes and a week the last 7 days; a day and a month began in UTC. */
export const periodBegan = (period: UsagePeriod, now: number): string => {
  if (period === 'hour') return new Date(now - HOUR_MS).toISOString();
  if (period === 'week') return new Date(now - 7 * DAY_MS).toISOString();
  return period === 'day' ? dayOf(now) : `${new Date(now).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
};

const dayOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 10)}T00:00:00.000Z`;

/** `2026-01-31` of each of the last days, the oldest first. */
export const lastDays = (count: number, now: number): string[] => Array.from({ length: count }, (_, index) => new Date(now - (count - 1 - index) * DAY_MS).toISOString().slice(0, 10));
