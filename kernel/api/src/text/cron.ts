/** What is wrong with a cron expression or a time zone that a person wrote. When the next time is, `ctx.timers.nextAt` says. */

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
}

const FIELDS: readonly Field[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12 },
  // 0 and 7 are Sunday.
  { name: 'day of week', min: 0, max: 7 },
];
const MAX_CHARS = 200;
/** Of each month at most; February has 29 in some years. */
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const PART = /^(?:(\*|\?)|(\d{1,2})(?:-(\d{1,2}))?)(?:\/(\d{1,2}))?$/;

/** The end of a sentence, such as `hour is 25, from 0 to 23 is possible`; undefined where the expression is right. */
export const cronFault = (expression: string): string | undefined => {
  if (expression.length > MAX_CHARS) return `it is longer than ${MAX_CHARS} characters`;
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length) return `it has ${expression.trim() === '' ? 0 : fields.length} fields instead of 5 (${FIELDS.map(({ name }) => name).join(', ')})`;
  for (const [index, field] of FIELDS.entries()) {
    const fault = fieldFault(field, fields[index] ?? '');
    if (fault !== undefined) return fault;
  }
  return hasDay(fields) ? undefined : 'no month that it names has such a day, so its time would never come';
};

/** The end of a sentence; undefined for a name that this system knows. */
export const timeZoneFault = (name: string): string | undefined => {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // Offsets such as +02:00 are no zone: they know no summer time.
    return /^[A-Z]/i.test(name) ? undefined : 'it is no name of a time zone';
  } catch {
    return 'this system knows no such time zone';
  }
};

const fieldFault = ({ max, min, name }: Field, text: string): string | undefined => {
  for (const part of text.split(',')) {
    const found = PART.exec(part);
    if (!found) return `${name} is "${text}", and only numbers, *, ?, commas, - and / are possible`;
    const [, any, from, to, step] = found;
    for (const number of [from, to]) if (number !== undefined && (Number(number) < min || Number(number) > max)) return `${name} is ${number}, and ${min} to ${max} is possible`;
    // Days of a week go round.
    if (max !== 7 && to !== undefined && Number(to) < Number(from)) return `${name} is "${part}", whose end is before its beginning`;
    if (step !== undefined && (Number(step) === 0 || (any === undefined && to === undefined)))
      return `${name} is "${part}", and a step is written as */${Number(step) || 5} or ${min}-${max}/${Number(step) || 5}`;
  }
  return undefined;
};

/** Where only days of a month are named, one of them must be in a month that is named. */
const hasDay = ([, , days = '*', months = '*', weekdays = '*']: readonly string[]): boolean => {
  if (isAny(days) || !isAny(weekdays)) return true;
  const first = Math.min(...days.split(',').map((part) => Number(PART.exec(part)?.[2] ?? 1)));
  return DAYS.some((count, index) => first <= count && includes(months, index + 1));
};

const isAny = (text: string): boolean => text.startsWith('*') || text.startsWith('?');

const includes = (text: string, wanted: number): boolean =>
  text.split(',').some((part) => {
    const [, any, from, to, step = '1'] = PART.exec(part) ?? [];
    const [low, high] = any === undefined ? [Number(from), Number(to ?? from)] : [1, 12];
    return wanted >= low && wanted <= high && (wanted - low) % Number(step) === 0;
  });
