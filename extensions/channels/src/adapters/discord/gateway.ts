/**
 * One connection to Discord's gateway (discord.com/developers/docs/events/gateway): hello, identify or resume, heartbeats, events in their order.
 *
 * G1  A session is resumed where Discord lets it be: events of the pause come then. Where it does not, a new one begins.
 * G2  A heartbeat that is not answered means that the connection is dead, whatever TCP says.
 */
import type { GatewayReceivePayload } from 'discord-api-types/v10';
import { ChannelFault, type Connection } from '../adapter.js';
import { TOKEN_FIX } from './rest.js';

const [DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK] = [0, 1, 2, 6, 7, 9, 10, 11] as const;
/** A goodbye that keeps the session; 1000 and 1001 would end it. */
export const KEEP_SESSION = 4_000;
const HELLO_MS = 20_000;
const LEAST_BEAT_MS = 1_000;
const MAX_MESSAGE_BYTES = 16 * 1_048_576;

export interface Session {
  readonly id: string;
  readonly url: string;
  readonly seq: number;
}

/** What happens with events, and what is known of the session. */
export interface Listener {
  session(): Session | undefined;
  /** In their order, one after another. */
  event(name: string, data: unknown, seq: number): Promise<void>;
}

export interface GatewayEnd {
  readonly code: number;
  readonly reason: string;
  /** It came so far that events could flow. */
  readonly wasReady: boolean;
  /** What Discord said of the session. */
  readonly session: 'resumable' | 'over';
}

const PORTAL = 'discord.com/developers';
const FAULTS: Readonly<Record<number, readonly [problem: string, fix: string]>> = {
  4004: ['Discord does not know the token (4004)', TOKEN_FIX],
  4010: ['Discord refused the shard (4010)', 'This is an error of svc. Please report it.'],
  4011: ['the bot is in more servers than one connection serves (4011)', 'Use a bot of its own for svc, in fewer than 2,500 servers.'],
  4012: ['Discord refused the version of the protocol (4012)', 'Update svc.'],
  4013: ['Discord does not know these intents (4013)', 'Leave the field intents empty, and configure the channel again.'],
  4014: [
    'the bot may not use the intents that it asks for (4014)',
    `Switch on "Message Content Intent" on the page Bot of your application at ${PORTAL}. svc goes on trying. If you set the field intents, ask for fewer.`,
  ],
};
/** The session is over with these: not authenticated, a wrong number, timed out. */
const OVER: ReadonlySet<number> = new Set([4_003, 4_007, 4_009]);

/** Plays one connection to its end. Throws a ChannelFault where trying again at once is of no use. */
export const playGateway = async (connection: Connection, url: string, intents: number, listener: Listener): Promise<GatewayEnd> => {
  const { clock, ids, signal } = connection;
  const socket = await connection.webSocket(`${url.replace(/\/+$/, '')}/?v=10&encoding=json`, {
    purpose: 'the gateway of Discord',
    signal,
    closeCode: KEEP_SESSION,
    maxMessageBytes: MAX_MESSAGE_BYTES,
  });
  const over = new AbortController();
  let isAcknowledged = true;
  let wasReady = false;
  let session: GatewayEnd['session'] = 'resumable';
  let lastSeq = listener.session()?.seq ?? null;
  const send = (op: number, d: unknown): Promise<void> => socket.send(JSON.stringify({ op, d }));
  const beat = async (everyMs: number): Promise<void> => {
    await clock.sleep(everyMs * ids.random(), over.signal);
    while (!over.signal.aborted) {
      if (!isAcknowledged) return socket.close(KEEP_SESSION, 'a heartbeat was not answered');
      isAcknowledged = false;
      await send(HEARTBEAT, lastSeq);
      await clock.sleep(everyMs, over.signal);
    }
  };
  const greet = async (everyMs: number): Promise<void> => {
    greeted.abort();
    beat(Math.max(LEAST_BEAT_MS, everyMs)).catch(() => undefined); // the connection is over
    const token = (await connection.secrets.login(connection.secret('bot_token_env'))) ?? '';
    const known = listener.session();
    if (known) return send(RESUME, { token, session_id: known.id, seq: known.seq });
    await send(IDENTIFY, { token, intents, properties: { os: 'linux', browser: 'svc', device: 'svc' } });
  };
  const greeted = new AbortController();
  clock.sleep(HELLO_MS, AbortSignal.any([over.signal, greeted.signal])).then(
    () => socket.close(KEEP_SESSION, 'no hello'),
    () => undefined,
  );
  try {
    for await (const message of socket.messages) {
      const payload = JSON.parse(String(message)) as GatewayReceivePayload; // the platform's own form
      connection.alive();
      if (payload.op === HELLO) await greet(payload.d.heartbeat_interval);
      else if (payload.op === ACK) isAcknowledged = true;
      else if (payload.op === HEARTBEAT) await send(HEARTBEAT, lastSeq);
      else if (payload.op === RECONNECT) socket.close(KEEP_SESSION, 'asked to');
      else if (payload.op === INVALID) {
        session = payload.d ? 'resumable' : 'over';
        socket.close(KEEP_SESSION, 'the session is invalid');
      } else if (payload.op === DISPATCH) {
        if (payload.t === 'READY' || payload.t === 'RESUMED') wasReady = true;
        await listener.event(payload.t, payload.d, payload.s);
        lastSeq = payload.s;
      }
    }
  } finally {
    over.abort();
    socket.close(KEEP_SESSION);
  }
  const { code, reason } = await socket.closed;
  const fault = FAULTS[code];
  if (fault) throw new ChannelFault(...fault);
  return { code, reason, wasReady, session: OVER.has(code) ? 'over' : session };
};
