/** The socket that a page lives by: GET /api/live. */
import { defineSocket, documented, type SocketDecl, SvcError, Type } from '@svc/api';
import { webchatErrors } from '../errors.js';
import type { Feed, Place } from './feed.js';
import type { RingBuffer } from './ring-buffer.js';

export const SOCKET_ID = 'followChanges';
const PLACE = /^([0-9a-f]{16})\.(\d{1,15})$/;
const MAX_FRAME_BYTES = 1_024;

export const liveSocket = (ringBuffer: RingBuffer, feed: Feed): SocketDecl =>
  defineSocket({
    id: SOCKET_ID,
    path: '/api/live',
    query: Type.Object({
      after: Type.Optional(Type.String({ ...documented({ pattern: PLACE.source }), description: 'Your position: the `epoch` of the last `hello`, a dot, and the `seq` of the last frame', examples: ['5f0c2a9e71b3d846.112'] })),
    }),
    summary: 'Listen for changes',
    description:
      'One socket for everything that a page shows. Frames are JSON texts, each with its `type` and `seq`. First `hello` (`epoch`); then `change`: `what` is `agent`, `session`, `run`, `files`, `extension`, `config`, `models`, `provider`, `vault` or `auth`, or the name of an event that an extension declares for pages, such as `goals.changed`, with `id`, `agent_id`, `session_id` and `state` where there are any. It names what to reload and contains no data; you only receive changes of what you can read. Changes of the same thing in quick succession are combined. After a lost connection, `after` returns what you missed; on `gap`, reload what you show. `ping` comes every 15 seconds, and for each `{"type":"ping"}` of yours. A browser, which cannot set headers here, sends the key as the subprotocol `bearer.<key>`.',
    auth: 'bearer',
    permission: 'webchat.read',
    cost: 1,
    messageCost: 1,
    maxFrameBytes: MAX_FRAME_BYTES,
    upgrade: async ({ query }) => ({ ...placeIn(ringBuffer, query.after) }),
    opened: (conn) => feed.opened(conn),
    message: (conn, text) => {
      // Thrown: the platform tells it, and closes a socket that sends such frames again and again.
      if (!isPing(text)) throw new SvcError('format_error', 'The only frame that is taken here is {"type":"ping"}.', { status: 400 });
      feed.pong(conn);
    },
  });

/** Throws `webchat_invalid_place`. */
const placeIn = (ringBuffer: RingBuffer, after: string | undefined): Place => {
  const now: Place = { epoch: ringBuffer.epoch, seq: ringBuffer.newest(), isLost: false, isGreeted: false };
  if (after === undefined) return now;
  const [, epoch, digits] = PLACE.exec(after) ?? [];
  if (epoch === undefined) throw webchatErrors.invalid_place(after);
  const seq = Number(digits);
  return epoch === ringBuffer.epoch && ringBuffer.after(seq) ? { ...now, seq } : { ...now, isLost: true };
};

const isPing = (text: string): boolean => {
  try {
    const frame: unknown = JSON.parse(text);
    return typeof frame === 'object' && frame !== null && 'type' in frame && frame.type === 'ping';
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
};
