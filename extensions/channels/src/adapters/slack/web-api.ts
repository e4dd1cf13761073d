/** Slack's Web API (docs.slack.dev/apis/web-api): calls with a token, and what its errors mean. */
import { isSvcError } from '@svc/api';
import { textField } from '../../account.js';
import { ChannelFault, type Connection } from '../adapter.js';
import { faultOfStatus, request, retryAfterMs, withoutSlash } from '../http.js';

const API = 'https://slack.com/api';
const RATE_FIX = 'svc waits as long as it was asked to.';

/** The two tokens of an app: of the app itself for its socket, of its bot for everything else. */
export type SlackToken = 'app_token_env' | 'bot_token_env';

interface Answer {
  readonly ok: boolean;
  readonly error?: string;
  readonly needed?: string;
}

export const slackApi = ({ account }: Pick<Connection, 'account'>): string => withoutSlash(textField(account, 'api_url') || API);

const TOKEN_ERRORS: ReadonlySet<string> = new Set(['invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'not_allowed_token_type']);
/** These pass by themselves. */
const PASSING: ReadonlySet<string> = new Set(['internal_error', 'fatal_error', 'service_unavailable', 'request_timeout', 'team_added_to_org']);

export const slackCall = async <T>(connection: Connection, method: string, fields: Readonly<Record<string, string>>, token: SlackToken = 'bot_token_env', timeoutMs?: number): Promise<T> => {
  const response = await request(connection, `${slackApi(connection)}/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(fields).toString(),
    secretHeaders: { authorization: { ...connection.secret(token), prefix: 'Bearer ' } },
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  const waitMs = retryAfterMs(response.headers['retry-after'], connection.clock.now());
  if (response.status === 429) throw new ChannelFault(`Slack answered 429 to ${method}: too many requests`, RATE_FIX, 'later', waitMs ?? 1_000);
  const answer = (await response.json().catch((error: unknown) => {
    if (isSvcError(error) && error.code === 'fetch_bad_body') throw faultOfStatus('Slack', response.status >= 400 ? response.status : 502, 'no JSON');
    throw error;
  })) as Answer & T; // the platform's own form
  if (answer.ok) return answer;
  throw faultOf(method, token, answer, waitMs);
};

const faultOf = (method: string, token: SlackToken, { error = 'unknown', needed }: Answer, waitMs: number | undefined): ChannelFault => {
  const said = `Slack refused ${method}: ${error}`;
  const which = token === 'app_token_env' ? 'the app-level token (xapp-…) from the page Basic Information' : 'the bot token (xoxb-…) from the page OAuth & Permissions';
  if (TOKEN_ERRORS.has(error)) return new ChannelFault(said, `Copy ${which} of your app at api.slack.com/apps, and configure the channel again.`);
  if (error === 'missing_scope')
    return new ChannelFault(`${said} (${needed})`, `Add the scope ${needed} to your app at api.slack.com/apps, install it again, and configure the channel again.`, 'never');
  if (error === 'ratelimited') return new ChannelFault(said, RATE_FIX, 'later', waitMs ?? 1_000);
  if (error === 'not_in_channel' || error === 'channel_not_found') return new ChannelFault(said, 'Invite the bot to the channel, and name the channel by its id.', 'never');
  return new ChannelFault(said, 'Check the app at api.slack.com/apps.', PASSING.has(error) ? 'later' : 'never');
};
