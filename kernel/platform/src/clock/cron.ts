/**
 * When a cron expression is next due, in a time zone. At a change of the clock it is read as Debian's cron reads it.
 *
 * N1  A fixed local time that a change of the clock leaves out is due at the moment of that change, and one that occurs twice at
 *     the first. Where minute or hour begin with *, every matching minute that a clock shows is due, and no other.
 * N2  Where days of the month and of the week are both given, either is enough.
 * N3  A day that a month does not have is passed over, and no other day with it.
 */
import { cronFault, timeZoneFault } from '@svc/api';
import { clockErrors } from './errors.js';

const MINUTE_MS = 60_000;
const DAY_MS = 1_440 * MINUTE_MS;
const DAYS_OF_WEEK = 7;
const SHORTEST_MONTH = 28;
const LONGEST_MONTH = 31;

/** The first time after `after`, in milliseconds. Rejects with `clock_cron` and `clock_time_zone`. */
export const nextCronTime = async (expression: string, timeZone: string, after: number): Promise<number> => {
  const fault = cronFault(expression);
  if (fault !== undefined) throw clockErrors.cron(expression, fault);
  const zoneFault = timeZoneFault(timeZone);
  if (zoneFault !== undefined) throw clockErrors.time_zone(timeZone, zoneFault);
  const times = await Promise.all(inParts(expression).map((part) => nextOfPart(part, timeZone, after)));
  const due = times.filter((time) => time !== undefined);
  if (due.length === 0) throw clockErrors.cron(expression, 'its time would never come');
  return Math.min(...due);
};

/** The library reads the local time as if it were UTC: what a change of the clock does to it is decided here. */
const nextOfPart = async (expression: string, timeZone: string, after: number): Promise<number | undefined> => {
  const { Cron: Times } = await import('croner');
  const cron = new Times(asLibrary(expression), { paused: true, mode: '5-part', utcOffset: 0 });
  const nextLocal: NextLocal = (local) => cron.nextRun(new Date(local))?.getTime();
  const zone = zoneOf(timeZone);
  return hasWildcard(expression) ? nextShown(nextLocal, zone, after) : nextFixed(nextLocal, zone, after);
};

/** The next matching local time after another; local times are milliseconds as if they were UTC. */
type NextLocal = (local: number) => number | undefined;

const hasWildcard = (expression: string): boolean =>
  expression
    .trim()
    .split(/\s+/)
    .slice(0, 2)
    .some((field) => /^[*?]/.test(field));

const nextFixed = (nextLocal: NextLocal, zone: Zone, after: number): number | undefined => {
  for (let local = nextLocal(after + zone.offset(after)); local !== undefined; local = nextLocal(local)) {
    const due = zone.moments(local)[0] ?? zone.change(local - DAY_MS, local + DAY_MS);
    if (due > after) return due;
  }
  return undefined;
};

const nextShown = (nextLocal: NextLocal, zone: Zone, after: number): number | undefined => {
  const again = nextRepeated(nextLocal, zone, after);
  if (again !== undefined) return again;
  for (let local = nextLocal(after + zone.offset(after)); local !== undefined; local = nextLocal(local)) {
    const due = zone.moments(local).find((moment) => moment > after);
    if (due !== undefined) return due;
  }
  return undefined;
};

/** The first time of an hour that the clock repeats within a day, once nothing is left of that hour's first pass. */
const nextRepeated = (nextLocal: NextLocal, zone: Zone, after: number): number | undefined => {
  if (zone.offset(after + DAY_MS) >= zone.offset(after)) return undefined;
  const change = zone.change(after, after + DAY_MS);
  const end = change + zone.offset(after);
  const left = nextLocal(after + zone.offset(after));
  if (left !== undefined && left < end) return undefined;
  const local = nextLocal(change + zone.offset(change) - 1);
  return local !== undefined && local < end ? local - zone.offset(change) : undefined;
};

/** The library passes over the first days of March where it looks in February for a day that February does not have: such days are looked for by themselves (N3). */
const inParts = (expression: string): string[] => {
  const fields = expression.trim().split(/\s+/);
  const days = daysOf(fields[2] ?? '');
  const [early, late] = [days.filter((day) => day <= SHORTEST_MONTH), days.filter((day) => day > SHORTEST_MONTH)];
  if (early.length === 0 || late.length === 0) return [expression];
  return [early, late].map((some) => fields.with(2, some.join()).join(' '));
};

/** Days of the month that are named one by one or by ranges and steps; none where the field says something else, such as every day. */
const daysOf = (field: string): number[] => {
  const parts = field.split(',').map((part) => /^(?:(\d+)(?:-(\d+))?|\*)(?:\/(\d+))?$/.exec(part));
  if (field === '*' || field === '*/1' || parts.some((part) => part === null)) return [];
  const days = parts.flatMap((part) => {
    const [, from, to, step] = part ?? [];
    const first = Number(from ?? 1);
    const last = to !== undefined ? Number(to) : from === undefined || step !== undefined ? LONGEST_MONTH : first;
    return Array.from({ length: Math.floor((last - first) / Number(step ?? 1)) + 1 }, (_, index) => first + index * Number(step ?? 1));
  });
  return [...new Set(days)];
};

interface Zone {
  /** Milliseconds east of UTC. */
  offset(at: number): number;
  /** When clocks show this local time: once, twice or never. */
  moments(local: number): number[];
  /** The moment between two at which the offset becomes what it is at the second. */
  change(from: number, to: number): number;
}

const zoneOf = (timeZone: string): Zone => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const offset = (at: number): number => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
    return (Number(hours) * 60 + Number(minutes)) * MINUTE_MS * (sign === '-' ? -1 : 1);
  };
  return {
    offset,
    moments: (local) => {
      const [before, later] = [offset(local - DAY_MS), offset(local + DAY_MS)];
      if (before === later) return [local - later];
      return [local - before, local - later].filter((moment) => moment + offset(moment) === local).sort((one, other) => one - other);
    },
    change: (from, to) => {
      let [before, since] = [from, to];
      while (since - before > 1) {
        const middle = Math.floor((before + since) / 2);
        if (offset(middle) === offset(to)) since = middle;
        else before = middle;
      }
      return since;
    },
  };
};

/** In the library's words: days of the week that go over Sunday one by one, and * for ?, which it takes for the present time. */
const asLibrary = (expression: string): string =>
  expression
    .trim()
    .replaceAll('?', '*')
    .split(/\s+/)
    .map((field, index) => (index === 4 ? field.split(',').map(withoutWrapIn).join() : field))
    .join(' ');

const withoutWrapIn = (part: string): string => {
  const [range = '', step = '1'] = part.split('/');
  const [from, to] = range.split('-').map(Number);
  if (from === undefined || to === undefined || from <= to) return part;
  const days = [];
  for (let day = from; day <= to + DAYS_OF_WEEK; day += Number(step)) days.push(day % DAYS_OF_WEEK);
  return days.join();
};
