/**
 * A stretch of a log from the database. Entries are as long as a message with its pictures: where a stretch is more than
 * one read may bring, it is read in halves, up to what a conversation may take of the memory.
 */
import { isSvcError, type Reader } from '@svc/api';

export interface EntryRow {
  readonly seq: number;
  readonly body: string;
}

const MAX_CHARS = 268_435_456;

export const readEntries = async <T extends EntryRow>(reader: Pick<Reader, 'select'>, columns: readonly string[], sessionId: string, from: number, count: number): Promise<T[]> => {
  const read = (after: number, limit: number): Promise<T[]> => reader.select<T>({ from: 'entries', columns, where: { session_id: sessionId, seq: { gt: after } }, order: [{ column: 'seq' }], limit });
  try {
    return await read(from, count);
  } catch (error) {
    if (!isTooLarge(error) || count < 2) throw error;
    return inPieces(read, from, count, error);
  }
};

const inPieces = async <T extends EntryRow>(read: (after: number, limit: number) => Promise<T[]>, from: number, count: number, why: unknown): Promise<T[]> => {
  const rows: T[] = [];
  let chars = 0;
  let size = Math.ceil(count / 2);
  while (rows.length < count) {
    const limit = Math.min(size, count - rows.length);
    let piece: T[];
    try {
      piece = await read(rows.at(-1)?.seq ?? from, limit);
    } catch (error) {
      if (!isTooLarge(error) || limit < 2) throw error;
      size = Math.ceil(limit / 2);
      continue;
    }
    chars += piece.reduce((sum, { body }) => sum + body.length, 0);
    if (chars > MAX_CHARS) throw why;
    rows.push(...piece);
    if (piece.length < limit) break;
  }
  return rows;
};

const isTooLarge = (error: unknown): boolean => isSvcError(error) && error.code === 'storage_read_too_large';
