/** What a person types for a field of a kind: `tomorrow 9:00`, `1h30m`, `50%`, `$5`, `no limit`. */
import type { JsonSchema } from '@svc/api';
import { cronFault } from '@svc/api';
import { usageFailure } from '../failure.js';

type Kinded = JsonSchema & { readonly 'x-kind'?: unknown; readonly 'x-unit'?: unknown; readonly 'x-none'?: unknown; readonly 'x-none-word'?: unknown };

const MS = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof MS;
const UNIT_WORDS: Readonly<Record<string, Unit>> = {
  ms: 'ms',
  s: 's',
  sec: 's',
  second: 's',
  seconds: 's',
  m: 'min',
  min: 'min',
  minute: 'min',
  minutes: 'min',
  h: 'h',
  hour: 'h',
  hours: 'h',
  d: 'd',
  day: 'd',
  days: 'd',
};
const NONE_WORDS = ['none', 'no limit', 'unlimited', 'never'];
const WEEKDAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

export const fieldKind = (schema: JsonSchema): string | undefined => {
  const { 'x-kind': kind, format } = schema as Kinded;
  return typeof kind === 'string' ? kind : format === 'date-time' ? 'time' : undefined;
};

/** Undefined where the word is none of those that stand for nothing. */
export const noneOf = (schema: JsonSchema, mayBeNull: boolean, text: string): { readonly value: unknown } | undefined => {
  const { 'x-none': none, 'x-none-word': own } = schema as Kinded;
  const word = text.trim().toLowerCase();
  if (word === 'default' && schema.default !== undefined) return { value: schema.default };
  if (!NONE_WORDS.includes(word) && word !== own) return undefined;
  if (none !== undefined) return { value: none };
  return mayBeNull ? { value: null } : undefined;
};

/** Undefined where the kind has no words of its own, and the value is read by its type. */
export const kindValue = (schema: JsonSchema, text: string, label: string, now = new Date()): unknown => {
  switch (fieldKind(schema)) {
    case 'time':
      return timeOf(text, label, now);
    case 'duration':
      return durationOf(schema as Kinded, text, label);
    case 'percent':
      return numberIn(text.replace(/\s*%$/, ''), label, text, 'a percentage, such as 40');
    case 'money':
      return numberIn(text.replace(/^\$\s*|\s*(usd|\$)$/gi, ''), label, text, 'an amount in US dollars, such as 5 or $0.50');
    case 'cron':
      return cronOf(text, label);
    default:
      return undefined;
  }
};

const numberIn = (text: string, label: string, typed: string, what: string): number => {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw usageFailure(`${label}: "${typed}" is not ${what}.`);
  return value;
};

const cronOf = (text: string, label: string): string => {
  const fault = cronFault(text);
  if (fault !== undefined) throw usageFailure(`${label}: "${text}" is not a cron expression: ${fault}.`, 'Write five fields, such as "0 9 * * 1-5".');
  return text;
};

const durationOf = ({ 'x-unit': given }: Kinded, text: string, label: string): number => {
  const unit: Unit = typeof given === 'string' && given in MS ? (given as Unit) : 's';
  const word = text.trim().toLowerCase();
  if (/^\d+$/.test(word)) return Number(word);
  const parts = [...word.matchAll(/(\d+(?:\.\d+)?)\s*([a-z]+)\s*/g)];
  const isWhole = parts.length > 0 && parts.map(([part]) => part).join('') === word;
  const ms = isWhole ? parts.reduce((sum, [, amount, name = '']) => sum + Number(amount) * (MS[UNIT_WORDS[name] ?? 'ms'] * (name in UNIT_WORDS ? 1 : Number.NaN)), 0) : Number.NaN;
  const value = ms / MS[unit];
  if (!Number.isInteger(value)) throw usageFailure(`${label}: "${text}" is not a duration in ${WHOLE[unit]}.`, 'Write it as 90s, 5m, 1h30m or 2d.');
  return value;
};

const WHOLE: Readonly<Record<Unit, string>> = { ms: 'milliseconds', s: 'seconds', min: 'minutes', h: 'hours', d: 'days' };

/** ISO 8601, a day, `today`, `tomorrow`, a weekday, each with a time; or `in 2h`. Times without a zone are local. */
const timeOf = (text: string, label: string, now: Date): string => {
  const word = text.trim().toLowerCase();
  const later = /^in (.+)$/.exec(word)?.[1];
  if (later !== undefined) return new Date(now.getTime() + durationOf({ 'x-unit': 'ms' } as Kinded, later, label)).toISOString();
  if (/^\d{4}-\d\d-\d\dt\d\d:\d\d.*(z|[+-]\d\d:\d\d)$/.test(word)) return validTime(new Date(text.trim()), text, label);
  const [, dayWord = '', hours, minutes = '0'] = /^([a-z]+|\d{4}-\d\d-\d\d)?(?:[ t]*(\d{1,2}):(\d\d)(?::\d\d)?)?$/.exec(word) ?? [];
  const day = word === '' || (dayWord === '' && hours === undefined) ? undefined : dayOf(dayWord, now);
  if (day === undefined || Number(hours ?? 0) > 23 || Number(minutes) > 59) throw wrongTime(text, label);
  day.setHours(Number(hours ?? 0), Number(minutes), 0, 0);
  return validTime(day, text, label);
};

const dayOf = (word: string, now: Date): Date | undefined => {
  const day = new Date(now);
  if (word === '' || word === 'today') return day;
  if (word === 'tomorrow') return new Date(day.setDate(day.getDate() + 1));
  const weekday = WEEKDAYS.indexOf(word);
  if (weekday >= 0) return new Date(day.setDate(day.getDate() + ((weekday - day.getDay() + 6) % 7) + 1));
  const [year = Number.NaN, month = Number.NaN, date = Number.NaN] = word.split('-').map(Number);
  const made = new Date(year, month - 1, date);
  // February 30 is no day.
  return made.getMonth() === month - 1 && made.getDate() === date ? made : undefined;
};

const validTime = (at: Date, text: string, label: string): string => {
  if (Number.isNaN(at.getTime())) throw wrongTime(text, label);
  return at.toISOString();
};

const wrongTime = (text: string, label: string) =>
  usageFailure(`${label}: "${text}" is not a date and time.`, 'Write it as 2026-12-01, "2026-12-01 9:00", "tomorrow 9:00", "friday 18:30" or "in 2h".');
