/**
 * Headers of an answer that another process makes: a list of those that describe it, and nothing else.
 *
 * H1  None that a browser, a proxy or a client obeys beyond this answer: no cookie, no policy, no place to go on to, no question for
 *     a password, no worker, no other protocol, none of CORS.
 * H2  No answer is kept where others would get it: caches of many people hold none of them.
 * H3  Names of its own begin with `x-ext-`: any other may mean something to somebody in between.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Headers } from '@svc/api';

const DESCRIBING = new Set([
  ...['accept-ranges', 'allow', 'content-disposition', 'content-encoding', 'content-language', 'content-range', 'deprecation', 'etag', 'last-modified', 'retry-after', 'sunset', 'warning'],
  ...['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-total-count'],
]);
const OWN = /^x-ext-[a-z0-9-]+$/;
/** H2. Others, `public` and `s-maxage` among them, are left out. */
const CACHING = /^(?:no-store|no-cache|must-revalidate|immutable|max-age=\d{1,9})$/;
const CACHE = 'cache-control';
const MAX_HEADERS = 50;
const MAX_VALUE_CHARS = 4_096;

/** The others are left out. */
export const describing = (headers: Headers): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers)
      .map(([name, value]): [string, unknown] => [name.toLowerCase(), value])
      .filter((entry): entry is [string, string] => isDescribing(entry[0]) && typeof entry[1] === 'string' && isHeader(entry[0], entry[1]))
      .map(([name, value]): [string, string] => [name, name === CACHE ? privateCaching(value) : value])
      .slice(0, MAX_HEADERS),
  );

/** What of it is for the one who asked. */
const privateCaching = (value: string): string => {
  const said = value
    .toLowerCase()
    .split(',')
    .map((one) => one.trim())
    .filter((one) => CACHING.test(one));
  return said.includes('no-store') ? 'no-store' : ['private', ...said].join(', ');
};

export const isHeader = (name: string, value: string): boolean => {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return value.length <= MAX_VALUE_CHARS;
  } catch {
    return false;
  }
};

const isDescribing = (name: string): boolean => name === CACHE || DESCRIBING.has(name) || OWN.test(name);
