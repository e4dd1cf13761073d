/**
 * Brings each socket what changed since it last heard. The ring is the only queue: a socket has a place in it and nothing else.
 *
 * F1  A frame's `seq` is the place of whoever has it: with `after=<epoch>.<seq>` exactly what came later follows, but for
 *     changes that a later one of the same thing has overtaken.
 * F2  Whoever fell behind the ring, or names a place of another epoch, hears `gap` and nothing that was before it.
 * F3  Nobody hears of what they may not read: validated with each frame, by the caller of now.
 * F4  To a client that does not take what it was sent nothing more is sent until it does: what comes meanwhile is joined, then
 *     becomes a gap. One that does not even answer the connection's own pings is hung up on by the platform.
 */
import type { Actor, Connection, Logger } from '@svc/api';
import { type Shown, subjectOf } from './changes.js';
import { type Recipients, mayReceive } from './recipients.js';
import type { Numbered, RingBuffer } from './ring-buffer.js';

export interface FeedDeps {
  readonly ringBuffer: RingBuffer;
  readonly recipients: Recipients;
  readonly log: Logger;
  connections(): readonly Connection[];
  /** Calls once, after `ms`. */
  later(ms: number, fn: () => Promise<void>): void;
}

export interface Feed {
  /** Something was added to the ring. */
  changed(): void;
  /** Greets a socket, and brings it what it has missed. */
  opened(conn: Connection): Promise<void>;
  /** Tells every socket that the daemon is there, and where it stands. */
  ping(): Promise<void>;
  pong(conn: Connection): void;
  /** How often somebody had a gap. */
  gaps(): number;
}

/** Changes that follow each other at once go out together. */
const JOIN_MS = 30;
/** Sockets that are behind are looked at again after this. */
const BEHIND_MS = 500;
const BEHIND_BYTES = 65_536;

/** Where a socket stands; the platform keeps it over reloads of this area. */
export interface Place {
  epoch: string;
  seq: number;
  /** It asked for a place that is not held any more. */
  isLost: boolean;
  isGreeted: boolean;
}

export const createFeed = (deps: FeedDeps): Feed => {
  let isWaiting = false;
  const counts = { gaps: 0 };
  const soon = (ms: number): void => {
    if (isWaiting) return;
    isWaiting = true;
    deps.later(ms, notifyAll);
  };
  const notifyAll = async (): Promise<void> => {
    isWaiting = false;
    const texts: Texts = new Map();
    let isAnyBehind = false;
    for (const conn of deps.connections()) isAnyBehind = !(await notify(deps, counts, conn, texts)) || isAnyBehind;
    if (isAnyBehind) soon(BEHIND_MS);
  };
  return {
    changed: () => {
      if (!isWaiting && deps.connections().length > 0) soon(JOIN_MS);
    },
    opened: async (conn) => {
      const place = placeOf(conn);
      place.isGreeted = true;
      greet(deps, counts, conn, place);
      if (!(await notify(deps, counts, conn, new Map()))) soon(BEHIND_MS);
    },
    ping: async () => {
      await notifyAll();
      for (const conn of deps.connections()) if (placeOf(conn).isGreeted && !isBehind(conn)) pong(conn);
    },
    pong,
    gaps: () => counts.gaps,
  };
};

/** What was made for one socket serves all that stand at the same place and may hear the same. */
type Texts = Map<string, readonly string[]>;

const placeOf = ({ state }: Connection): Place => state as unknown as Place; // what `upgrade` made
const isBehind = ({ unsentBytes }: Connection): boolean => unsentBytes > BEHIND_BYTES;
const pong = (conn: Connection): void => conn.send({ type: 'ping', seq: placeOf(conn).seq });

function greet({ ringBuffer }: FeedDeps, counts: { gaps: number }, conn: Connection, place: Place): void {
  const isElsewhere = place.isLost || place.epoch !== ringBuffer.epoch;
  if (isElsewhere) Object.assign(place, { epoch: ringBuffer.epoch, seq: ringBuffer.newest(), isLost: false });
  conn.send({ type: 'hello', epoch: place.epoch, seq: place.seq });
  if (isElsewhere) gap(counts, conn, place);
}

function gap(counts: { gaps: number }, conn: Connection, { seq }: Place): void {
  counts.gaps += 1;
  conn.send({ type: 'gap', seq });
}

/** False where it has to be tried again. */
async function notify(deps: FeedDeps, counts: { gaps: number }, conn: Connection, texts: Texts): Promise<boolean> {
  const { ringBuffer } = deps;
  const place = placeOf(conn);
  if (!place.isGreeted) return true;
  if (isBehind(conn)) return false;
  // It was opened by an earlier generation of this area, which numbered otherwise.
  if (place.epoch !== ringBuffer.epoch) greet(deps, counts, conn, place);
  if (place.seq === ringBuffer.newest()) return true;
  const permissions = ringBuffer.permissions();
  const allowed = await allowedFor(deps, conn.actor, permissions);
  // What came meanwhile may need another permission, which was not asked for.
  if (!allowed || [...ringBuffer.permissions()].some((permission) => !permissions.has(permission))) return false;
  // From here on nothing is waited for: of two that bring a socket the same only one does.
  const missed = ringBuffer.after(place.seq);
  const from = place.seq;
  place.seq = ringBuffer.newest();
  if (!missed) gap(counts, conn, place);
  else for (const text of textsFor(texts, from, conn.actor, allowed, missed)) conn.send(text);
  return true;
}

const allowedFor = async ({ recipients, log }: FeedDeps, actor: Actor, permissions: ReadonlySet<string>): Promise<ReadonlySet<string> | undefined> => {
  try {
    return await recipients.of(actor, permissions);
  } catch (cause) {
    log.warn('the permissions of a page could not be checked; svc tries again', { actor: actor.id, cause });
    return undefined;
  }
};

function textsFor(texts: Texts, from: number, actor: Actor, allowed: ReadonlySet<string>, missed: readonly Numbered[]): readonly string[] {
  const key = `${from}-${missed.length} ${actor.role} ${actor.ownerId} ${[...allowed].join()}`;
  let made = texts.get(key);
  if (!made) {
    made = newestOfEach(missed.filter((change) => mayReceive(actor, allowed, change))).map(({ seq, shown }) =>
      JSON.stringify({ type: 'change', seq, ...shown } satisfies Shown & { type: string; seq: number }),
    );
    texts.set(key, made);
  }
  return made;
}

/** In the order of their last changes, so that numbers only grow. */
const newestOfEach = (changes: readonly Numbered[]): Numbered[] => {
  const last = new Map<string, Numbered>();
  for (const change of changes) {
    const subject = subjectOf(change.shown);
    last.delete(subject);
    last.set(subject, change);
  }
  return [...last.values()];
};
