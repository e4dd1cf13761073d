/**
 * One request of a connection at a time. node hands over every request of a packet at once;
 * hundreds of them from somebody unknown must cost no more than one.
 *
 * Q1  A request is handed on when the answer before it is done; while some wait, nothing more is read.
 * Q2  More than may wait, bytes that are not HTTP, or an upgrade while one is answered: that answer is the last.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** node has parsed a whole packet before the reading can be stopped. */
const MAX_WAITING = 32;

type Listener = (req: IncomingMessage, res: ServerResponse) => void;

export interface Turns {
  request(req: IncomingMessage, res: ServerResponse): void;
  /** An answer is going on: it becomes the last one, and nothing more is read. False when there is none. */
  endAfterAnswer(socket: Duplex): boolean;
}

interface Line {
  readonly waiting: Array<{ req: IncomingMessage; res: ServerResponse }>;
  answering: { req: IncomingMessage; res: ServerResponse };
  isLast: boolean;
}

export const createTurns = (serve: Listener): Turns => {
  const lines = new WeakMap<Duplex, Line>();
  const begin = (line: Line, socket: Socket): void => {
    const { req, res } = line.answering;
    res.once('close', () => next(line, socket));
    serve(req, res);
  };
  const next = (line: Line, socket: Socket): void => {
    if (socket.destroyed) return;
    const turn = line.waiting.shift();
    if (turn) {
      line.answering = turn;
      if (line.waiting.length === 0) readOn(socket);
      begin(line, socket);
    } else if (line.isLast) socket.destroySoon();
    else lines.delete(socket);
  };
  return {
    request: (req, res) => {
      const { socket } = req;
      const line = lines.get(socket);
      if (!line) {
        const first: Line = { waiting: [], answering: { req, res }, isLast: false };
        lines.set(socket, first);
        begin(first, socket);
      } else if (line.isLast) return;
      else if (line.waiting.length >= MAX_WAITING) end(line, socket);
      else {
        line.waiting.push({ req, res });
        socket.pause();
      }
    },
    endAfterAnswer: (socket) => {
      const line = lines.get(socket);
      if (line) end(line, socket);
      return line !== undefined;
    },
  };
};

const end = (line: Line, socket: Duplex): void => {
  const { req, res } = line.answering;
  line.isLast = true;
  line.waiting.length = 0;
  socket.pause();
  // The rest of its body would never be read: there is nothing to wait for.
  if (!req.complete) socket.destroy();
  else if (!res.headersSent) res.shouldKeepAlive = false;
};

/** node marks a connection that it stopped itself, because answers pile up, and reads on when they are gone. */
const readOn = (socket: Socket & { _paused?: boolean }): void => {
  if (socket._paused !== true) socket.resume();
};
