/** The daemon's daily files: reading the last lines, and following as they grow and a new day begins. */
import { errnoOf } from '@svc/platform/config/errno';
import { createReadStream, type Stats } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

const FILE_NAME = /^daemon-\d{4}-\d{2}-\d{2}\.log$/;
const CHUNK_BYTES = 64 * 1024;
const POLL_MS = 250;
/** A line longer than this is shown in pieces rather than kept in memory. */
const MAX_LINE_CHARS = 1024 * 1024;

export interface LogLine {
  readonly timestamp?: string;
  readonly level?: string;
  readonly target?: string;
  readonly message?: string;
  readonly ext?: string;
  readonly generation?: number;
  readonly request_id?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Oldest first. Empty when the daemon has never written here. */
export const logFiles = async (dir: string): Promise<string[]> => {
  try {
    return (await readdir(dir))
      .filter((name) => FILE_NAME.test(name))
      .sort()
      .map((name) => path.join(dir, name));
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
};

/** Where the log ends at one moment: what stands before it was written, what comes after it is followed. */
export interface LogEnd {
  /** Oldest first. */
  readonly files: readonly string[];
  /** Bytes of the newest file. */
  readonly size: number;
}

export const logEnd = async (dir: string): Promise<LogEnd> => {
  const files = await logFiles(dir);
  const newest = files.at(-1);
  return { files, size: newest === undefined ? 0 : (await stat(newest)).size };
};

/** The last `count` lines over all files, oldest first; reads from the end, not the whole. */
export const lastLines = async ({ files, size }: LogEnd, count: number): Promise<string[]> => {
  const found: string[] = [];
  for (const file of [...files].reverse()) {
    if (found.length >= count) break;
    found.unshift(...(await tail(file, count - found.length, file === files.at(-1) ? size : undefined)));
  }
  return found;
};

const tail = async (file: string, count: number, end: number | undefined): Promise<string[]> => {
  const handle = await open(file, 'r');
  try {
    let position = end ?? (await handle.stat()).size;
    let bytes = Buffer.alloc(0);
    let breaks = 0;
    while (position > 0 && breaks <= count) {
      const size = Math.min(CHUNK_BYTES, position);
      position -= size;
      const chunk = Buffer.alloc(size);
      await handle.read(chunk, 0, size, position);
      for (const byte of chunk) if (byte === 10) breaks++;
      bytes = Buffer.concat([chunk, bytes]);
    }
    return bytes
      .toString('utf8')
      .split('\n')
      .filter((line) => line !== '')
      .slice(-count);
  } finally {
    await handle.close();
  }
};

/** Every line of every file, oldest first: for searches, which must not miss what is old. */
export async function* allLines({ files, size }: LogEnd): AsyncGenerator<string> {
  for (const file of files) {
    if (file === files.at(-1) && size === 0) return;
    const input = createReadStream(file, { encoding: 'utf8', ...(file === files.at(-1) ? { end: size - 1 } : {}) });
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  }
}

/** Lines written after `end`, until `signal`. Polls: file watchers miss writes on network and container disks. */
export async function* followLines(dir: string, end: LogEnd, signal: AbortSignal): AsyncGenerator<string> {
  let file = end.files.at(-1);
  let position = end.size;
  let rest = '';
  while (!signal.aborted) {
    if (file !== undefined) {
      const read = await readFrom(file, position);
      position = read.position;
      const pieces = (rest + read.text).split('\n');
      rest = pieces.pop() ?? '';
      yield* pieces.filter((line) => line !== '');
      if (rest.length > MAX_LINE_CHARS) {
        yield rest;
        rest = '';
      }
    }
    const newest = (await logFiles(dir)).at(-1);
    if (newest !== file) {
      file = newest;
      position = 0;
    } else await pause(POLL_MS, signal);
  }
}

const readFrom = async (file: string, position: number): Promise<{ text: string; position: number }> => {
  const size = (await sizeOf(file))?.size ?? 0;
  const from = size < position ? 0 : position; // truncated by hand: begin anew
  if (size === from) return { text: '', position: from };
  let text = '';
  for await (const chunk of createReadStream(file, { encoding: 'utf8', start: from, end: size - 1 })) text += chunk;
  return { text, position: size };
};

const sizeOf = async (file: string): Promise<Stats | undefined> => {
  try {
    return await stat(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined; // removed while we follow
    throw error;
  }
};

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
  });
