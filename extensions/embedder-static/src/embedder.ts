/**
 * Texts as the mean of their pieces.
 *
 * B1  The same text gives the same vector, on every machine: the identity names the bytes of the table.
 * B2  A text that has no known piece gives zeros: it is near nothing.
 * B3  The table is read with the first text, once, and not at the start. Who asks for its identity alone has it in memory no longer than that.
 */
import { createHash } from 'node:crypto';
import type { Assets } from '@svc/api';
import type { EmbedderService } from '@svc/ext-memory/contract';
import { createWordPieces, type WordPieces } from './word-pieces.js';

interface Table {
  readonly id: string;
  readonly pieces: WordPieces;
  readonly vectors: Int8Array;
  readonly scales: Float32Array;
}

const DIMENSIONS = 256;
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_CHARS = 20_000;

export const createEmbedder = (assets: Pick<Assets, 'read' | 'readText'>): EmbedderService => {
  let table: Promise<Table> | undefined;
  let id: string | undefined;
  const loaded = (): Promise<Table> => {
    table ??= load(assets).catch((error: unknown) => {
      // The next text tries again.
      table = undefined;
      throw error;
    });
    return table;
  };
  return {
    model: async () => {
      id ??= (await (table ?? load(assets))).id;
      return { id, dimensions: DIMENSIONS };
    },
    embed: async (texts) => {
      const known = await loaded();
      return texts.map((text) => vectorOf(known, text));
    },
  };
};

const load = async (assets: Pick<Assets, 'read' | 'readText'>): Promise<Table> => {
  const [vectors, scales, vocabulary] = await Promise.all([
    assets.read('vectors.i8', { maxBytes: MAX_BYTES }),
    assets.read('scales.f32', { maxBytes: MAX_BYTES }),
    assets.readText('vocab.txt', { maxBytes: MAX_BYTES }),
  ]);
  const words = vocabulary.replace(/\n$/, '').split('\n');
  if (vectors.length !== words.length * DIMENSIONS || scales.length !== words.length * 4)
    throw new Error('the table of embedder-static is not whole: build it again with npm run build -- --only ext:embedder-static');
  return {
    id: `static-${createHash('sha256').update(vectors).update(scales).update(vocabulary).digest('hex').slice(0, 12)}/${DIMENSIONS}`,
    pieces: createWordPieces(words),
    vectors: new Int8Array(vectors.buffer, vectors.byteOffset, vectors.length),
    scales: new Float32Array(new Uint8Array(scales).buffer),
  };
};

const vectorOf = ({ pieces, vectors, scales }: Table, text: string): number[] => {
  const sum = new Float64Array(DIMENSIONS);
  for (const row of pieces.piecesOf(text.slice(0, MAX_CHARS))) {
    const scale = scales[row] ?? 0;
    for (let at = 0; at < DIMENSIONS; at++) sum[at] = (sum[at] ?? 0) + scale * (vectors[row * DIMENSIONS + at] ?? 0);
  }
  const length = Math.hypot(...sum);
  return Array.from(sum, (value) => (length === 0 ? 0 : value / length));
};
