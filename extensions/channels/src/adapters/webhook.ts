/**
 * Any program that can send and receive HTTP: signed both ways.
 *
 * W1  A message is accepted with a signature of its exact bytes by the channel's secret, and a time of the last five minutes where it says one.
 * W2  The same message_id, and the same bytes at the same time, are one message.
 * W3  An answer goes to `callback_url`, signed in the same way, with one id for all attempts; private addresses are refused when it is sent.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isSvcError, type Req } from '@svc/api';
import { type Account, textField } from '../account.js';
import { PLAIN } from '../document/formats.js';
import { channelErrors } from '../errors.js';
import { type Adapter, ChannelFault, type Connection, type Incoming } from './adapter.js';
import { faultOfStatus, retryAfterMs } from './http.js';

const SKEW_MS = 300_000;
const TIMEOUT_MS = 30_000;
const MAX_ANSWER = 65_536;
const MAX_TEXT = 50_000;
const encoder = new TextEncoder();

const signatureOf = async ({ secrets, secret }: Pick<Connection, 'secrets' | 'secret'>, body: Uint8Array): Promise<string> => {
  const digest = await secrets.hmac(secret('secret_env').secret, body, { algorithm: 'sha256', key: 'utf8' });
  if (!digest) throw channelErrors.bad_signature('the secret of the channel is not stored');
  return `sha256=${Buffer.from(digest).toString('hex')}`;
};

export const isEqual = (a: string, b: string): boolean => a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

interface Body {
  readonly sender_id?: unknown;
  readonly sender_name?: unknown;
  readonly message?: unknown;
  readonly thread_id?: unknown;
  readonly is_group?: unknown;
  readonly metadata?: { readonly message_id?: unknown } | null;
}

/** What a request says, once its signature holds; undefined for an empty message. Throws `channels_bad_signature`, `channels_bad_message`. */
const acceptedWebhook = async (connection: Pick<Connection, 'secrets' | 'secret' | 'clock' | 'ids' | 'account'>, headers: Req['headers'], body: Uint8Array): Promise<Incoming | undefined> => {
  const given = headers['x-webhook-signature'] ?? '';
  if (!isEqual(given.toLowerCase(), await signatureOf(connection, body))) throw channelErrors.bad_signature('its signature does not fit');
  const stamp = headers['x-webhook-timestamp'];
  if (stamp !== undefined) {
    if (!/^\d{1,16}$/.test(stamp)) throw channelErrors.bad_message('X-Webhook-Timestamp is no number of milliseconds');
    if (Math.abs(connection.clock.now() - Number(stamp)) > SKEW_MS) throw channelErrors.bad_signature('it is older than five minutes, or its clock is wrong');
  }
  const said = readBody(body);
  const text = typeof said.message === 'string' ? said.message.slice(0, MAX_TEXT) : '';
  if (text.trim() === '') return undefined;
  const sender = textOf(said.sender_id) ?? 'webhook';
  const messageId = textOf(said.metadata?.message_id);
  const hash = (): string => createHash('sha256').update(body).digest('hex');
  const thread = textOf(said.thread_id);
  const name = textOf(said.sender_name);
  return {
    id: messageId ?? (stamp === undefined ? connection.ids.uuid() : `${stamp}:${hash()}`),
    chat: sender,
    sender,
    text,
    ...(thread === undefined ? {} : { thread }),
    ...(name === undefined ? {} : { senderName: name }),
    isGroup: said.is_group === true,
    isMentioned: true,
    facts: name === undefined ? {} : { name },
  };
};

export const readBody = (body: Uint8Array): Body => {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Body;
  } catch {
    throw channelErrors.bad_message('it is no JSON');
  }
  throw channelErrors.bad_message('it is no JSON object');
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value.slice(0, 200) : typeof value === 'number' ? String(value) : undefined);

const callbackOf = (account: Account): string => textField(account, 'callback_url');

export const webhook: Adapter = {
  id: 'webhook',
  maxLength: 65_535,
  format: PLAIN,
  isKeyed: true,
  namesSenders: false,
  dmPolicy: 'respond',
  description: 'Any program that can send and receive HTTP.',
  difficulty: 'Easy',
  setupTime: '~2 min',
  steps: ['Choose a long random text as the secret.', 'Enter the address that answers are sent to, if you want them.', 'Send messages to the endpoint of this channel, signed with the secret.'],
  origins: () => [],
  fault: ({ callback_url: url }) => (url === undefined || /^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'callback_url is not an address'),
  accept: async (connection, headers, body) => {
    const message = await acceptedWebhook(connection, headers, body);
    return { status: message === undefined ? 'ignored' : (await connection.receive(message)) ? 'accepted' : 'duplicate' };
  },
  send: async (connection, { key, chat, text, facts }) => {
    const url = callbackOf(connection.account);
    if (url === '') throw new ChannelFault('the channel has no callback_url', 'Set callback_url to receive answers.', 'never');
    const now = connection.clock.now();
    const body = JSON.stringify({
      sender_id: 'svc',
      sender_name: 'svc',
      recipient_id: chat,
      recipient_name: facts.name ?? chat,
      message: text,
      timestamp: new Date(now).toISOString(),
      metadata: { message_id: key },
    });
    const headers = { 'content-type': 'application/json', 'x-webhook-signature': await signatureOf(connection, encoder.encode(body)), 'x-webhook-timestamp': String(now), 'idempotency-key': key };
    const response = await connection
      .fetch(url, { purpose: 'webhook', method: 'POST', headers, body, redirect: 'manual', timeoutMs: TIMEOUT_MS, maxBytes: MAX_ANSWER, signal: connection.signal })
      .catch((error: unknown) => {
        if (isSvcError(error) && error.code === 'fetch_refused_address') throw new ChannelFault(error.message, 'Use a public address, or add its host to [web.fetch] ssrf_allowed_hosts.', 'never');
        throw error;
      });
    response.cancel();
    if (response.status < 200 || response.status > 299) throw faultOfStatus('The callback', response.status, '', retryAfterMs(response.headers['retry-after'], now));
    return undefined;
  },
  check: async ({ account, secrets, secret }) => {
    if ((await secrets.where(secret('secret_env'))) === undefined) throw new ChannelFault('the secret is missing', 'Configure the channel with a secret.', 'never');
    return callbackOf(account) === '' ? 'Messages are accepted; there is no callback_url, so answers are not sent.' : `Messages are accepted; answers go to ${callbackOf(account)}.`;
  },
};
