/** The security headers, looked for on answers that this daemon gives: an ordinary one, an error, and the page. */
import type { SecurityLook } from '@svc/api';
import type { OwnAnswer } from './own-request.js';

/** Beside the code that sets them, so that one that goes there is missed here. A page may be stricter. */
const EXPECTED: ReadonlyArray<readonly [name: string, form: RegExp]> = [
  ['x-request-id', /^[\da-f-]{36}$/],
  ['x-api-version', /^v\d+$/],
  ['x-content-type-options', /^nosniff$/],
  ['x-frame-options', /^DENY$/],
  ['x-xss-protection', /^1; mode=block$/],
  ['referrer-policy', /^(?:strict-origin-when-cross-origin|no-referrer)$/],
  ['cache-control', /^(?:no-store\b|private\b|no-cache\b)/],
  ['strict-transport-security', /^max-age=63072000\b/],
  ['content-security-policy', /\bdefault-src '(?:none|self)'/],
];
const OF_DATA: typeof EXPECTED = [...EXPECTED, ['content-language', /^en$/]];

/** Paths of the interface; where the area behind one is off, it answers with an error, which has the same headers. */
const PATHS = ['/api/health', '/api/security-probe-of-no-area', '/'] as const;

export const lookAtHeaders = async (get: (path: string) => Promise<OwnAnswer>): Promise<SecurityLook> => {
  const answers = await Promise.all(PATHS.map(async (path) => ({ path, ...(await get(path)) })));
  const faults = answers.flatMap(({ path, headers }) => missingIn(headers).map((name) => `${name} of GET ${path}`));
  if (faults.length > 0) return { state: 'failed', detail: `Headers that are missing or have another value: ${faults.join(', ')}.` };
  const seen = answers.map(({ path, status, headers }) => `${isPage(headers) ? 'page ' : ''}${path} (${status})`).join(', ');
  return { state: 'active', detail: `All ${OF_DATA.length} security headers are on GET ${seen}${answers.some(({ headers }) => isPage(headers)) ? '' : '. No page is served'}.` };
};

const isPage = (headers: OwnAnswer['headers']): boolean => headers['content-type']?.startsWith('text/html') === true;

const missingIn = (headers: OwnAnswer['headers']): string[] => (isPage(headers) ? EXPECTED : OF_DATA).flatMap(([name, form]) => (form.test(headers[name] ?? '') ? [] : [name]));
