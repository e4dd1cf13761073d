/**
 * Slack's socket mode (docs.slack.dev/apis/events-api/using-socket-mode): one connection at a time, and the next one before Slack ends it.
 *
 * K1  An envelope is acknowledged when what it holds is stored; Slack sends it again otherwise.
 * K2  When Slack wants to renew the connection, a new one is open before the old one is left.
 */
import type { WebSocketConnection } from '@svc/api';
import { ChannelFault, type Connection } from '../adapter.js';
import { slackCall } from './web-api.js';

const PING_MS = 20_000;
const SILENT_MS = 90_000;
/** An old connection still gives what is on its way. */
const DRAIN_MS = 10_000;
const HELLO_MS = 20_000;

interface Envelope {
  readonly type?: string;
  readonly reason?: string;
  readonly envelope_id?: string;
  readonly payload?: { readonly event?: unknown };
}

export type SlackEvents = (event: unknown) => Promise<void>;

interface Line {
  readonly socket: WebSocketConnection;
  /** `renew`: Slack will end it. `lost`: it ended. */
  readonly ended: Promise<'renew' | 'lost'>;
}

/** Resolves when Slack greets. `onReady` is called then: what was missed can be read. */
const opened = async (connection: Connection, events: SlackEvents): Promise<Line> => {
  const { clock, signal } = connection;
  const { url } = await slackCall<{ readonly url: string }>(connection, 'apps.connections.open', {}, 'app_token_env');
  const socket = await connection.webSocket(url, { purpose: 'socket mode of Slack', signal, idleTimeoutMs: SILENT_MS });
  const over = new AbortController();
  void socket.closed.then(() => over.abort());
  let greeted = (): void => undefined;
  let renew = (_end: 'renew' | 'lost'): void => undefined;
  let fail = (_error: Error): void => undefined;
  const hello = new Promise<void>((resolve) => {
    greeted = resolve;
  });
  const ended = new Promise<'renew' | 'lost'>((resolve, reject) => {
    renew = resolve;
    fail = reject;
  });
  ended.catch(() => undefined); // whoever opens it looks at it later
  const take = async (message: string): Promise<void> => {
    const { type, reason, envelope_id: envelope, payload } = JSON.parse(message) as Envelope; // the platform's own form
    connection.alive();
    if (type === 'hello') greeted();
    else if (type === 'disconnect' && reason === 'link_disabled') fail(new ChannelFault('socket mode is switched off for the app', 'Switch on Socket Mode at api.slack.com/apps. svc goes on trying.'));
    else if (type === 'disconnect') renew('renew');
    else if (envelope !== undefined) {
      if (type === 'events_api') await events(payload?.event);
      await socket.send(JSON.stringify({ envelope_id: envelope }));
    }
  };
  const read = async (): Promise<void> => {
    for await (const message of socket.messages) await take(String(message));
    renew('lost');
  };
  read().catch((error: unknown) => {
    socket.close();
    fail(error instanceof Error ? error : new Error(String(error)));
  });
  pinged(connection, socket, over.signal).catch(() => undefined); // it is over then
  await Promise.race([
    hello,
    ended,
    clock.sleep(HELLO_MS, over.signal).then(
      () => socket.close(),
      () => undefined,
    ),
  ]);
  return { socket, ended };
};

/** Slack says nothing while nobody writes; a ping asks whether it is still there. */
const pinged = async ({ clock, alive }: Connection, socket: WebSocketConnection, over: AbortSignal): Promise<void> => {
  for (;;) {
    await clock.sleep(PING_MS, over);
    await socket.ping();
    alive();
  }
};

/** Goes on until the connection is lost. Throws a ChannelFault. */
export const playSocketMode = async (connection: Connection, events: SlackEvents, onOpen: () => void): Promise<void> => {
  const { clock, signal } = connection;
  let line = await opened(connection, events);
  onOpen();
  while (!signal.aborted) {
    const end = await line.ended;
    if (end === 'lost') return;
    const old = line;
    line = await opened(connection, events);
    clock.sleep(DRAIN_MS, signal).then(
      () => old.socket.close(),
      () => old.socket.close(),
    );
  }
};
