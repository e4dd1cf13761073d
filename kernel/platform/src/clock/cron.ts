/**
 * When a cron expression is next due, in a time zone.
 *
 * N1  A local time that a change of the clock leaves out is due at the moment of that change; one that occurs twice is due at the
 *     first, and at both where the expression is for every hour.
 * N2  Where days of the month and of the week are both given, either is enough.
 * N3  A day that a month does not have is passed over, and no other day with it.
 */
import { cronFault, timeZoneFault } from '@svc/api';
import type { Cron } from 'croner';
import { clockErrors } from './errors.js';

const DAY_MS = 86_400_000;
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

const nextOfPart = async (expression: string, timeZone: string, after: number): Promise<number | undefined> => {
  const { Cron: Times } = await import('croner');
  const text = asLibrary(expression);
  const options = { paused: true, mode: '5-part' } as const;
  const cron = new Times(text, { ...options, timezone: timeZone });
  const due = nextOf(cron, timeZone, after);
  if (due === undefined || !isForEveryHour(expression)) return due;
  const inOffset: InOffset = (utcOffset, from) => new Times(text, { ...options, utcOffset }).nextRun(new Date(from))?.getTime();
  return Math.min(due, repeated(inOffset, timeZone, after) ?? due);
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

const nextOf = (cron: Cron, timeZone: string, after: number): number | undefined => {
  for (let found = cron.nextRun(new Date(after)); found !== null; found = cron.nextRun(found)) {
    const due = fitting(cron, found, timeZone);
    if (due > after) return due;
  }
  return undefined;
};

const isForEveryHour = (expression: string): boolean => ['*', '*/1', '?'].includes(expression.trim().split(/\s+/)[1] ?? '');

/** The next time where a zone would stay at this offset (minutes east of UTC). */
type InOffset = (offset: number, after: number) => number | undefined;

/** The library passes over an hour that a clock repeats. */
const repeated = (inOffset: InOffset, timeZone: string, after: number): number | undefined => {
  const offset = offsetOf(timeZone);
  const next = inOffset(offset(after), after);
  if (next === undefined || offset(next) === offset(after)) return next;
  if (offset(next) > offset(after)) return undefined; // a gap: nothing is repeated
  const change = changeBefore(next, timeZone);
  return inOffset(offset(change), change - 1);
};

/** The library moves a time that a day does not have by the length of the gap. */
const fitting = (cron: Cron, found: Date, timeZone: string): number => (cron.match(found) ? found.getTime() : changeBefore(found.getTime(), timeZone));

/** The moment since which the offset of the zone is what it is at `ms`; within the day before. */
const changeBefore = (ms: number, timeZone: string): number => {
  const offsetAt = offsetOf(timeZone);
  const offset = offsetAt(ms);
  let [before, since] = [ms - DAY_MS, ms];
  while (since - before > 1) {
    const middle = Math.floor((before + since) / 2);
    if (offsetAt(middle) === offset) since = middle;
    else before = middle;
  }
  return since;
};

/** Minutes east of UTC. */
const offsetOf = (timeZone: string): ((at: number) => number) => {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  return (at) => {
    const name = format.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? '';
    const [, sign, hours = '0', minutes = '0'] = /([+-])(\d{2}):(\d{2})/.exec(name) ?? [];
    return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
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
