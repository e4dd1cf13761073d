/** A WebSocket client without manners: it writes whatever bytes it is given, and reads frames by itself. */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

export interface Frame {
  readonly opcode: number;
  readonly text: string;
}

export interface RawSocket {
  readonly socket: Socket;
  readonly frames: Frame[];
  /** The status of the answer to the upgrade. */
  readonly status: number;
  /** Resolves when the connection is gone, with the code and the reason of the close frame. */
  readonly closed: Promise<{ code: number | undefined; reason: string }>;
}

const MASK = Buffer.from([1, 2, 3, 4]);

/** A masked frame, as a client sends it. `isLast`: no more fragments follow. */
export const frameOf = (opcode: number, text = '', isLast = true): Buffer => {
  const payload = Buffer.from(text);
  const masked = payload.map((byte, index) => byte ^ (MASK[index % 4] ?? 0));
  const head =
    payload.length < 126 ? Buffer.from([opcode | (isLast ? 0x80 : 0), 0x80 | payload.length]) : Buffer.from([opcode | (isLast ? 0x80 : 0), 0xfe, payload.length >> 8, payload.length & 0xff]);
  return Buffer.concat([head, MASK, masked]);
};

export const TEXT = 1;
export const BINARY = 2;
export const PING = 9;
export const PONG = 10;

export const openRaw = (url: string, path: string, key?: string): Promise<RawSocket> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const frames: Frame[] = [];
    let seen = Buffer.alloc(0);
    let isOpen = false;
    let end: { code: number | undefined; reason: string } = { code: undefined, reason: '' };
    const closed = new Promise<typeof end>((done) => socket.once('close', () => done(end)));
    socket.once('error', () => socket.destroy());
    socket.once('close', () => (isOpen ? undefined : reject(new Error('hung up on'))));
    const authorization = key === undefined ? '' : `Authorization: Bearer ${key}\r\n`;
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n${authorization}\r\n`,
    );
    const takeFrames = (): void => {
      for (;;) {
        const small = (seen[1] ?? 0) & 0x7f;
        const from = small === 126 ? 4 : 2;
        if (seen.length < from) return;
        const length = small === 126 ? seen.readUInt16BE(2) : small;
        if (seen.length < from + length) return;
        const opcode = (seen[0] ?? 0) & 0x0f;
        const payload = seen.subarray(from, from + length);
        if (opcode === 8) end = { code: payload.length < 2 ? undefined : payload.readUInt16BE(0), reason: payload.subarray(2).toString() };
        else frames.push({ opcode, text: payload.toString() });
        seen = seen.subarray(from + length);
      }
    };
    socket.on('data', (chunk) => {
      seen = Buffer.concat([seen, chunk]);
      if (!isOpen) {
        const headEnd = seen.indexOf('\r\n\r\n');
        if (headEnd < 0) return;
        isOpen = true;
        const status = Number(seen.subarray(9, 12).toString());
        seen = seen.subarray(headEnd + 4);
        resolve({ socket, frames, status, closed });
        if (status !== 101) return;
      }
      takeFrames();
    });
  });
