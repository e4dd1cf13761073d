/** Embedders of providers: good ones, swapped ones, and those that are hung, dead or talk nonsense. */
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import type { RecordedRequest, ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const CONFIG = `${OPEN_RATE}[memory]\nembedding_provider = "openai"\nembedding_model = "text-embedding-3-small"\n`;
const QUESTION = 'which car do I own';
const WORDS = 'volvo';

/** Cars in one direction, gardens in another. */
const vectorOf = (text: string, size = 3): number[] => {
  const about = /car|volvo/i.test(text) ? 0 : /garden|tulip/i.test(text) ? 1 : 2;
  return Array.from({ length: size }, (_, at) => (at === about ? 1 : 0));
};
const textsIn = ({ body }: RecordedRequest): string[] => ([] as string[]).concat(body.input as string | string[]);
type Mode = (request: RecordedRequest) => ScriptedAnswer;
const good: Mode = (request) => ({ vectors: textsIn(request).map((text) => vectorOf(text)) });

describe('memory with embedders of providers', function () {
  this.timeout(60_000);
  afterEach(stopModelKernels);
  let mode: Mode = good;
  let http: TestHttp;
  const boot = async (): Promise<ModelKernel> => {
    mode = good;
    const svc = await bootWithModel((request) => (request.path.endsWith('/embeddings') ? mode(request) : { text: 'ok' }), { config: CONFIG });
    http = svc.http;
    for (const content of ['I drive an old Volvo', 'Tulips grow behind the shed']) await http.expect(200, 'POST', '/api/memory', { content });
    await until(async () => (await standing()).detail.startsWith('2 of 2'));
    return svc;
  };
  const standing = async (): Promise<{ status: string; detail: string }> => (await http.expect(200, 'GET', '/api/health/detail')).body.checks.find(({ name }: { name: string }) => name === 'memory');
  const search = async (q: string): Promise<Array<{ content: string; why: string[] }>> => (await http.expect(200, 'GET', `/api/memory/search?q=${encodeURIComponent(q)}`)).body.memories;

  it('V1 V4 find by meaning, and another size is indexed again by itself, without comparing the two', async () => {
    await boot();
    expect((await standing()).detail).to.contain('openai/text-embedding-3-small/3');
    expect((await search(QUESTION))[0]).to.deep.include({ content: 'I drive an old Volvo', why: ['vector'] });
    mode = (request) => ({ vectors: textsIn(request).map((text) => vectorOf(text, 5)) });
    // The first question tells that the model is another one; nothing is found by comparing the two.
    expect(await search(QUESTION)).to.deep.equal([]);
    await until(async () => /^2 of 2 .*\/5\)/.test((await standing()).detail));
    expect((await search(QUESTION))[0]).to.deep.include({ content: 'I drive an old Volvo', why: ['vector'] });
  });

  const bad: ReadonlyArray<readonly [string, Mode, RegExp]> = [
    ['hung', () => ({ hang: true }), /within 500 ms/],
    ['dead', () => ({ status: 500, message: 'out of order' }), /./],
    ['not numbers', () => ({ body: '{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[null,1,"x"]}]}' }), /./],
    ['too few', () => ({ vectors: [] }), /./],
    ['of no length', () => ({ vectors: [[]] }), /./],
  ];
  for (const [name, broken, reason] of bad)
    it(`E1 E2 words answer in their usual time where vectors are ${name}, and the doctor and the health page say so`, async () => {
      await boot();
      mode = broken;
      const begun = performance.now();
      expect((await search(WORDS))[0]).to.deep.include({ content: 'I drive an old Volvo', why: ['words'] });
      expect(performance.now() - begun).to.be.lessThan(4_000);
      const health = await standing();
      expect(health.status).to.equal('warn');
      expect(health.detail)
        .to.match(/last error: /)
        .and.match(reason);
      const { doctor } = (await http.expect(200, 'GET', '/api/health/detail')).body;
      const finding = doctor.find(({ check }: { check: string }) => check === 'memory.index');
      expect(finding).to.deep.include({ result: 'warn' });
      expect(finding.message).to.match(/words alone: the embedder openai: ./);
      // It rests: the next search does not wait for it.
      const again = performance.now();
      await search(WORDS);
      expect(performance.now() - again).to.be.lessThan(450);
      // What is added meanwhile is stored, and found by its words.
      await http.expect(200, 'POST', '/api/memory', { content: 'The boat is called Argo' });
      expect((await search('argo'))[0]?.content).to.equal('The boat is called Argo');
    });
});
