/**
 * How many WebSocket frames are read: a share for each socket, and one for all sockets of a person.
 *
 * N1  A frame of any kind takes one unit, and one more for every 4 KiB of it: pings, empty frames and fragments are not free.
 * N2  A socket without units is not read. What it may send waits in its own connection, and costs the process nothing.
 * N3  A socket that keeps using up its own share for ten seconds floods. A share that others of the same person used up does not count.
 */

/** Units. Reading and refusing a frame takes about 40 µs, so a socket gets less than 1 % of a processor and a person less than 4 %. */
export const FRAME_LIMITS = {
  perSocket: { perSecond: 200, burst: 400 },
  perPerson: { perSecond: 800, burst: 1_600 },
  floodMs: 10_000,
} as const;
export const BYTES_PER_UNIT = 4_096;
/** A socket that waits is read on when so much is there: not for each frame by itself. */
const WORTH_WAKING = 16;

export interface FrameShare {
  /** How many units may be read now. */
  left(): number;
  take(units: number): void;
  /** How long until it is worth reading on. */
  waitMs(): number;
  isFlooding(): boolean;
  leave(): void;
}

export interface FrameShares {
  /** The share of a new socket. `person`: whose sockets share. */
  open(person: string): FrameShare;
  /** People that are remembered. */
  size(): number;
}

interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** A bucket that fills as time goes by. It may be overdrawn by one frame. */
interface Bucket {
  units: number;
  atMs: number;
}

interface Person extends Bucket {
  sockets: number;
}

export const createFrameShares = (now: () => number): FrameShares => {
  const people = new Map<string, Person>();
  const { perSocket, perPerson, floodMs } = FRAME_LIMITS;
  // Whoever leaves and comes back must not begin with a full share: they are forgotten when it is full again.
  const forgetRested = (): void => {
    for (const [name, person] of people) if (person.sockets === 0 && filled(person, perPerson, now()) >= perPerson.burst) people.delete(name);
  };
  return {
    size: () => people.size,
    open: (name) => {
      forgetRested();
      const person = people.get(name) ?? { units: perPerson.burst, atMs: now(), sockets: 0 };
      people.set(name, person);
      person.sockets += 1;
      const own: Bucket = { units: perSocket.burst, atMs: now() };
      let emptySinceMs: number | undefined;
      let hasLeft = false;
      return {
        left: () => Math.max(0, Math.floor(Math.min(filled(own, perSocket, now()), filled(person, perPerson, now())))),
        take: (units) => {
          own.units = filled(own, perSocket, now()) - units;
          person.units = filled(person, perPerson, now()) - units;
          if (own.units < 1) emptySinceMs ??= now();
        },
        waitMs: () => Math.max(msUntil(own, perSocket), msUntil(person, perPerson)),
        isFlooding: () => {
          if (filled(own, perSocket, now()) >= perSocket.burst / 2) emptySinceMs = undefined;
          return emptySinceMs !== undefined && now() - emptySinceMs >= floodMs;
        },
        leave: () => {
          if (!hasLeft) person.sockets -= 1;
          hasLeft = true;
        },
      };
    },
  };
};

const filled = (bucket: Bucket, { perSecond, burst }: Rate, nowMs: number): number => {
  bucket.units = Math.min(burst, bucket.units + ((nowMs - bucket.atMs) * perSecond) / 1_000);
  bucket.atMs = nowMs;
  return bucket.units;
};

const msUntil = ({ units }: Bucket, { perSecond }: Rate): number => Math.max(0, ((WORTH_WAKING - units) * 1_000) / perSecond);
