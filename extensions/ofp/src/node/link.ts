/**
 * One authenticated connection.
 *
 * L1  Requests of the other side are answered one at a time, in their order, and before the connection is closed.
 * L2  Answers to our requests come through meanwhile: two nodes that ask each other do not wait for each other.
 * L3  What waits here is bounded; who sends more is disconnected.
 */
import type { Clock, Logger, TcpConnection } from '@svc/api';
import { type FrameReader, sealedFrame, WireFault, writeFrame } from '../wire/frames.js';
import type { Established } from '../wire/handshake.js';
import { type Incoming, type NotificationBody, type Outgoing, readMessage, type RequestBody, type ResponseBody } from '../wire/messages.js';
import type { Link } from './registry.js';

const MAX_QUEUED = 64;
const MAX_PENDING = 256;
const MAX_MESSAGE_BYTES = 65_536;
const MAX_NAME = 256;

/** What is answered, with the parts that wait for their turn cut to a length. */
export type Asked = { readonly method: 'discover'; readonly query: string } | { readonly method: 'agent_message'; readonly agent: string; readonly message: string; readonly sender: string | null };

export interface LinkDeps {
  readonly clock: Pick<Clock, 'mono' | 'sleep'>;
  readonly log: Logger;
  uuid(): string;
  uptimeSecs(): number;
  answer(nodeId: string, asked: Asked, signal: AbortSignal): Promise<ResponseBody>;
  notified(nodeId: string, body: NotificationBody): void;
  /** Each message in either direction. */
  passed(nodeId: string, direction: 'sent' | 'received'): void;
}

interface Waiting {
  resolve(body: ResponseBody): void;
  reject(error: Error): void;
}

export interface OpenLink extends Link {
  /** Until the connection ends. Never rejects. */
  run(): Promise<void>;
}

type RequestOf = Extract<Incoming, { type: 'request' }>['body'];

export const openLink = (deps: LinkDeps, connection: Pick<TcpConnection, 'write' | 'close'>, reader: Pick<FrameReader, 'sealed'>, { hello: { node_id: nodeId }, key }: Established): OpenLink => {
  const pending = new Map<string, Waiting>();
  const gone = new AbortController();
  let receivedAt = deps.clock.mono();
  let written: Promise<void> = Promise.resolve();
  let writing = 0;
  const send = (message: Outgoing): Promise<void> => {
    const frame = sealedFrame(message, key);
    // A frame goes out whole before the next one begins; the first write of all begins at once.
    writing += 1;
    const own = written.then(() => writeFrame(connection, frame)).finally(() => writing--);
    written = own.catch(() => connection.close());
    deps.passed(nodeId, 'sent');
    return own;
  };
  const replyTo = async (body: RequestOf): Promise<ResponseBody> => {
    if (body.method === 'ping') return { method: 'pong', uptime_secs: deps.uptimeSecs() };
    if (body.method === 'handshake' || body.method === 'unknown') return { method: 'error', code: 400, message: 'Unexpected request in connection loop' };
    if (body.method === 'discover') return deps.answer(nodeId, { method: 'discover', query: body.query.slice(0, MAX_NAME) }, gone.signal);
    const size = Buffer.byteLength(body.message);
    if (size > MAX_MESSAGE_BYTES) return { method: 'error', code: 413, message: `Message payload too large: ${size} bytes (max ${MAX_MESSAGE_BYTES})` };
    return deps.answer(nodeId, body, gone.signal);
  };
  const settle = (id: string, body: Extract<Incoming, { type: 'response' }>['body']): void => {
    const waiting = pending.get(id);
    pending.delete(id);
    if (!waiting) deps.log.warn('a peer answered what nobody asked', { peer: nodeId });
    else if (body.method === 'unknown') waiting.reject(new WireFault(`the answer ${body.name.slice(0, MAX_NAME)} is not known`));
    else waiting.resolve(body);
  };
  const run = async (): Promise<void> => {
    let queued = 0;
    let work: Promise<void> = Promise.resolve();
    try {
      for (let json = await reader.sealed(key); json !== undefined; json = await reader.sealed(key)) {
        const message = readMessage(json);
        if (!message) throw new WireFault('A message could not be read');
        receivedAt = deps.clock.mono();
        deps.passed(nodeId, 'received');
        if (message.type === 'response') settle(message.id, message.body);
        else if (message.type === 'notification') {
          if (message.body.event !== 'unknown') deps.notified(nodeId, message.body);
        } else if (message.type === 'unknown') deps.log.warn('a peer sent a message of an unknown type', { peer: nodeId, type: message.name.slice(0, MAX_NAME) });
        else {
          if (++queued > MAX_QUEUED) throw new WireFault('Too many requests wait for their answer');
          const { id, body } = message;
          const asked = cut(body);
          work = work.then(async () => send({ id, type: 'response', ...(await replyTo(asked)) })).finally(() => queued--);
          // Whoever waits for it sees it; the connection is closed by then.
          work.catch(() => undefined);
        }
      }
      await work;
    } catch (error) {
      deps.log.info('A connection to a peer ended.', { peer: nodeId, why: error instanceof Error ? error.message : String(error) });
      connection.close();
    } finally {
      gone.abort(new WireFault('Connection closed'));
      for (const { reject } of pending.values()) reject(new WireFault('Connection closed'));
      pending.clear();
    }
  };
  const request = async (body: RequestBody, limitMs: number): Promise<ResponseBody> => {
    if (gone.signal.aborted) throw new WireFault('Connection closed');
    if (pending.size >= MAX_PENDING) throw new WireFault('Too many requests wait for their answer');
    const id = deps.uuid();
    const over = new AbortController();
    const answered = new Promise<ResponseBody>((resolve, reject) => pending.set(id, { resolve, reject }));
    const late = deps.clock.sleep(limitMs, over.signal).then(() => {
      throw new WireFault(`no answer within ${Math.round(limitMs / 1_000)} s`);
    });
    try {
      await send({ id, type: 'request', ...body });
      return await Promise.race([answered, late]);
    } finally {
      over.abort();
      pending.delete(id);
      for (const one of [answered, late]) one.catch(() => undefined);
    }
  };
  const notification = (body: NotificationBody): Outgoing => ({ id: deps.uuid(), type: 'notification', ...body });
  return {
    ...{ nodeId, run, request },
    notify: (body) => send(notification(body)),
    farewell: () => {
      // Not into the middle of a frame.
      if (writing === 0) connection.write(sealedFrame(notification({ event: 'shutting_down' }), key)).catch(() => undefined);
    },
    lastReceived: () => receivedAt,
    close: () => connection.close(),
  };
};

/** A request that waits holds no more than an agent may be sent. */
const cut = (body: RequestOf): RequestOf => {
  if (body.method === 'handshake') return { method: 'unknown', name: 'handshake' };
  if (body.method === 'unknown') return { ...body, name: body.name.slice(0, MAX_NAME) };
  if (body.method === 'discover') return { ...body, query: body.query.slice(0, MAX_NAME) };
  if (body.method !== 'agent_message') return body;
  return { ...body, agent: body.agent.slice(0, MAX_NAME + 1), sender: body.sender?.slice(0, MAX_NAME) ?? null };
};
