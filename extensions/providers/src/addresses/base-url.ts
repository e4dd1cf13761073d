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

/** As it is stored; empty for none. Throws `providers_bad_proxy`. */
export const normalizeProxyUrl = (text: string): string => {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  const url = parsedUrl(trimmed);
  if (!url || url.hostname === '') throw providerErrors.bad_proxy('it is not an absolute URL');
  if (!/^(https?|socks5h?):$/.test(url.protocol)) throw providerErrors.bad_proxy(`its scheme is ${url.protocol.slice(0, -1)}, not http, https or socks5`);
  // What is stored stands in backups.
  if (url.username !== '' || url.password !== '') throw providerErrors.bad_proxy('it carries a user name or password');
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') throw providerErrors.bad_proxy('it carries a path, a query or a fragment');
  return `${url.protocol}//${url.host}`;
};

/** As far as a pattern can say it. */
export const PROXY_URL = textForm('^(?:(?:[hH][tT][tT][pP][sS]?|[sS][oO][cC][kK][sS]5[hH]?)://[^\\s/?#@]+/?)?$');

/** Loopback by name or number: a server on this machine. */
export const isLoopbackUrl = (text: string): boolean => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(parsedUrl(text)?.hostname ?? '');

const parse = (text: string): URL => {
  const url = parsedUrl(text);
  if (!url) throw providerErrors.bad_url('it is not an absolute URL');
  return url;
};
