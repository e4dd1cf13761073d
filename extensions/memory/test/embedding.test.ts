/** Which texts get a vector, and how long an embedder rests that failed. */
import { expect } from 'chai';
import { createEmbedding, type EmbeddingDeps } from '../src/search/embedding.js';
import { contentWords } from '../src/search/terms.js';

describe('memory: who makes vectors', () => {
  it('numbers alone, and what is left of a text in another script, have no meaning that vectors could compare', () => {
    expect(contentWords('杨雪梅的电话分机是527')).to.equal('');
    expect(contentWords('418')).to.equal('');
    expect(contentWords('Room 418').trim()).to.equal('Room 418');
  });

  it('E2 a provider that failed rests, longer each time, and an answer ends that', async () => {
    let now = 0;
    let isDead = true;
    const llm = {
      value: {
        embed: async () => {
          if (isDead) throw new Error('out of order');
          return { provider: 'vllm', model: 'm', vectors: [[1, 0]], settle: [] };
        },
      },
    };
    const memory = () => ({ embedding_provider: 'vllm', embedding_model: 'm', fts_only: false });
    const embedding = createEmbedding({ embedder: { value: undefined }, llm, memory, mono: () => now, swapped: () => undefined } as unknown as EmbeddingDeps);
    const ask = () => embedding.embed({} as never, '', ['text'], 'query').catch(() => undefined);
    const rests = async (): Promise<number> => {
      const begun = now;
      await ask();
      // Of two that failed together, one counts.
      embedding.late(500);
      while (embedding.isResting()) now += 1_000;
      return now - begun;
    };
    expect([await rests(), await rests(), await rests()]).to.deep.equal([5_000, 10_000, 20_000]);
    for (let times = 0; times < 5; times += 1) await rests();
    expect(await rests()).to.equal(60_000);
    expect([embedding.name(), embedding.state.error]).to.deep.equal(['vllm', 'no vector came within 500 ms']);
    isDead = false;
    await ask();
    expect([embedding.isResting(), embedding.state.error]).to.deep.equal([false, undefined]);
    isDead = true;
    expect(await rests()).to.equal(5_000);
  });
});
