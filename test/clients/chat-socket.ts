/** The official `ws` client at an agent's chat, keeping what it hears in order. */
import { WebSocket } from 'ws';

export interface ServerFrame {
  readonly type: string;
  // biome-ignore lint/suspicious/noExplicitAny: each type of frame has its own fields
  readonly [field: string]: any;
}

export interface Chat {
  readonly socket: WebSocket;
  /** Everything heard so far. */
  readonly frames: readonly ServerFrame[];
  /** Sends an object as JSON, a text as it stands. */
  send(frame: object | string | Uint8Array): void;
  /** The next frame of one of these types among those that were not taken yet; what stood before it is passed over. */
  next(...types: string[]): Promise<ServerFrame>;
  /** Resolves with the close code. */
  closed(): Promise<number>;
}

export const openChat = (url: string, agentId: string, options: { query?: string; headers?: Record<string, string>; protocols?: string[] } = {}): Promise<Chat> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/agents/${agentId}/ws${options.query ?? ''}`, options.protocols ?? [], { headers: options.headers ?? {} });
    const frames: ServerFrame[] = [];
    let taken = 0;
    let wake: () => void = () => undefined;
    let code: number | undefined;
    const received = (): Promise<void> =>
      new Promise((go) => {
        wake = go;
      });
    socket.on('message', (data) => {
      frames.push(JSON.parse(String(data)) as ServerFrame);
      wake();
    });
    socket.on('close', (given) => {
      code = given;
      wake();
    });
    socket.on('error', reject);
    socket.on('open', () =>
      resolve({
        socket,
        frames,
        send: (frame) => socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame)),
        next: async (...types) => {
          for (;;) {
            const found = frames.findIndex((frame, index) => index >= taken && types.includes(frame.type));
            if (found >= 0) {
              taken = found + 1;
              return frames[found] as ServerFrame; // just found
            }
            if (code !== undefined) throw new Error(`the socket closed with ${code} before ${types.join(' or ')} came; heard: ${frames.map((frame) => frame.type).join(', ')}`);
            await received();
          }
        },
        closed: async () => {
          while (code === undefined) await received();
          return code;
        },
      }),
    );
  });
