/**
 * An MCP server that this daemon starts, spoken to over its pipes: one JSON text on a line.
 *
 * P1  A line that is no JSON is logged and passed over. One that is too long is dropped as it comes, and the call that it answers fails by itself.
 * P2  `stderr` is read always, and its last lines are stored: a full pipe would stop the server.
 */
import type { deserializeMessage, JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import type { ChildEnd, ChildHandle, Logger } from '@svc/api';
import { mcpErrors } from '../errors.js';
import type { LineBuffer } from './line-buffer.js';

export const MAX_MESSAGE_BYTES = 16 * 1_048_576;
/** Of a line that is too long: where its id may stand. */
const KEPT_ENDS = 4_096;
const MAX_LOGGED = 200;

export interface StdioDeps {
  spawn(): Promise<ChildHandle>;
  readonly stderr: LineBuffer;
  readonly log: Logger;
  /** The program is gone; `why` says how. */
  ended(end: ChildEnd): void;
}

export const createStdioTransport = (deps: StdioDeps): Transport => {
  let child: ChildHandle | undefined;
  let isClosed = false;
  const transport: Transport & { readonly pid: number | undefined; readonly stderr: null } = {
    // By these two the client knows a program: one that does not answer its first question is asked the older one, in the same process.
    get pid() {
      return child?.pid;
    },
    stderr: null,
    start: async () => {
      // With the first server: a daemon without any loads none of it.
      const { deserializeMessage: read } = await import('@modelcontextprotocol/client');
      child = await deps.spawn();
      if (isClosed) {
        await child.kill();
        throw mcpErrors.unavailable('', 'it was stopped while it started');
      }
      void readErrors(child, deps.stderr);
      void readMessages(child, deps, transport, read);
      void child.exit.then((end) => {
        deps.ended(end);
        isClosed = true;
        transport.onclose?.();
      });
    },
    send: async (message) => {
      if (!child || isClosed) throw new Error('the server is not running');
      await child.stdin.write(`${JSON.stringify(message)}\n`);
    },
    close: async () => {
      isClosed = true;
      await child?.kill();
    },
  };
  return transport;
};

const readErrors = async (child: ChildHandle, lines: LineBuffer): Promise<void> => {
  try {
    for await (const piece of child.stderr) lines.add(piece);
  } finally {
    lines.end();
  }
};

type ReadMessage = typeof deserializeMessage;

const readMessages = async (child: ChildHandle, deps: StdioDeps, transport: Transport, read: ReadMessage): Promise<void> => {
  const splitter = createSplitter();
  try {
    for await (const piece of child.stdout) for (const line of splitter.add(piece)) take(line, deps, transport, read);
  } catch (error) {
    transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
  }
};

const take = (line: Line, { log }: StdioDeps, transport: Transport, read: ReadMessage): void => {
  if (line.text.trim() === '') return;
  if (line.isCut) {
    const id = /"id"\s*:\s*(\d{1,15})/.exec(line.text)?.[1];
    log.warn('an MCP server sent a message that is too large', { bytes: line.bytes, limit: MAX_MESSAGE_BYTES });
    if (id !== undefined) transport.onmessage?.({ jsonrpc: '2.0', id: Number(id), error: { code: -32_000, message: mcpErrors.too_large(MAX_MESSAGE_BYTES).message } } as JSONRPCMessage);
    else transport.onerror?.(mcpErrors.too_large(MAX_MESSAGE_BYTES));
    return;
  }
  try {
    transport.onmessage?.(read(line.text));
  } catch {
    log.info('an MCP server wrote a line that is no message', { line: line.text.slice(0, MAX_LOGGED) });
  }
};

interface Line {
  readonly text: string;
  readonly isCut: boolean;
  readonly bytes: number;
}

/** Never holds more than one message. Of a longer line its two ends stay. */
export const createSplitter = (maxBytes = MAX_MESSAGE_BYTES): { add(piece: Uint8Array): Line[] } => {
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let tail = Buffer.alloc(0);
  const finish = (): Line => {
    const isCut = bytes > maxBytes;
    const text = isCut ? `${Buffer.concat(pieces).subarray(0, KEPT_ENDS).toString('utf8')}\n${tail.toString('utf8')}` : Buffer.concat(pieces).toString('utf8');
    const line = { text: text.replace(/\r$/, ''), isCut, bytes };
    pieces = [];
    bytes = 0;
    tail = Buffer.alloc(0);
    return line;
  };
  const keep = (part: Uint8Array): void => {
    if (part.byteLength === 0) return;
    bytes += part.byteLength;
    if (bytes <= maxBytes) pieces.push(part);
    else {
      if (pieces.length > 1 || (pieces[0]?.byteLength ?? 0) > KEPT_ENDS) pieces = [Buffer.concat(pieces).subarray(0, KEPT_ENDS)];
      tail = Buffer.concat([tail, part]).subarray(-KEPT_ENDS);
    }
  };
  return {
    add: (piece) => {
      const lines: Line[] = [];
      let from = 0;
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, from)) {
        keep(piece.subarray(from, at));
        lines.push(finish());
        from = at + 1;
      }
      keep(piece.subarray(from));
      return lines;
    },
  };
};
