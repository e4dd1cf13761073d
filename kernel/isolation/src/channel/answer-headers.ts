/** Headers of an answer that another process makes: those that describe it, as HTTP takes them. */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Headers } from '@svc/api';

/** Beside them any that begin with `x-`, but for those of `KEPT`. */
const DESCRIBING = new Set([
  ...['accept-ranges', 'age', 'allow', 'cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-range', 'content-type', 'date', 'deprecation'],
  ...['etag', 'expires', 'last-modified', 'link', 'location', 'mcp-session-id', 'retry-after', 'sunset', 'vary', 'warning', 'www-authenticate'],
]);
/** Said by the daemon alone, or obeyed by what stands before it. */
const KEPT = /^x-(?:request-id|api-version|content-type-options|frame-options|xss-|dns-|permitted-|forwarded-|accel-|sendfile|lighttpd-|reproxy-)/;
const MAX_HEADERS = 50;
const MAX_VALUE_CHARS = 4_096;

/** The others are left out. */
export const describing = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, unknown] => [name.toLowerCase(), value])
      .filter((entry): entry is [string, string] => isDescribing(entry[0]) && typeof entry[1] === 'string' && isHeader(entry[0], entry[1]))
      .slice(0, MAX_HEADERS),
  );

export const isHeader = (name: string, value: string): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return value.length <= MAX_VALUE_CHARS;
  } catch {
    return false;
  }
};

const isDescribing = (name: string): boolean => DESCRIBING.has(name) || (name.startsWith('x-') && !KEPT.test(name));
