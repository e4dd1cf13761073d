/**
 * ntfy: what is published to a topic, and answers as notifications (docs.ntfy.sh).
 *
 * N1  Our own messages come back on the topic; they bear a tag, and are not answered.
 * N2  Reading goes on behind the last message that was stored: what came while the daemon was down is fetched.
 */
import { textField } from '../account.js';
import { PLAIN } from '../document/formats.js';
import { type Adapter, ChannelFault, type Connection } from './adapter.js';
import { faultOfStatus, jsonLines, request, retryAfterMs, withoutSlash } from './http.js';

const SERVER = 'https://ntfy.sh';
const OWN_TAG = 'svc-answer';
const MAX_LINE = 65_536;
const SILENT_MS = 100_000;

interface Event {
  readonly id?: string;
  readonly event?: string;
  readonly topic?: string;
  readonly message?: string;
  readonly title?: string;
  readonly tags?: readonly string[];
}

const base = ({ account }: Pick<Connection, 'account'>): string => withoutSlash(textField(account, 'server_url') || SERVER);

const auth = async (connection: Connection): Promise<{ secretHeaders?: Record<string, { secret: string; prefix: string }> }> => {
  const ref = connection.secret('token_env');
  return (await connection.secrets.where(ref)) === undefined ? {} : { secretHeaders: { authorization: { ...ref, prefix: 'Bearer ' } } };
};

const refused = async (connection: Connection, response: { status: number; headers: Readonly<Record<string, string>>; text(): Promise<string> }): Promise<ChannelFault> => {
  const { error = '' } = JSON.parse((await response.text().catch(() => '')) || '{}') as { error?: string };
  return faultOfStatus('ntfy', response.status, String(error).slice(0, 200), retryAfterMs(response.headers['retry-after'], connection.clock.now()));
};

export const ntfy: Adapter = {
  id: 'ntfy',
  maxLength: 3_900,
  format: { ...PLAIN, limit: 3_900 },
  isKeyed: false,
  namesSenders: false,
  dmPolicy: 'respond',
  description: 'Push notifications of ntfy, and what people publish to a topic.',
  difficulty: 'Easy',
  setupTime: '~1 min',
  steps: [
    'Choose a topic that nobody guesses: who knows its name can write to your agent.',
    'Enter the topic; of a server of your own, also its address and an access token.',
    'Subscribe to the topic in the ntfy app.',
  ],
  origins: (account) => [withoutSlash(textField(account, 'server_url') || SERVER)],
  fault: ({ topic, server_url: url }) => {
    if (!/^[A-Za-z0-9_-]{1,64}$/.test(String(topic))) return 'topic has other characters than letters, digits, _ and -';
    return url === undefined || /^https?:\/\/[^\s/]+/.test(String(url)) ? undefined : 'server_url is not an address';
  },
  connect: async (connection) => {
    const topic = textField(connection.account, 'topic');
    const since = connection.place === undefined ? '' : `?since=${encodeURIComponent(connection.place)}`;
    const response = await request(connection, `${base(connection)}/${topic}/json${since}`, { ...(await auth(connection)), isEndless: true, idleTimeoutMs: SILENT_MS });
    if (response.status !== 200) throw await refused(connection, response);
    for await (const line of jsonLines(response.body, MAX_LINE)) {
      connection.alive();
      const { id, event, message, title, tags = [] } = (line ?? {}) as Event;
      if (event !== 'message' || id === undefined || message === undefined || tags.includes(OWN_TAG)) continue;
      await connection.receive({ id, chat: topic, sender: topic, text: title === undefined ? message : `${title}\n${message}`, place: id });
    }
    throw new ChannelFault('ntfy closed the connection', 'svc connects again.');
  },
  send: async (connection, { chat, text }) => {
    const response = await request(connection, base(connection), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ topic: chat, message: text, tags: [OWN_TAG] }),
      ...(await auth(connection)),
    });
    if (response.status !== 200) throw await refused(connection, response);
    const { id } = (await response.json()) as Event;
    return id;
  },
  check: async (connection) => {
    const topic = textField(connection.account, 'topic');
    const response = await request(connection, `${base(connection)}/${topic}/json?poll=1&since=none`, await auth(connection));
    if (response.status !== 200) throw await refused(connection, response);
    response.cancel();
    return `ntfy serves the topic ${topic}.`;
  },
};
