/**
 * The trail as a file that anybody can verify: one JSON value a line. The first says what it is; then come the entries, each
 * with the text that was hashed and, as far as they are stored, the personal details with their salt; the checkpoints are last.
 */
import type { Reader } from '@svc/api';
import { TILE } from './merkle.js';
import { openNote, verifierKey } from './note.js';

export { type ExportVerdict, verifyExport } from './verify-export.js';

export const EXPORT_FORMAT = 'svc-audit-1';
export const EXPORT_TABLES = ['entries', 'segments', 'details', 'checkpoints'] as const;

interface Exported {
  readonly id: number;
  readonly hash: string;
  /** Null once it was trimmed. */
  readonly body: string | null;
}

interface Segment {
  readonly n: number;
  readonly bodies: string | null;
  readonly hashes: string;
}

interface Detail {
  readonly id: number;
  readonly salt: string;
  readonly detail: string;
}

const MAX_CHECKPOINTS = 10_000;
const MAX_TAIL = 10_000;

export async function* exportLines(rows: Pick<Reader, 'select'>): AsyncGenerator<string> {
  yield JSON.stringify({ format: EXPORT_FORMAT });
  let n = 0;
  for (;;) {
    const [segment] = await rows.select<Segment>({ from: 'segments', columns: ['n', 'bodies', 'hashes'], where: { n: { gte: n } }, order: [{ column: 'n' }], limit: 1 });
    if (!segment) break;
    yield* await linesOf(rows, entriesOf(segment));
    n = segment.n + 1;
  }
  yield* await linesOf(rows, await rows.select<Exported>({ from: 'entries', columns: ['id', 'hash', 'body'], where: { id: { gt: n * TILE } }, order: [{ column: 'id' }], limit: MAX_TAIL }));
  for (const { note, public_key: key } of await rows.select<{ note: string; public_key: string }>({ from: 'checkpoints', order: [{ column: 'size' }], limit: MAX_CHECKPOINTS }))
    yield JSON.stringify({ checkpoint: note, key: verifierKey(openNote(note)?.checkpoint.origin ?? '', Buffer.from(key, 'base64')) });
}

const entriesOf = ({ n, bodies, hashes }: Segment): Exported[] => {
  const texts = bodies?.split('\n');
  return Array.from({ length: hashes.length / 64 }, (_, place) => ({ id: n * TILE + place + 1, hash: hashes.slice(place * 64, place * 64 + 64), body: texts?.[place] ?? null }));
};

const linesOf = async (rows: Pick<Reader, 'select'>, entries: readonly Exported[]): Promise<string[]> => {
  if (entries.length === 0) return [];
  const ids = { gte: entries[0]?.id ?? 0, lte: entries.at(-1)?.id ?? 0 };
  const details = new Map((await rows.select<Detail>({ from: 'details', columns: ['id', 'salt', 'detail'], where: { id: ids }, limit: MAX_TAIL })).map((row) => [row.id, row]));
  return entries.map(({ id, hash, body }) => {
    const found = details.get(id);
    return JSON.stringify({ id, hash, body, ...(found ? { salt: found.salt, detail: found.detail } : {}) });
  });
};
