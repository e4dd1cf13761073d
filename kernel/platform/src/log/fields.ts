/** Turns whatever was handed to the log into plain, bounded, scrubbed data. Never throws: a log line must not break its caller. */
const MAX_DEPTH = 6;
const MAX_ITEMS = 100;
const MAX_CHARS = 8_192;

export type Plain = string | number | boolean | null | Plain[] | { [key: string]: Plain };

export const plainFields = (fields: Readonly<Record<string, unknown>>, scrub: (text: string) => string): Record<string, Plain> => {
  const out: Record<string, Plain> = {};
  for (const [key, value] of Object.entries(fields).slice(0, MAX_ITEMS)) {
    if (value !== undefined) out[scrub(key)] = plain(value, scrub, 0, []);
  }
  return out;
};

/** Scrubbed before it is cut: half a secret is still a secret. */
export const plainText = (text: string, scrub: (text: string) => string): string => {
  const clean = scrub(text);
  return clean.length > MAX_CHARS ? `${clean.slice(0, MAX_CHARS)}… (${clean.length} characters)` : clean;
};

const plain = (value: unknown, scrub: (text: string) => string, depth: number, above: readonly object[]): Plain => {
  switch (typeof value) {
    case 'string':
      return plainText(value, scrub);
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : plainObject(value, scrub, depth, above);
    case 'bigint':
      return value.toString();
    default:
      return typeof value;
  }
};

const plainObject = (value: object, scrub: (text: string) => string, depth: number, above: readonly object[]): Plain => {
  if (above.includes(value)) return '(circular)';
  if (depth >= MAX_DEPTH) return '(deeper)';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
  if (ArrayBuffer.isView(value)) return `(${value.byteLength} bytes)`;
  const next = (inner: unknown): Plain => plain(inner, scrub, depth + 1, [...above, value]);
  if (Array.isArray(value)) return value.slice(0, MAX_ITEMS).map(next);
  if (value instanceof Error) return plainError(value, next);
  const out: Record<string, Plain> = {};
  try {
    for (const [key, inner] of Object.entries(value).slice(0, MAX_ITEMS)) if (inner !== undefined) out[scrub(key)] = next(inner);
  } catch (error) {
    // A getter may throw; the line is still worth writing.
    return `(unreadable: ${plainText(String(error), scrub)})`;
  }
  return out;
};

const plainError = (error: Error, next: (inner: unknown) => Plain): Plain => {
  const out: Record<string, Plain> = { name: next(error.name), message: next(error.message) };
  if ('code' in error && error.code !== undefined) out.code = next(error.code);
  if (error.stack) out.stack = next(error.stack);
  if (error.cause !== undefined) out.cause = next(error.cause);
  return out;
};
