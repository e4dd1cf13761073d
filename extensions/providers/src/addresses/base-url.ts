/** What a base URL may look like, and the one way it is written down. */
import { parsedUrl, textForm } from '@svc/api';
import type { ProviderRecord } from '../contract.js';
import { providerErrors } from '../errors.js';

/** As far as a pattern can say it. */
export const BASE_URL = textForm('^[hH][tT][tT][pP][sS]?://[^\\s/?#@]+(?:/[^\\s?#]*)?$');

/**
 * Trims slashes and completes the path the wire expects: `/v1` for an OpenAI-compatible
 * server named by host alone, none for Anthropic's and Gemini's, whose drivers add their own.
 * Throws `providers_bad_url`.
 */
export const normalizeBaseUrl = (text: string, wire: ProviderRecord['wire']): string => {
  const url = parse(text.trim());
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw providerErrors.bad_url(`its scheme is ${url.protocol.slice(0, -1)}, not http or https`);
  // A key in a URL would stand in logs and answers.
  if (url.username !== '' || url.password !== '') throw providerErrors.bad_url('it carries a user name or password');
  if (url.search !== '' || url.hash !== '') throw providerErrors.bad_url('it carries a query or a fragment');
  const path = url.pathname.replace(/(?<!\/)\/+$/, '');
  if (wire === 'anthropic') return url.origin + path.replace(/\/v1$/, '');
  // What stood here for the other protocol that Gemini speaks.
  if (wire === 'gemini') return url.origin + path.replace(/\/openai$/, '');
  return url.origin + (path === '' && wire === 'openai' ? '/v1' : path);
};

/** Loopback by name or number: a server on this machine. */
export const isLoopbackUrl = (text: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsedUrl(text)?.hostname ?? '');

const parse = (text: string): URL => {
  const url = parsedUrl(text);
  if (!url) throw providerErrors.bad_url('it is not an absolute URL');
  return url;
};
