/**
 * Slack's Events API over HTTP (docs.slack.dev/apis/events-api), beside socket mode: Slack calls `/api/channels/slack/webhook`.
 *
 * V1  An event is taken with a signature of its exact bytes by the app's signing secret, and a time of the last five minutes. Slack is answered when it is
 *     stored; what Slack sends again is one message.
 */
import type { Req } from '@svc/api';
import { channelErrors } from '../../errors.js';
import type { Accepted, Connection } from '../adapter.js';
import { isEqual, readBody } from '../webhook.js';
import { createSlackReader } from './reader.js';
import { slackCall } from './web-api.js';

const SKEW_SECS = 300;
const SECOND_MS = 1_000;
const FIELD = 'signing_secret_env';

/** Then Slack calls svc, and socket mode is not used. */
export const isCalled = async ({ secrets, secret }: Pick<Connection, 'secrets' | 'secret'>): Promise<boolean> => (await secrets.where(secret(FIELD))) === 'stored';

interface Delivered {
  readonly type?: unknown;
  readonly challenge?: unknown;
  readonly event?: unknown;
  readonly authorizations?: ReadonlyArray<{ readonly user_id?: unknown; readonly is_bot?: unknown }>;
}

const verify = async ({ clock, secrets, secret }: Connection, headers: Req['headers'], body: Uint8Array): Promise<void> => {
  const stamp = headers['x-slack-request-timestamp'] ?? '';
  if (!/^\d{1,12}$/.test(stamp) || Math.abs(clock.now() / SECOND_MS - Number(stamp)) > SKEW_SECS) throw channelErrors.bad_signature('it is older than five minutes, or its clock is wrong');
  const digest = await secrets.hmac(secret(FIELD).secret, Buffer.concat([Buffer.from(`v0:${stamp}:`), body]), { algorithm: 'sha256', key: 'utf8' });
  if (!digest) throw channelErrors.bad_signature('the signing secret of the app is not stored');
  if (!isEqual((headers['x-slack-signature'] ?? '').toLowerCase(), `v0=${Buffer.from(digest).toString('hex')}`)) throw channelErrors.bad_signature('its signature does not fit');
};

export const acceptSlack = async (connection: Connection, headers: Req['headers'], body: Uint8Array): Promise<Accepted> => {
  await verify(connection, headers, body);
  const { type, challenge, event, authorizations = [] } = readBody(body) as Delivered;
  if (type === 'url_verification' && typeof challenge === 'string') return { status: 'ignored', challenge: challenge.slice(0, 1_000) };
  if (type !== 'event_callback') return { status: 'ignored' };
  const named = Array.isArray(authorizations) ? authorizations.find((one) => one?.is_bot === true)?.user_id : undefined;
  const userId = typeof named === 'string' ? named : (await slackCall<{ readonly user_id: string }>(connection, 'auth.test', {})).user_id;
  connection.alive();
  await createSlackReader(connection, { userId, botId: '' }).event(event);
  return { status: 'accepted' };
};

const BEAT_MS = 30_000;

/** Where Slack calls svc there is nothing to hold open: Slack is asked now and then whether it still knows the bot. */
export const beCalled = async (connection: Connection): Promise<void> => {
  const { clock, signal } = connection;
  while (!signal.aborted) {
    await clock.sleep(BEAT_MS, signal);
    await slackCall(connection, 'auth.test', {});
    connection.alive();
  }
};
