/** What each platform needs to be set up, in a short form: name, kind (`s` secret, `t` text, `n` number, `l` list), `*` required, `~` advanced, `=VARIABLE`. */
export interface FieldSpec {
  readonly key: string;
  readonly type: 'secret' | 'text' | 'number' | 'list' | 'select';
  readonly required: boolean;
  readonly advanced: boolean;
  /** The variable that holds a secret, where none is stored. */
  readonly env?: string;
  readonly options?: readonly string[];
}

const SPECS: Readonly<Record<string, string>> = {
  telegram: 'bot_token_env:s*=TELEGRAM_BOT_TOKEN, allowed_users:l~, poll_interval_secs:n~, api_url:t~',
  discord: 'bot_token_env:s*=DISCORD_BOT_TOKEN, allowed_guilds:l~, allowed_users:l~, intents:n~, api_url:t~',
  slack: 'app_token_env:s*=SLACK_APP_TOKEN, bot_token_env:s*=SLACK_BOT_TOKEN, allowed_channels:l~, api_url:t~, signing_secret_env:s~',
  whatsapp: 'access_token_env:s~=WHATSAPP_ACCESS_TOKEN, phone_number_id:t~, verify_token_env:s~=WHATSAPP_VERIFY_TOKEN, webhook_port:n~',
  signal: 'api_url:t*, phone_number:t*',
  matrix: 'access_token_env:s*=MATRIX_ACCESS_TOKEN, homeserver_url:t*, user_id:t~, allowed_rooms:l~, allowed_users:l~',
  email: 'username:t*, password_env:s*=EMAIL_PASSWORD, imap_host:t*, smtp_host:t*, imap_port:n~, smtp_port:n~, security:(tls|starttls|none)~, address:t~, allowed_users:l~',
  line: 'channel_secret_env:s*=LINE_CHANNEL_SECRET, access_token_env:s*=LINE_CHANNEL_ACCESS_TOKEN, webhook_port:n~',
  viber: 'auth_token_env:s*=VIBER_AUTH_TOKEN, webhook_url:t~, webhook_port:n~',
  messenger: 'page_token_env:s*=MESSENGER_PAGE_TOKEN, verify_token_env:s~=MESSENGER_VERIFY_TOKEN, webhook_port:n~',
  threema: 'secret_env:s*=THREEMA_SECRET, threema_id:t*, webhook_port:n~',
  keybase: 'username:t*, paperkey_env:s*=KEYBASE_PAPERKEY, allowed_teams:l~',
  reddit: 'client_id:t*, client_secret_env:s*=REDDIT_CLIENT_SECRET, username:t*, password_env:s*=REDDIT_PASSWORD, subreddits:l~',
  mastodon: 'access_token_env:s*=MASTODON_ACCESS_TOKEN, instance_url:t*',
  bluesky: 'identifier:t*, app_password_env:s*=BLUESKY_APP_PASSWORD, service_url:t~',
  linkedin: 'access_token_env:s*=LINKEDIN_ACCESS_TOKEN, organization_id:t*',
  nostr: 'private_key_env:s*=NOSTR_PRIVATE_KEY, relays:l~',
  teams: 'app_id:t*, app_password_env:s*=TEAMS_APP_PASSWORD, webhook_port:n~',
  mattermost: 'server_url:t*, token_env:s*=MATTERMOST_TOKEN, allowed_channels:l~',
  webex: 'bot_token_env:s*=WEBEX_BOT_TOKEN, allowed_rooms:l~',
  google_chat: 'service_account_env:s*=GOOGLE_CHAT_SERVICE_ACCOUNT, space_ids:l~, webhook_port:n~',
  feishu: 'app_id:t*, app_secret_env:s*=FEISHU_APP_SECRET, webhook_port:n~',
  dingtalk:
    'receive_mode:(stream|webhook), app_key_env:s=DINGTALK_APP_KEY, app_secret_env:s=DINGTALK_APP_SECRET, access_token_env:s=DINGTALK_ACCESS_TOKEN, secret_env:s=DINGTALK_SECRET, webhook_port:n~',
  pumble: 'bot_token_env:s*=PUMBLE_BOT_TOKEN, webhook_port:n~',
  flock: 'bot_token_env:s*=FLOCK_BOT_TOKEN, webhook_port:n~',
  twist: 'token_env:s*=TWIST_TOKEN, workspace_id:t*, allowed_channels:l~',
  zulip: 'server_url:t*, bot_email:t*, api_key_env:s*=ZULIP_API_KEY, streams:l~',
  irc: 'server:t*, nick:t*, channels:l, port:n~, use_tls:t~',
  xmpp: 'jid:t*, password_env:s*=XMPP_PASSWORD, server:t~, port:n~, rooms:l~',
  gitter: 'token_env:s*=GITTER_TOKEN, room_id:t*',
  discourse: 'base_url:t*, api_key_env:s*=DISCOURSE_API_KEY, api_username:t~, categories:l~',
  revolt: 'bot_token_env:s*=REVOLT_BOT_TOKEN, api_url:t~',
  guilded: 'bot_token_env:s*=GUILDED_BOT_TOKEN, server_ids:l~',
  nextcloud: 'server_url:t*, token_env:s*=NEXTCLOUD_TOKEN, allowed_rooms:l~',
  rocketchat: 'server_url:t*, user_id:t*, token_env:s*=ROCKETCHAT_TOKEN, allowed_channels:l~',
  twitch: 'oauth_token_env:s*=TWITCH_OAUTH_TOKEN, nick:t*, channels:l*',
  ntfy: 'topic:t*, server_url:t~, token_env:s~=NTFY_TOKEN',
  gotify: 'server_url:t*, app_token_env:s*=GOTIFY_APP_TOKEN, client_token_env:s*=GOTIFY_CLIENT_TOKEN',
  webhook: 'secret_env:s*=WEBHOOK_SECRET, callback_url:t, listen_port:n~',
  mumble: 'host:t*, username:t*, password_env:s~=MUMBLE_PASSWORD, port:n~, channel:t~',
  wechat: 'bot_token_env:s~=WECHAT_BOT_TOKEN, allowed_users:l~',
  qq: 'app_id:t*, app_secret_env:s*=QQ_BOT_APP_SECRET, allowed_users:l~',
  wecom: 'bot_id:t*, secret_env:s*=WECOM_BOT_SECRET, mode:(websocket|callback), callback_url:t~, token_env:s~=WECOM_CALLBACK_TOKEN, encoding_aes_key_env:s~=WECOM_ENCODING_AES_KEY',
  mqtt: 'broker_url:t*, topic_in:t*, topic_out:t*, username:t~, password_env:s~=MQTT_PASSWORD, qos:n~',
};

