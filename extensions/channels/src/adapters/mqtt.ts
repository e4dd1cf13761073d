/**
 * Devices and programs on an MQTT broker, 3.1.1 and 5.
 *
 * M1  A message is acknowledged when it is stored (QoS 1 and 2); the session of the broker is kept, so that what came meanwhile is delivered later.
 * M2  The topic of answers is never one that is listened to: an answer would be answered.
 * M3  The response topic of a request (MQTT 5) wins over `topic_out`, with its correlation data.
 */
import { createHash } from 'node:crypto';
import { parsedUrl } from '@svc/api';
import type { IClientOptions, IPublishPacket, MqttClient } from 'mqtt';
import { type Account, numberField, textField } from '../account.js';
import { PLAIN } from '../document/formats.js';
import { type Adapter, ChannelFault, type Connection, type Incoming } from './adapter.js';
import { duplexOf } from './duplex.js';

const KEEPALIVE_SECS = 20;
const CONNECT_MS = 10_000;
const PUBLISH_MS = 15_000;
const IDLE_MS = 180_000;
const MAX_TEXT = 50_000;
const PORTS: Readonly<Record<string, number>> = { 'mqtt:': 1_883, 'mqtts:': 8_883 };

const urlOf = (account: Pick<Account, 'fields'>): URL => new URL(textField(account, 'broker_url'));
const portOf = (url: URL): number => Number(url.port) || (PORTS[url.protocol] ?? 1_883);

/** Whether a filter with wildcards covers a topic. */
export const covers = (filter: string, topic: string): boolean => {
  const [parts, names] = [filter.split('/'), topic.split('/')];
  for (const [index, part] of parts.entries()) {
    if (part === '#') return true;
    if (index >= names.length || (part !== '+' && part !== names[index])) return false;
  }
  return parts.length === names.length;
};

const lostFault = (why: string): ChannelFault => new ChannelFault(`the broker cannot be used: ${why}`, 'Check broker_url, user name and password, and that the broker runs.');

/** A client of its own over our connection. It never connects again by itself: the supervisor does. */
const opened = async (connection: Connection, options: Pick<IClientOptions, 'clean' | 'clientId'>): Promise<MqttClient> => {
  const { account, tcp, secrets } = connection;
  const url = urlOf(account);
  const username = textField(account, 'username');
  const password = await secrets.login(connection.secret('password_env'));
  const socket = await tcp.dial({ host: url.hostname, port: portOf(url), purpose: 'an MQTT broker', tls: url.protocol === 'mqtts:', idleTimeoutMs: IDLE_MS, signal: connection.signal });
  const { MqttClient: Client } = await import('mqtt');
  return new Client(() => duplexOf(socket) as never, {
    ...{ protocolVersion: 5, keepalive: KEEPALIVE_SECS, reconnectPeriod: 0, connectTimeout: CONNECT_MS, resubscribe: false, queueQoSZero: false },
    ...(options.clean === false ? { properties: { sessionExpiryInterval: 86_400 } } : {}),
    ...(username === '' ? {} : { username }),
    ...(password === undefined ? {} : { password }),
    ...options,
  });
};

const connected = (client: MqttClient): Promise<void> =>
  new Promise((resolve, reject) => {
    client.once('connect', () => resolve());
    client.once('error', (error) => reject(lostFault(error.message)));
    client.once('close', () => reject(lostFault('it closed the connection')));
  });

const idOf = (account: Account): string =>
  `svc-${createHash('sha256')
    .update(`${account.name}:${textField(account, 'topic_in')}:${account.ownerId}`)
    .digest('hex')
    .slice(0, 16)}`;

const incomingOf = (connection: Connection, topic: string, payload: Buffer, { properties, messageId }: IPublishPacket, session: string): Incoming | undefined => {
  const text = payload.toString('utf8').slice(0, MAX_TEXT);
  const said = objectIn(text);
  const message = said === undefined ? text : typeof said.message === 'string' ? said.message : '';
  if (message.trim() === '') return undefined;
  const sender = textOf(said?.sender_id) ?? topic;
  const name = textOf(said?.sender_name);
  const reply = properties?.responseTopic;
  return {
    // Without an id of its own a message is known by its packet, until the broker has its acknowledgement.
    id: textOf(said?.message_id) ?? (messageId === undefined ? connection.ids.uuid() : `${session}:${messageId}:${createHash('sha256').update(payload).digest('hex').slice(0, 16)}`),
    chat: reply ?? (sender === topic ? topic : sender),
    sender,
    text: message,
    ...(name === undefined ? {} : { senderName: name }),
    facts: { ...(reply === undefined ? {} : { topic: reply }), ...(properties?.correlationData === undefined ? {} : { correlation: properties.correlationData.toString('base64') }) },
  };
};

