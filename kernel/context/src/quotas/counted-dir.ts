/** A folder of a third-party extension: what is written to it is counted before it is written, and what is removed is given back. */
import type { Dir } from '@svc/api';
import type { Measured, Meter } from './meter.js';

/** An empty file and a folder take a block of the disk, too. */
const BLOCK_BYTES = 4_096;

export const blocksOf = (sizeBytes: number): number => Math.max(1, Math.ceil(sizeBytes / BLOCK_BYTES)) * BLOCK_BYTES;

/** What the adapter of files writes to before it gives a file its name. */
const UNFINISHED = /(?:^|\/)\.svc-[0-9a-f]{18}\.tmp$/;

/** All that is below the folders. */
export const sizeOf = async (folders: readonly Dir[]): Promise<Measured> => {
  let bytes = 0;
  let unfinished = 0;
  for (const folder of folders)
    for (const { kind, name, sizeBytes } of await folder.list('', { recursive: true, limit: Number.POSITIVE_INFINITY })) {
      if (kind === 'file' && UNFINISHED.test(name)) unfinished += blocksOf(sizeBytes);
      else bytes += kind === 'file' ? blocksOf(sizeBytes) : BLOCK_BYTES;
    }
  return { bytes, unfinished };
};

/** Ends of the work on each path: two writers of one file would both count what the first replaces. */
type Turns = Map<string, Promise<unknown>>;

export const countedDir = (dir: Dir, meter: Meter): Dir => counted({ root: dir, meter, turns: new Map() }, dir, '');

interface Counting {
  readonly root: Dir;
  readonly meter: Meter;
  readonly turns: Turns;
}

const counted = (counting: Counting, dir: Dir, under: string): Dir => {
  const { meter, root, turns } = counting;
  const whole = (asked: string): string => partsOf(`${under}/${asked}`).join('/');
  const inTurn = <T>(asked: string, work: () => Promise<T>): Promise<T> => turn(turns, whole(asked), work);
  const write = <T>(asked: string, put: (room: (sizeBytes: number) => Promise<void>) => Promise<T>): Promise<T> => inTurn(asked, () => countedWrite(root, meter, whole(asked), put));
  return {
    ...dir,
    write: (asked, data, options) =>
      write(asked, async (room) => {
        await room(Buffer.byteLength(data));
        return dir.write(asked, data, options);
      }),
    writeStream: (asked, source, options) => write(asked, (room) => dir.writeStream(asked, roomFor(source, room), options)),
    remove: (asked, options) =>
      inTurn(asked, async () => {
        const before = await dir.stat(asked);
        const isRemoved = await dir.remove(asked, options);
        if (!isRemoved) return false;
        if (before?.kind === 'file') meter.settle(0, blocksOf(before.sizeBytes));
        else meter.changed();
        return true;
      }),
    dir: (asked) => counted(counting, dir.dir(asked), whole(asked)),
  };
};

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.');

const turn = async <T>(turns: Turns, path: string, work: () => Promise<T>): Promise<T> => {
  const own = (turns.get(path) ?? Promise.resolve()).then(work, work);
  turns.set(path, own);
  try {
    return await own;
  } finally {
    if (turns.get(path) === own) turns.delete(path);
  }
};

/** `put` asks for room before it writes; what the file had before is room, too. */
const countedWrite = async <T>(dir: Dir, meter: Meter, asked: string, put: (room: (sizeBytes: number) => Promise<void>) => Promise<T>): Promise<T> => {
  const present = await dir.stat(asked);
  const before = present?.kind === 'file' ? blocksOf(present.sizeBytes) : 0;
  // Folders on the way stay, also where the write fails.
  if (!present) (await meter.claim((await missingAbove(dir, asked)) * BLOCK_BYTES)).keep();
  const claim = await meter.claim(0);
  let counted = before;
  let size = 0;
  const room = async (bytes: number): Promise<void> => {
    size += bytes;
    const more = blocksOf(size) - counted;
    if (more <= 0) return;
    await claim.more(more);
    counted += more;
  };
  try {
    const done = await put(room);
    claim.keep(Math.max(0, before - blocksOf(size)));
    return done;
  } catch (error) {
    claim.drop();
    // Folders were counted that the adapter may never have made.
    meter.changed();
    throw error;
  }
};

const missingAbove = async (dir: Dir, asked: string): Promise<number> => {
  const parts = partsOf(asked);
  let missing = 0;
  for (let length = parts.length - 1; length > 0; length--) {
    if (await dir.stat(parts.slice(0, length).join('/'))) break;
    missing += 1;
  }
  return missing;
};

async function* roomFor(source: AsyncIterable<Uint8Array>, room: (bytes: number) => Promise<void>): AsyncGenerator<Uint8Array> {
  for await (const piece of source) {
    await room(piece.byteLength);
    yield piece;
  }
}
