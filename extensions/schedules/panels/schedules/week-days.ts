/** Which fires stand on which day: pure, so that a test can ask it. */
export interface Moment {
  readonly at: string;
  readonly job: string;
  readonly name: string;
  /** `due` for one that is to come. */
  readonly state: string;
}

export interface Day {
  /** Its beginning on the clock of the reader. */
  readonly at: number;
  readonly moments: readonly Moment[];
}

const DAY_MS = 86_400_000;
export const DAYS_BEFORE = 3;
export const DAYS_AFTER = 3;
export const MAX_JOBS = 20;

const startOf = (ms: number): number => {
  const day = new Date(ms);
  day.setHours(0, 0, 0, 0);
  return day.getTime();
};

/** Seven days around `now`, each with what falls on it, in order. */
export const weekOf = (moments: readonly Moment[], now: number): Day[] => {
  const noon = startOf(now) + DAY_MS / 2;
  return Array.from({ length: DAYS_BEFORE + 1 + DAYS_AFTER }, (_, index) => {
    // Noon and back: a day with a change of the clock is longer or shorter.
    const at = startOf(noon + (index - DAYS_BEFORE) * DAY_MS);
    const on = moments.filter(({ at: text }) => startOf(Date.parse(text)) === at);
    return { at, moments: on.sort((one, other) => Date.parse(one.at) - Date.parse(other.at)) };
  });
};

/** The coming times of a plan that is no expression: its next, and what follows at its interval until the week is over. */
export const timesFrom = (next: string | null, everySecs: number | undefined, now: number): string[] => {
  if (next === null) return [];
  const end = now + (DAYS_AFTER + 1) * DAY_MS;
  const times: string[] = [];
  for (let at = Date.parse(next); at < end; at += (everySecs ?? Number.POSITIVE_INFINITY) * 1_000) times.push(new Date(at).toISOString());
  return times;
};
