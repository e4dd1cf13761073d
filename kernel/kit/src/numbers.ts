/** Numbers, times and money as people of the chosen language write them. */
import { kitWords } from './kit-words.js';
import { language } from './words.js';

const LOCALES = { en: 'en-GB', zh: 'zh-CN' } as const;
const locale = (): string => LOCALES[language.value];

/** A format is made once for each language and set of options: making one costs more than using it often. */
const madeOnce = <Options, Format>(make: (where: string, options: Options) => Format): ((options: Options) => Format) => {
  const formats = new Map<string, Format>();
  return (options) => {
    const key = `${locale()} ${JSON.stringify(options)}`;
    const known = formats.get(key) ?? make(locale(), options);
    formats.set(key, known);
    return known;
  };
};
const numberFormat = madeOnce((where, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(where, options));
const dateFormat = madeOnce((where, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(where, options));

export const count = (value: number): string => numberFormat(value >= 100_000 ? { notation: 'compact', maximumFractionDigits: 1 } : {}).format(value);

/** US dollars; small amounts keep two digits that say something. */
export const money = (usd: number): string =>
  numberFormat({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol', ...(usd !== 0 && Math.abs(usd) < 0.01 ? { maximumSignificantDigits: 2 } : {}) }).format(usd);

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
export const bytes = (value: number): string => {
  const power = Math.min(UNITS.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3));
  return numberFormat({ style: 'unit', unit: UNITS[power] ?? 'byte', unitDisplay: power === 0 ? 'long' : 'short', maximumFractionDigits: power === 0 ? 0 : 1 }).format(value / 1_000 ** power);
};

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const unit = (value: number, name: string, digits = 0): string => numberFormat({ style: 'unit', unit: name, unitDisplay: 'narrow', maximumFractionDigits: digits }).format(value);

export const duration = (ms: number): string => {
  if (ms < SECOND_MS) return unit(Math.round(ms), 'millisecond');
  if (ms < MINUTE_MS) return unit(ms / SECOND_MS, 'second', ms < 10 * SECOND_MS ? 1 : 0);
  if (ms < HOUR_MS) return `${unit(Math.floor(ms / MINUTE_MS), 'minute')} ${unit(Math.floor((ms % MINUTE_MS) / SECOND_MS), 'second')}`;
  return `${unit(Math.floor(ms / HOUR_MS), 'hour')} ${unit(Math.floor((ms % HOUR_MS) / MINUTE_MS), 'minute')}`;
};

/** How long ago, by this browser's clock. One that runs behind the daemon's never says `in 3 minutes`. In words of our own: the browser's cost a tenth of the page's start. */
export const ago = (iso: string, now = Date.now()): string => {
  const passed = Math.max(0, now - Date.parse(iso));
  const n = (ms: number): { n: number } => ({ n: Math.floor(passed / ms) });
  if (passed < MINUTE_MS) return kitWords('just_now');
  if (passed < HOUR_MS) return kitWords('minutes_ago', n(MINUTE_MS));
  if (passed < DAY_MS) return kitWords('hours_ago', n(HOUR_MS));
  if (passed < 2 * DAY_MS) return kitWords('yesterday');
  if (passed < 7 * DAY_MS) return kitWords('days_ago', n(DAY_MS));
  return dateFormat({ dateStyle: 'medium' }).format(new Date(iso));
};

export const dateTime = (iso: string): string => dateFormat({ dateStyle: 'medium', timeStyle: 'medium' }).format(new Date(iso));

const DAY_SECONDS = 86_400;

/** When an interval of a chart began, as short as an axis needs it: days by their date, others by the time of day. `whole` names both. */
export const timeOfInterval = (ms: number, intervalSeconds: number, length: 'short' | 'whole' = 'short'): string => {
  const day = { day: 'numeric', month: 'short' } as const;
  const time = { hour: '2-digit', minute: '2-digit' } as const;
  if (intervalSeconds >= DAY_SECONDS) return dateFormat({ ...day, timeZone: 'UTC' }).format(ms);
  const isMidnight = new Date(ms).getHours() === 0 && new Date(ms).getMinutes() === 0;
  return dateFormat(length === 'whole' ? { ...day, ...time } : isMidnight ? day : time).format(ms);
};

/** Enough of an id to tell it from its neighbours: its end, since ids begin with their time. */
export const shortId = (id: string): string => id.slice(-8);