const objectIn = (text: string): Record<string, unknown> | undefined => {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    // Text that only looks like JSON is text.
    return undefined;
  }
};

const textOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value.slice(0, 200) : typeof value === 'number' ? String(value) : undefined);

const qosOf = (account: Account): 0 | 1 | 2 => {
  const qos = numberField(account, 'qos', 1);
  return qos === 0 || qos === 2 ? qos : 1;
};

/** A client that only publishes, for one message. The connection that listens may be another daemon's. */
const once = async <T>(connection: Connection, use: (client: MqttClient) => Promise<T>): Promise<T> => {
  const client = await opened(connection, { clean: true, clientId: `svc-${connection.ids.hex(8)}` });
  client.on('error', () => undefined);
  try {
    await connected(client);
    return await use(client);
  } finally {
    client.end(true);
  }
};

const limited = async <T>(connection: Connection, work: Promise<T>): Promise<T> => {
  const over = new AbortController();
  const late = connection.clock.sleep(PUBLISH_MS, over.signal).then(() => {
    throw new ChannelFault('the broker did not acknowledge the message', 'Check the broker.', 'unknown');
  });
  late.catch(() => undefined);
  return Promise.race([work, late]).finally(() => over.abort());
};

export const mqtt: Adapter = {
  id: 'mqtt',
  maxLength: 65_535,
  format: PLAIN,
  isKeyed: false,
  namesSenders: false,
  dmPolicy: 'respond',
  description: 'Devices and programs on an MQTT broker.',
  difficulty: 'Medium',
  setupTime: '~5 min',
  steps: [
    'Enter the address of the broker, such as mqtt://broker.local:1883 or mqtts://broker.example.com.',
    'Enter the topic that the agent listens to, and the topic of its answers.',
    'Enter user name and password, if the broker asks for them.',
  ],
  origins: (account) => [`tcp://${urlOf(account).hostname}:${portOf(urlOf(account))}`],
  fault: ({ broker_url: broker, topic_in: filter, topic_out: topic, qos }) => {
    const url = parsedUrl(String(broker));
    if (!url || PORTS[url.protocol] === undefined || url.hostname === '') return 'broker_url is no address such as mqtt://HOST:1883 or mqtts://HOST';
    if (url.username !== '' || url.password !== '') return 'broker_url contains a user name or password; use the fields username and password_env';
    if (/[+#]/.test(String(topic))) return 'topic_out has wildcards';
    if (covers(String(filter), String(topic))) return 'topic_out is a topic that topic_in listens to, so answers would be answered';
    return qos === undefined || [0, 1, 2].includes(Number(qos)) ? undefined : 'qos is none of 0, 1 and 2';
  },
  connect: async (connection) => {
    const { account, signal } = connection;
    const filter = textField(account, 'topic_in');
    const session = idOf(account);
    const client = await opened(connection, { clean: false, clientId: session });
    const stop = (): void => void client.end(true);
    signal.addEventListener('abort', stop, { once: true });
    const broken = new Promise<never>((_resolve, reject) => {
      client.on('error', (error) => reject(lostFault(error.message)));
      client.on('close', () => reject(lostFault('it closed the connection')));
    });
    broken.catch(() => undefined);
    client.on('packetreceive', () => connection.alive());
    // The acknowledgement goes out when this calls back.
    client.handleMessage = (packet, done) => {
      const message = incomingOf(connection, packet.topic, Buffer.isBuffer(packet.payload) ? packet.payload : Buffer.from(packet.payload), packet, session);
      if (!message || !covers(filter, packet.topic)) done();
      else connection.receive(message).then(() => done(), done);
    };
    try {
      await Promise.race([connected(client), broken]);
      await Promise.race([client.subscribeAsync(filter, { qos: qosOf(account), nl: true }), broken]);
      await broken;
    } finally {
      signal.removeEventListener('abort', stop);
      client.end(true);
    }
  },
  send: (connection, { chat, text, facts }) =>
    once(connection, async (client) => {
      const { account } = connection;
      const filter = textField(account, 'topic_in');
      const topic = facts.topic ?? textField(account, 'topic_out');
      if (covers(filter, topic) || /[+#]/.test(topic)) throw new ChannelFault(`the answer would go to ${topic}, which the channel listens to`, 'Use another response topic.', 'never');
      const properties = facts.correlation === undefined ? {} : { properties: { correlationData: Buffer.from(facts.correlation, 'base64') } };
      const body = facts.topic === undefined && chat !== '' && !covers(filter, chat) ? JSON.stringify({ recipient_id: chat, message: text }) : text;
      await limited(connection, client.publishAsync(topic, body, { qos: qosOf(account), ...properties }));
      return undefined;
    }),
  check: (connection) => once(connection, async () => `The broker at ${urlOf(connection.account).host} accepts the connection.`),
};
