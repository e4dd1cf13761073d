/** The scan over vectors: exact, in slices, and safe while entries come and go. */
import { expect } from 'chai';
import { createScanner, rowsOfSlice, type Scanner, SLICE_ROWS } from '../src/search/scanner.js';

/** The same numbers in each run. */
const numbers = (seed: number): (() => number) => {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
};
const vectorOf = (random: () => number, size: number): Int8Array => Int8Array.from({ length: size }, () => Math.floor(random() * 255) - 127);
const cosine = (a: Int8Array, b: Int8Array): number => {
  let sum = 0;
  for (const [at, value] of a.entries()) sum += value * (b[at] ?? 0);
  return sum / (Math.hypot(...a) * Math.hypot(...b));
};

describe('memory: the scan of vectors', () => {
  const filled = (size: number, count: number): { scanner: Scanner; vectors: Int8Array[]; asked: Int8Array } => {
    const random = numbers(size * 1_000 + count);
    const scanner = createScanner();
    const vectors = Array.from({ length: count }, () => vectorOf(random, size));
    for (const [place, vector] of vectors.entries()) scanner.set(place, vector, place % 2 === 0 ? 'even' : 'odd');
    const asked = vectorOf(random, size);
    // The largest number is what the scanner scales by: this one stays as it is.
    asked[0] = 127;
    return { scanner, vectors, asked };
  };

  it('N1 finds what plain arithmetic finds, for sizes that fill a step and sizes that do not', async () => {
    for (const size of [1, 5, 16, 100, 256, 384]) {
      const { scanner, vectors, asked } = filled(size, 300);
      const expected = [...vectors.keys()]
        .map((place) => ({ place, score: cosine(vectors[place] as Int8Array, asked) }))
        .filter(({ score }) => score > 0)
        .toSorted((a, b) => b.score - a.score)
        .slice(0, 10);
      const found = await scanner.nearest([...asked], 10);
      expect(
        found.map(({ score }) => Math.round(score * 1_000)),
        `${size} numbers`,
      ).to.deep.equal(expected.map(({ score }) => Math.round(score * 1_000)));
      if (size >= 100) expect(found.map(({ place }) => place)).to.deep.equal(expected.map(({ place }) => place));
    }
  });

  it('finds those of some agents alone, and nothing that was removed or has another size', async () => {
    const { scanner, asked } = filled(64, 100);
    const even = await scanner.nearest([...asked], 100, ['even']);
    expect(even.every(({ place }) => place % 2 === 0)).to.equal(true);
    const [first] = even;
    scanner.remove(first?.place ?? -1);
    expect((await scanner.nearest([...asked], 100, ['even'])).map(({ place }) => place)).to.deep.equal(even.slice(1).map(({ place }) => place));
    scanner.set(7_000, new Int8Array(32).fill(1), 'even');
    expect(scanner.size).to.equal(99);
    expect(await scanner.nearest([1, 2, 3], 10)).to.deep.equal([]);
    expect(await scanner.nearest([...asked], 10, ['nobody'])).to.deep.equal([]);
  });

  it('N2 N4 lets others run between slices, and begins anew where one of them changed something', async () => {
    const { scanner, asked } = filled(8, SLICE_ROWS + 10);
    const last = Int8Array.from(asked);
    let breaths = 0;
    const found = await scanner.nearest([...asked], 1, undefined, async () => {
      breaths += 1;
      // What is asked for moves from the end into a slice that was scanned already.
      if (breaths > 1) return;
      scanner.set(1_000_000, last, 'even');
      scanner.remove(0);
    });
    expect(breaths).to.be.greaterThan(1);
    expect(found[0]?.place).to.equal(1_000_000);
    expect(found[0]?.score).to.be.closeTo(1, 0.001);
  });

  it('N2 slices of longer vectors have fewer rows, so that none takes longer', async () => {
    expect([64, 256, 384, 1_536, 3_072].map(rowsOfSlice)).to.deep.equal([65_536, 65_536, 43_690, 10_922, 5_461]);
    const vector = new Int8Array(60_000).fill(3);
    const scanner = createScanner();
    for (let place = 0; place < rowsOfSlice(vector.length) * 2 + 1; place += 1) scanner.set(place, vector, 'a');
    let breaths = 0;
    const found = await scanner.nearest([...vector], 3, undefined, async () => {
      breaths += 1;
    });
    expect([breaths, found.length]).to.deep.equal([2, 3]);
  });

  it('N3 nearness is what stands above the mean, where a model puts all texts close together', async () => {
    const random = numbers(9);
    const crowded = (): Int8Array => Int8Array.from({ length: 64 }, () => 80 + Math.floor(random() * 20));
    const scanner = createScanner();
    for (let place = 0; place < 60; place += 1) scanner.set(place, crowded(), 'a');
    const asked = Int8Array.from({ length: 64 }, (_, at) => (at < 20 ? 127 : 60));
    scanner.set(99, asked, 'a');
    const [first, second] = await scanner.nearest([...asked], 5);
    expect(first?.place).to.equal(99);
    expect(first?.above).to.be.greaterThan(3.5);
    expect(first?.score).to.be.greaterThan(0.9);
    expect(second?.score).to.be.lessThan(0.4);
  });
});
