/**
 * Messages as text for a carrier that takes only so many bytes at once: small ones travel together, a large one in parts.
 *
 * P1  Packets of one sender are numbered. A number that was skipped tells the receiver that something was lost.
 * P2  Packets of one sender are read in order, each once: an older one than the last is ignored.
 * P3  A message in parts is delivered when all of them came in a row; otherwise it is lost as a whole.
 */

/** A channel and the message as JSON. */
export type Said = readonly [channel: string, json: string];

interface Packet {
  readonly by: string;
  readonly n: number;
  /** Messages, each as JSON inside of JSON, so that a message is parsed only where somebody listens. */
  readonly say?: readonly Said[];
  readonly part?: { readonly channel: string; readonly at: number; readonly of: number; readonly text: string };
}

/** What the names of a packet, its number and its brackets take. */
const ENVELOPE_BYTES = 300;

const bytesOf = (text: string): number => Buffer.byteLength(text);

export interface Packer {
  /** `maxBytes` is that of one packet. */
  pack(messages: readonly Said[], maxBytes: number): string[];
  /** Something was not sent: receivers see it at the next packet. */
  skip(): void;
}

export const createPacker = (by: string): Packer => {
  let n = 0;
  const seal = (rest: Pick<Packet, 'say' | 'part'>): string => JSON.stringify({ by, n: ++n, ...rest } satisfies Packet);
  return {
    skip: () => void n++,
    pack: (messages, maxBytes) => {
      const room = maxBytes - ENVELOPE_BYTES;
      const packets: string[] = [];
      let together: Said[] = [];
      let bytes = 0;
      const close = (): void => {
        if (together.length > 0) packets.push(seal({ say: together }));
        together = [];
        bytes = 0;
      };
      for (const [channel, json] of messages) {
        const size = bytesOf(JSON.stringify([channel, json])) + 1;
        if (bytes + size > room) close();
        if (size <= room) {
          together.push([channel, json]);
          bytes += size;
          continue;
        }
        const parts = inParts(json, room);
        for (const [at, text] of parts.entries()) packets.push(seal({ part: { channel, at, of: parts.length, text } }));
      }
      close();
      return packets;
    },
  };
};

/** A half of a pair of code units is escaped, so that a cut between them does no harm. */
const inParts = (text: string, room: number): string[] => {
  const parts: string[] = [];
  for (let from = 0; from < text.length; ) {
    let length = room;
    while (bytesOf(JSON.stringify(text.slice(from, from + length))) > room) length = Math.floor(length * 0.7);
    parts.push(text.slice(from, from + length));
    from += length;
  }
  return parts;
};

export interface Opened {
  readonly by: string;
  readonly messages: readonly Said[];
  /** Something that this sender said before did not come. */
  readonly isAfterGap: boolean;
}

export interface Unpacker {
  /** Undefined for a packet of before, and for what is none. */
  open(text: string): Opened | undefined;
  forget(by: string): void;
}

/** More senders than this are never remembered; the longest silent go first. */
const MAX_SENDERS = 1_000;

interface Sender {
  n: number;
  parts: string[];
}

export const createUnpacker = (): Unpacker => {
  const senders = new Map<string, Sender>();
  return {
    forget: (by) => void senders.delete(by),
    open: (text) => {
      const packet = packetOf(text);
      if (!packet) return undefined;
      const { by, n, part, say = [] } = packet;
      const known = senders.get(by);
      if (known && n <= known.n) return undefined;
      const isAfterGap = known !== undefined && n > known.n + 1;
      const sender = { n, parts: isAfterGap ? [] : (known?.parts ?? []) };
      senders.delete(by);
      senders.set(by, sender);
      const [oldest] = senders.keys();
      if (senders.size > MAX_SENDERS && oldest !== undefined) senders.delete(oldest);
      return { by, isAfterGap, messages: part ? joined(sender, part) : say };
    },
  };
};

const joined = (sender: Sender, { at, channel, of, text }: NonNullable<Packet['part']>): Said[] => {
  if (at === 0) sender.parts = [];
  if (sender.parts.length !== at) return [];
  sender.parts.push(text);
  if (at + 1 < of) return [];
  const json = sender.parts.join('');
  sender.parts = [];
  return [[channel, json]];
};

/** Whoever may reach the carrier may write to it: what does not look like a packet is no packet. */
const packetOf = (text: string): Packet | undefined => {
  try {
    const packet: unknown = JSON.parse(text);
    return isPacket(packet) ? packet : undefined;
  } catch {
    return undefined;
  }
};

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isSaid = (value: unknown): value is Said => Array.isArray(value) && value.length === 2 && value.every((one) => typeof one === 'string');
const isPart = (value: unknown): boolean => isRecord(value) && [value.channel, value.text].every((one) => typeof one === 'string') && [value.at, value.of].every(Number.isSafeInteger);

const isPacket = (value: unknown): value is Packet =>
  isRecord(value) &&
  typeof value.by === 'string' &&
  Number.isSafeInteger(value.n) &&
  (value.say === undefined || (Array.isArray(value.say) && value.say.every(isSaid))) &&
  (value.part === undefined || isPart(value.part));
