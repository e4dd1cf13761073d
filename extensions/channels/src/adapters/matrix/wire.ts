/** Matrix's client-server API (spec.matrix.org, v1.11), as far as a bot needs it. */
import { isSvcError, type FetchInit } from '@svc/api';
import { textField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';
import { faultOfStatus, request, retryAfterMs, withoutSlash } from '../http.js';

export interface MatrixEvent {
  readonly event_id: string;
  readonly type: string;
  readonly sender: string;
  readonly state_key?: string;
  /** What is taken back, in rooms of older versions. */
  readonly redacts?: string;
  readonly content: MessageContent;
}

/** What others wrote: each part may be anything. */
export interface MessageContent {
  readonly msgtype?: unknown;
  readonly body?: unknown;
  readonly membership?: unknown;
  readonly redacts?: unknown;
  readonly 'm.new_content'?: { readonly body?: unknown } | null;
  readonly is_direct?: unknown;
  readonly 'm.mentions'?: { readonly user_ids?: unknown } | null;
  readonly 'm.relates_to'?: { readonly rel_type?: unknown; readonly event_id?: unknown; readonly 'm.in_reply_to'?: { readonly event_id?: unknown } | null } | null;
}

export interface SyncAnswer {
  readonly next_batch: string;
  readonly rooms?: {
    readonly join?: Readonly<Record<string, { readonly timeline?: { readonly events?: readonly MatrixEvent[]; readonly limited?: boolean; readonly prev_batch?: string } }>>;
    readonly invite?: Readonly<Record<string, { readonly invite_state?: { readonly events?: readonly MatrixEvent[] } }>>;
  };
}

interface Failure {
  readonly errcode?: string;
  readonly error?: string;
  readonly retry_after_ms?: number;
}

const API = '/_matrix/client/v3';

export const homeserver = ({ account }: Pick<Connection, 'account'>): string => withoutSlash(textField(account, 'homeserver_url'));

/** A path segment. */
export const part = encodeURIComponent;

/** Throws a ChannelFault for whatever is no success. */
export const call = async <T>(connection: Connection, method: 'GET' | 'POST' | 'PUT', path: string, body?: object, more: Pick<FetchInit, 'timeoutMs'> = {}): Promise<T> => {
  const response = await request(connection, `${homeserver(connection)}${API}${path}`, {
    method,
    headers: body === undefined ? {} : { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    secretHeaders: { authorization: { ...connection.secret('access_token_env'), prefix: 'Bearer ' } },
    ...more,
  });
  const answer = (await response.json().catch((error: unknown) => {
    if (isSvcError(error) && error.code === 'fetch_bad_body') return {};
    throw error;
  })) as Failure & T; // the homeserver's own form
  if (response.status === 200) return answer;
  const { errcode = '', error = '', retry_after_ms: waitMs } = answer;
  if (errcode === 'M_UNKNOWN_TOKEN' || errcode === 'M_MISSING_TOKEN')
    throw new ChannelFault(`the homeserver does not know the access token (${errcode})`, 'Log the bot in again, and configure the channel with the new token.');
  throw faultOfStatus(
    'The homeserver',
    response.status,
    `${errcode} ${String(error).slice(0, 200)}`.trim(),
    typeof waitMs === 'number' ? waitMs : retryAfterMs(response.headers['retry-after'], connection.clock.now()),
  );
};
