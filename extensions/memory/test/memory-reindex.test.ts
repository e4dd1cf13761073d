/** Vectors made anew: on demand with progress, and on from where a restart interrupted them. */
import type { RecordedRequest, Script } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from '@svc/test/clients/model-kernel';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type Bench, createBench } from '../../../kernel/cli/test/program.js';

const CONFIG = `${OPEN_RATE}[memory]\nembedding_provider = "openai"\nembedding_model = "text-embedding-3-small"\n`;
const TEXTS = Array.from({ length: 50 }, (_, index) => ({ content: `Fact number ${index} of the archive` }));

describe('memory: making vectors anew', function () {
  this.timeout(60_000);
  let bench: Bench;
  let asked: string[] = [];
  /** Texts that are answered before the server hangs. */
  let most = Number.POSITIVE_INFINITY;
  const textsIn = ({ body }: RecordedRequest): string[] => ([] as string[]).concat(body.input as string | string[]);
  const script: Script = (request) => {
    if (!request.path.endsWith('/embeddings')) return { text: 'ok' };
    const texts = textsIn(request);
    if (asked.length + texts.length > most) return { hang: true };
    // A single text is a question, such as those of the canary.
    if (texts.length > 1) asked.push(...texts);
    return { vectors: texts.map((text) => [1, text.length, asked.length % 7]) };
  };
  const svc = (kernel: ModelKernel['kernel'], ...args: string[]) => bench.run(['memory', ...args], { env: { SVC_PORT: String(kernel.daemon.port) } });
  const vectors = async ({ http, agent }: ModelKernel) => (await http.expect(200, 'GET', `/api/memory/agents/${agent.id}/stats`)).body.vectors;
  const ofArchive = (): string[] => asked.filter((text) => text.startsWith('Fact number'));
  before(() => {
    bench = createBench(45_310);
  });
  after(async () => {
    await stopModelKernels();
    bench.clean();
  });

  it('V4 svc memory reindex follows the work, and a restart goes on with what is left', async () => {
    const first = await bootWithModel(script, { home: bench.home, config: CONFIG });
    const { id, name } = first.agent;
    await first.http.expect(200, 'POST', `/api/memory/agents/${id}/import`, TEXTS);
    await until(async () => (await vectors(first)).indexed === TEXTS.length);
    asked = [];
    const { code, stdout, stderr } = await svc(first.kernel, 'reindex', name);
    expect(code, stderr).to.equal(0);
    expect(stdout).to.contain('50 entries have vectors of openai/text-embedding-3-small/3');
    expect(stderr).to.contain('50 of 50 entries have a vector');
    expect(new Set(ofArchive()).size).to.equal(TEXTS.length);

    // Two batches are made, the third hangs, and the daemon stops.
    [asked, most] = [[], 32];
    const { body } = await first.http.expect(200, 'POST', `/api/memory/agents/${id}/reindex`);
    expect(body).to.deep.equal({ agent_id: id, status: 'indexing', total: 50 });
    await until(async () => (await vectors(first)).indexed === 32);
    expect((await first.http.expect(200, 'GET', `/api/memory/agents/${id}/search?q=archive&limit=1`)).body.memories).to.have.length(1);
    await first.kernel.stop();
    const before = new Set(ofArchive());
    [asked, most] = [[], Number.POSITIVE_INFINITY];
    const second = await bootWithModel(script, { home: bench.home, config: CONFIG });
    await until(async () => (await vectors(second)).indexed === TEXTS.length);
    expect(ofArchive()).to.have.length(18);
    expect(ofArchive().filter((text) => before.has(text))).to.deep.equal([]);

    await second.http.expect(404, 'POST', '/api/memory/agents/00000000-0000-4000-8000-000000000000/reindex');
  });

  it('is refused where nobody makes vectors', async () => {
    const { http } = await bootTestKernel({ config: `${OPEN_RATE}[memory]\nfts_only = true\n` });
    const { id } = (await http.expect(200, 'GET', '/api/agents')).body.agents[0];
    expect((await http.expect(409, 'POST', `/api/memory/agents/${id}/reindex`)).body.code).to.equal('memory_no_embedder');
    expect((await http.expect(200, 'GET', `/api/memory/agents/${id}/stats`)).body.vectors).to.deep.equal({ indexed: 0, embedder: null, failing: false });
    await stopTestKernels();
  });
});
