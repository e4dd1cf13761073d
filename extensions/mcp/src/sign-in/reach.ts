/**
 * Requests to those who give tokens.
 *
 * R1  At the host of the server itself, and where the operator's own entry leads, private networks are reached too. Anywhere else a server may send us only by https, to public addresses.
 */
import { type Disposable, type ExtensionContext, type FetchInit, type FetchResponse, isSvcError, parsedUrl } from '@svc/api';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 262_144;

export type Reach = (target: string, init?: Omit<FetchInit, 'purpose'>) => Promise<FetchResponse>;

/** More than people sign in at in one minute. A server says itself at which ports of its host: the oldest gives way. */
const MAX_OPENED = 50;
export type Opened = Map<string, Disposable>;

/** `trusted`: addresses that the operator gave. `opened` holds what was allowed already. */
export const reachFrom = ({ fetch, egress }: Pick<ExtensionContext, 'fetch' | 'egress'>, trusted: readonly string[], opened: Opened): Reach => {
  const hosts = new Map(trusted.flatMap((text) => (parsedUrl(text) ? [[new URL(text).hostname, new URL(text).protocol] as const] : [])));
  return async (target, init = {}) => {
    const url = parsedUrl(target);
    if (!url || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') throw new Error(`${target.slice(0, 200)} is not an address of http or https`);
    const known = hosts.get(url.hostname);
    if (url.protocol === 'http:' && known !== 'http:') throw new Error(`${url.origin} has no TLS, and tokens are not asked for without it`);
    if (known !== undefined && !opened.has(url.origin)) {
      const [oldest] = opened;
      if (oldest && opened.size >= MAX_OPENED) {
        opened.delete(oldest[0]);
        void oldest[1].dispose();
      }
      opened.set(url.origin, egress.allow(url.origin, 'server'));
    }
    return fetch(url.href, { timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, redirect: 'manual', ...init, purpose: known === undefined ? 'webhook' : 'server' });
  };
};

const NO_BODY = new Set([101, 204, 205, 304]);

/** The same in the form that libraries ask by. */
export const fetchBy =
  (reach: Reach) =>
  async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const { status, headers, ...answer } = await reach(String(input), {
      method: init.method ?? 'GET',
      headers: Object.fromEntries(new Headers(init.headers)),
      ...(typeof init.body === 'string' ? { body: init.body } : {}),
    });
    return new Response(NO_BODY.has(status) ? null : await answer.text(), { status, headers });
  };

export const reasonIn = (error: unknown): string =>
  (isSvcError(error) && error.hint !== undefined ? `${error.message} ${error.hint}` : error instanceof Error ? error.message : String(error)).slice(0, 500);
