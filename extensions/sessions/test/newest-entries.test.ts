import { expect } from 'chai';
import type { Entry } from '../src/contract.js';
import { newestEntries } from '../src/routes/newest-entries.js';

const MIB = 1_048_576;

const said = (seq: number, text: string): Entry => ({ seq, kind: 'user', runId: null, parts: [{ type: 'text', text }], at: '2026-01-01T00:00:00.000Z' });

/** As the database answers: those after a place, oldest first. */
const storeOf = (all: readonly Entry[]) => {
  let most = 0;
  return {
    entries: async (_session: string, after: number, limit: number) => {
      most = Math.max(most, limit);
      return all.filter(({ seq }) => seq > after).slice(0, limit);
    },
    most: () => most,
  };
};
const read = async (all: readonly Entry[]) => newestEntries(storeOf(all), 's', all.at(-1)?.seq ?? 0);
const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n);

describe('the end of a conversation', () => {
  it('is all of a short one, in order, also where entries are missing between', async () => {
    const seqs = [...range(1, 40), ...range(95, 180)];
    const { entries, isWhole } = await read(seqs.map((seq) => said(seq, 'hi')));
    expect(entries.map(({ seq }) => seq)).to.deep.equal(seqs);
    expect(isWhole).to.equal(true);
    expect(await read([])).to.deep.equal({ entries: [], isWhole: true });
  });

  it('is the newest 5,000 of a long one', async () => {
    const { entries, isWhole } = await read(range(1, 5_003).map((seq) => said(seq, 'hi')));
    expect([entries.length, entries[0]?.seq, entries.at(-1)?.seq, isWhole]).to.deep.equal([5_000, 4, 5_003, false]);
  });

  it('is no more than eight mebibytes of large ones, and one that is larger alone', async () => {
    const large = range(1, 20).map((seq) => said(seq, 'x'.repeat(MIB)));
    expect((await read(large)).entries.map(({ seq }) => seq)).to.deep.equal(range(13, 20));
    expect((await read([said(1, 'a'), said(2, 'x'.repeat(9 * MIB))])).entries.map(({ seq }) => seq)).to.deep.equal([2]);
  });

  it('is read in pieces, so that what is left out is not held', async () => {
    const store = storeOf(range(1, 500).map((seq) => said(seq, 'hi')));
    await newestEntries(store, 's', 500);
    expect(store.most()).to.equal(50);
  });
});
