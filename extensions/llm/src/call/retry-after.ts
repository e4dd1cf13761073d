/**
 * When a provider may be asked again, as its answer to a refused call says it.
 *
 * W1  The most exact form wins: `retry-after-ms`, then `retry-after` (seconds or an HTTP date, RFC 9110 10.2.3), then Google's
 *     RetryInfo in the body, then the resets of the limits that are used up, then "try again in 1.2s" in the text.
 * W2  A point in time is counted from the provider's own `date` header where it has one: clocks differ.
 * W3  At most 300 s is believed: no call waits for hours because of one header.
 */
const MAX_RETRY_AFTER_MS = 300_000;
const MAX_READ_CHARS = 20_000;
/** Numbers above this are milliseconds since 1970, those below but above a year of seconds are seconds since 1970. */
const EPOCH_MS = 1e12;
const EPOCH_SECONDS = 1e9;

/** Milliseconds from now; undefined where the answer does not say. */
export const retryAfterIn = (headers: Readonly<Record<string, string>>, body: string, nowMs: number): number | undefined => {
  const theirNow = Date.parse(headers['date'] ?? '');
  const from = Number.isFinite(theirNow) ? theirNow : nowMs;
  const head = body.slice(0, MAX_READ_CHARS);
  const found = exactMs(headers['retry-after-ms']) ?? secondsOrDate(headers['retry-after'], from) ?? retryInfo(head) ?? usedUp(headers, from) ?? saidInText(head);
  return found === undefined ? undefined : Math.min(Math.max(Math.round(found), 0), MAX_RETRY_AFTER_MS);
};

const exactMs = (value: string | undefined): number | undefined => (value !== undefined && /^\s*\d+(\.\d+)?\s*$/.test(value) ? Number(value) : undefined);

const secondsOrDate = (value: string | undefined, from: number): number | undefined => {
  if (value === undefined) return undefined;
  const seconds = exactMs(value);
  return seconds === undefined ? untilDate(value, from) : seconds * 1_000;
};

/** `Date.parse` takes `-5` for a month of 2001. */
const untilDate = (value: string, from: number): number | undefined => {
  const at = /\d:\d\d/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(at) ? at - from : undefined;
};

/** google.rpc.RetryInfo: Gemini sends no header. */
const retryInfo = (body: string): number | undefined => durationMs(/"retryDelay"\s*:\s*"([^"]{1,20})"/.exec(body)?.[1]);

/** OpenAI and those like it say when each limit is full again; Anthropic has a prefix of its own; OpenRouter names one. */
const RESET = /^(?:x-ratelimit|anthropic-ratelimit)-(?:(.+)-)?reset(?:-(.+))?$/;

/** The longest of those that have nothing left; where no limit says what is left, none of them is known to be the reason. */
const usedUp = (headers: Readonly<Record<string, string>>, from: number): number | undefined => {
  let longest: number | undefined;
  for (const [name, value] of Object.entries(headers)) {
    const match = RESET.exec(name);
    if (!match) continue;
    const prefix = name.startsWith('anthropic') ? 'anthropic-ratelimit' : 'x-ratelimit';
    const what = match[1] ?? match[2];
    const left = what === undefined ? headers[`${prefix}-remaining`] : (headers[`${prefix}-remaining-${what}`] ?? headers[`${prefix}-${what}-remaining`]);
    if (left === undefined || Number(left) > 0) continue;
    const ms = resetMs(value, from);
    if (ms !== undefined) longest = Math.max(longest ?? 0, ms);
  }
  return longest;
};

/** `1s`, `6m0s`, `20ms`, a time (RFC 3339), seconds since 1970, milliseconds since 1970, or seconds. */
const resetMs = (value: string, from: number): number | undefined => {
  const number = exactMs(value);
  if (number !== undefined) return number >= EPOCH_MS ? number - from : number >= EPOCH_SECONDS ? number * 1_000 - from : number * 1_000;
  return durationMs(value) ?? untilDate(value, from);
};

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const durationMs = (value: string | undefined): number | undefined => {
  const trimmed = value?.trim() ?? '';
  if (!/^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount = '', unit = ''] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) total += Number(amount) * (UNIT_MS[unit] ?? 0);
  return total;
};

const saidInText = (body: string): number | undefined => durationMs(/(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)/i.exec(body)?.[1]);
