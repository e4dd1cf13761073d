/** The built-in embedder: what is near what, and the pieces that a text is made of. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { createEmbedder } from '../src/embedder.js';
import { createWordPieces } from '../src/word-pieces.js';

const DATA = 'extensions/embedder-static/data';
const assets = { read: async (name: string) => new Uint8Array(await readFile(`${DATA}/${name}`)), readText: (name: string) => readFile(`${DATA}/${name}`, 'utf8') };
const dot = (a: readonly number[] = [], b: readonly number[] = []): number => a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

describe('the built-in embedder', () => {
  const embedder = createEmbedder(assets);

  it('puts texts of one meaning nearer than others, also without a word in common', async () => {
    const [volvo, car, tax] = await embedder.embed(['drive old Volvo', 'car', 'tax return April']);
    expect(dot(volvo, car)).to.be.above(dot(volvo, tax) + 0.15);
  });

  it('B1 B2 gives unit vectors, the same each time, and zeros for what it does not know', async () => {
    const [one, again, nothing] = await embedder.embed(['Two words', 'Two words', '\u{10FFFD}']);
    expect(one).to.deep.equal(again);
    expect(Math.hypot(...(one ?? []))).to.be.closeTo(1, 1e-6);
    expect(nothing?.every((value) => value === 0)).to.equal(true);
    expect((await embedder.model()).id).to.match(/^static-[0-9a-f]{12}\/256$/);
  });

  it('takes texts apart as the tokenizer of the model does', () => {
    const { piecesOf } = createWordPieces(['un', '##aff', '##able', 'cafe', '!', '中', '##x']);
    expect(piecesOf('Unaffable CAFÉ!中')).to.deep.equal([0, 1, 2, 3, 4, 5]);
    expect(piecesOf('unknown')).to.deep.equal([]);
  });
});