export const DM_POLICIES = ['respond', 'allowed_only', 'ignore'] as const;
export const GROUP_POLICIES = ['all', 'mention_only', 'commands_only', 'ignore'] as const;

/** Of every channel. */
const COMMON: readonly FieldSpec[] = [
  { key: 'default_agent', type: 'text', required: false, advanced: true },
  { key: 'dm_policy', type: 'select', required: false, advanced: true, options: DM_POLICIES },
  { key: 'group_policy', type: 'select', required: false, advanced: true, options: GROUP_POLICIES },
];

const KINDS = { s: 'secret', t: 'text', n: 'number', l: 'list' } as const;
const FORM = /^(\w+):(?:([stnl])|\(([\w|]+)\))([*~]?)(?:=(\w+))?$/;

const fieldOf = (text: string): FieldSpec => {
  const [, key, kind, options, flag, env] = FORM.exec(text) ?? [];
  if (key === undefined) throw new Error(`a field of a channel is not readable: ${text}`);
  return {
    key,
    type: options === undefined ? KINDS[kind as keyof typeof KINDS] : 'select',
    required: flag === '*',
    advanced: flag === '~',
    ...(env === undefined ? {} : { env }),
    ...(options === undefined ? {} : { options: options.split('|') }),
  };
};

export const fieldsOf = (platform: string): readonly FieldSpec[] => [
  ...(SPECS[platform] ?? '')
    .split(', ')
    .filter((text) => text !== '')
    .map(fieldOf),
  ...COMMON,
];
