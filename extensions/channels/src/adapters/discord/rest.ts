/**
 * Discord's REST API (discord.com/developers/docs/reference), within its rate limits.
 *
 * D3  A bucket that is used up is waited for, and so is what a 429 says: of one route, or of all.
 */
import { isSvcError } from '@svc/api';
import { textField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';
import type { Form } from '../form.js';
import { request, withoutSlash } from '../http.js';

const API = 'https://discord.com/api/v10';
const SECOND_MS = 1_000;
/** A shorter wait is waited here; a longer one is the outbox's. */
const PATIENCE_MS = 3_000;
const MOST_ROUTES = 2_000;
/** Of every route. */
const GLOBAL = 'global';

export interface DiscordRest {
  call<T>(connection: Connection, method: 'GET' | 'POST', path: string, body?: object | Form): Promise<T>;
}

interface Refusal {
  readonly code?: number;
  readonly message?: string;
  readonly retry_after?: number;
  readonly global?: boolean;
}

export const discordApi = ({ account }: Pick<Connection, 'account'>): string => withoutSlash(textField(account, 'api_url') || API);

const FILE_MS = 120_000;
const isForm = (body: object): body is Form => 'bytes' in body && body.bytes instanceof Uint8Array;

/** Ids that limits are counted by stay; those of messages go. */
const routeOf = (method: string, path: string): string => `${method} ${path.replace(/\?.*$/, '').replace(/(\/messages\/)\d+/, '$1id')}`;

export const createDiscordRest = (): DiscordRest => {
  const blocked = new Map<string, number>();
  const block = (account: string, route: string, until: number): void => {
    if (blocked.size >= MOST_ROUTES) blocked.clear();
    blocked.set(`${account} ${route}`, until);
  };
  return {
    call: async <T>(connection: Connection, method: 'GET' | 'POST', path: string, body?: object | Form): Promise<T> => {
      const { account, clock, signal } = connection;
      const route = routeOf(method, path);
      const until = Math.max(blocked.get(`${account.name} ${route}`) ?? 0, blocked.get(`${account.name} ${GLOBAL}`) ?? 0);
      const waitMs = until - clock.now();
      if (waitMs > PATIENCE_MS) throw limited(waitMs);
      if (waitMs > 0) await clock.sleep(waitMs, signal);
      const response = await request(connection, `${discordApi(connection)}${path}`, {
        method,
        headers: { 'user-agent': 'DiscordBot (svc, 1)', ...(body === undefined ? {} : { 'content-type': isForm(body) ? body.type : 'application/json' }) },
        ...(body === undefined ? {} : { body: isForm(body) ? body.bytes : JSON.stringify(body) }),
        ...(body !== undefined && isForm(body) ? { timeoutMs: FILE_MS } : {}),
        secretHeaders: { authorization: { ...connection.secret('bot_token_env'), prefix: 'Bot ' } },
      });
      const { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset-after': resetAfter } = response.headers;
      if (remaining === '0') block(account.name, route, clock.now() + Number(resetAfter ?? 1) * SECOND_MS);
      if (response.status < 300) return (response.status === 204 ? undefined : await response.json()) as T; // the platform's own form
      const refusal = (await response.json().catch((error: unknown) => {
        if (isSvcError(error) && error.code === 'fetch_bad_body') return {};
        throw error;
      })) as Refusal;
      if (response.status !== 429) throw faultOf(response.status, refusal);
      const pauseMs = (refusal.retry_after ?? Number(response.headers['retry-after'] ?? 1)) * SECOND_MS;
      block(account.name, refusal.global === true ? GLOBAL : route, clock.now() + pauseMs);
      throw limited(pauseMs);
    },
  };
};

const limited = (waitMs: number): ChannelFault => new ChannelFault('Discord answered 429: too many requests', 'svc waits as long as it was asked to.', 'later', waitMs);

export const TOKEN_FIX = 'Copy the token from the page Bot of your application at discord.com/developers, and configure the channel again.';

const faultOf = (status: number, { code, message = '' }: Refusal): ChannelFault => {
  const said = `Discord answered ${status}${message === '' ? '' : `: ${message}`}${code === undefined ? '' : ` (${code})`}`;
  if (status === 401) return new ChannelFault('Discord does not know the token (401)', TOKEN_FIX);
  if (status >= 500) return new ChannelFault(said, 'Wait until Discord works again.');
  if (status === 403)
    return new ChannelFault(said, 'Let the bot see the channel and write in it. A person can be written to only if they share a server with the bot and accept messages from it.', 'never');
  return new ChannelFault(said, 'Check where the message goes.', 'never');
};
