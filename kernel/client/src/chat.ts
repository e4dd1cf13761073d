/**
 * The chat socket of an agent. One connection, not taken up again by itself: whoever loses it opens another and says
 * `resume` with the `frame_id` that came last. Where every word must arrive without that care, use `streamMessage`.
 */
import type { Client } from './client.js';
import { AbortedError, ConnectionError, NotSvcError } from './errors.js';

/** What the daemon says; each frame of a run has its place, and its last one the `message_id` of the message. */
export type ChatFrame = Readonly<{ frame_id?: string; message_id?: string }> &
  (
    | { readonly type: 'connected'; readonly agent_id: string }
    | { readonly type: 'thinking' }
    | { readonly type: 'phase'; readonly phase: string; readonly detail?: string; readonly attempt?: number; readonly approval_id?: string }
    | { readonly type: 'text_delta'; readonly content: string }
    | { readonly type: 'tool_start'; readonly tool: string; readonly id: string }
    | { readonly type: 'tool_end'; readonly tool: string; readonly id: string; readonly input: string }
    | { readonly type: 'tool_result'; readonly tool: string; readonly id: string; readonly result: string; readonly is_error: boolean }
    | ChatResponse
    | { readonly type: 'error'; readonly content: string; readonly code?: string; readonly reason?: string; readonly hint?: string; readonly retry_after_secs?: number }
    | { readonly type: 'agents_updated'; readonly agents: ReadonlyArray<{ id: string; name: string; state: string; model_provider: string; model_name: string }> }
    | { readonly type: 'pong' }
  );

export interface ChatResponse {
  readonly type: 'response';
  readonly content: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly iterations: number;
  readonly cost_usd: number;
  readonly session_id: string;
  readonly finish?: string;
  /** Of a slash command. */
  readonly command?: unknown;
}

export interface ChatMessage {
  readonly type: 'message';
  readonly content: string;
  readonly message_id?: string;
  readonly idempotency_key?: string;
  readonly session_id?: string;
  readonly ephemeral?: boolean;
  readonly incognito?: boolean;
  readonly thinking?: boolean;
}
export type ClientFrame =
  | ChatMessage
  | { readonly type: 'command'; readonly command: string; readonly args?: string }
  | { readonly type: 'resume'; readonly last_event_id: string }
  | { readonly type: 'ping' };

/** The part of a WebSocket that is used: the browser's, Node's from 22 on, or that of the package `ws`. */
export interface SocketLike {
  send(text: string): void;
  close(code?: number): void;
  onopen: ((event: never) => void) | null;
  onmessage: ((event: never) => void) | null;
  onclose: ((event: never) => void) | null;
  onerror: ((event: never) => void) | null;
}
export type SocketClass = new (url: string, protocols?: string[]) => SocketLike;

export interface ChatOptions {
  readonly sessionId?: string;
  /** Where there is no global one: Node 20. */
  readonly WebSocket?: SocketClass;
  readonly signal?: AbortSignal;
}

export interface Chat {
  /** A text is a message. Throws when the socket is closed. */
  send(frame: ClientFrame | string): void;
  /** What came and comes, once; ends when the socket closes, and throws when it broke. */
  readonly frames: AsyncIterable<ChatFrame>;
  close(): void;
}

/** Frames that nobody takes are kept as far as this; then the socket is closed. */
const MAX_WAITING = 10_000;
const NORMAL = 1_000;
/** The daemon's words for "come back": it stops, or the area was loaded anew. */
const COMES_BACK = [1_001, 1_012];

export const openChat = async (client: Client, agentId: string, options: ChatOptions = {}): Promise<Chat> => {
  const Socket = options.WebSocket ?? ('WebSocket' in globalThis ? (globalThis.WebSocket as SocketClass) : undefined);
  if (!Socket) throw new TypeError('There is no global WebSocket here. Pass one to openChat, such as the one from the package ws.');
  const key = await client.key();
  const query = options.sessionId === undefined ? '' : `?session_id=${encodeURIComponent(options.sessionId)}`;
  const url = `${client.baseUrl.replace(/^http/, 'ws')}/api/agents/${encodeURIComponent(agentId)}/ws${query}`;
  if (options.signal?.aborted) throw new AbortedError(`GET ${url}`, options.signal.reason);
  // Browsers cannot set headers here: the key comes as a subprotocol.
  return opened(new Socket(url, key === undefined ? [] : [`bearer.${key}`]), client.baseUrl, options.signal);
};

interface Line {
  readonly waiting: ChatFrame[];
  wake: () => void;
  /** The code it was closed with. */
  code?: number;
  /** What could not be read. */
  fault?: NotSvcError;
}

const opened = (socket: SocketLike, baseUrl: string, signal: AbortSignal | undefined): Promise<Chat> => {
  const line: Line = { waiting: [], wake: () => undefined };
  const close = (): void => socket.close(NORMAL);
  signal?.addEventListener('abort', close, { once: true });
  return new Promise((resolve, reject) => {
    socket.onmessage = ({ data }: { data: unknown }) => {
      const frame = frameOf(baseUrl, data);
      if (frame instanceof NotSvcError) line.fault ??= frame;
      else line.waiting.push(frame);
      if (line.fault || line.waiting.length > MAX_WAITING) close();
      line.wake();
    };
    socket.onclose = ({ code }: { code: number }) => {
      signal?.removeEventListener('abort', close);
      line.code = code;
      line.wake();
      // A refusal before the handshake is told to nobody in a browser: an HTTP call to the same daemon says why.
      reject(signal?.aborted ? new AbortedError('The chat', signal.reason) : new ConnectionError('unreachable', baseUrl, 'the chat socket did not open', undefined));
    };
    // What it says stands in the close that follows.
    socket.onerror = () => undefined;
    socket.onopen = () => resolve({ close, frames: framesOf(line, baseUrl), send: (frame) => sendOn(socket, line, baseUrl, frame) });
  });
};

const sendOn = (socket: SocketLike, line: Line, baseUrl: string, frame: ClientFrame | string): void => {
  if (line.code !== undefined) throw broken(baseUrl, line.code);
  socket.send(JSON.stringify(typeof frame === 'string' ? { type: 'message', content: frame } : frame));
};

async function* framesOf(line: Line, baseUrl: string): AsyncGenerator<ChatFrame> {
  for (;;) {
    yield* line.waiting.splice(0);
    if (line.waiting.length > 0) continue;
    if (line.fault) throw line.fault;
    if (line.code === NORMAL) return;
    if (line.code !== undefined) throw broken(baseUrl, line.code);
    await new Promise<void>((resolve) => {
      line.wake = resolve;
    });
  }
}

const broken = (baseUrl: string, code: number): ConnectionError =>
  new ConnectionError('broken', baseUrl, COMES_BACK.includes(code) ? `the daemon closed the chat with ${code} and will be back` : `the chat was closed with ${code}`, undefined);

const frameOf = (baseUrl: string, data: unknown): ChatFrame | NotSvcError => {
  try {
    const frame: ChatFrame = JSON.parse(String(data));
    return frame;
  } catch {
    return new NotSvcError(baseUrl, 101, 'a frame of the chat was not JSON');
  }
};
