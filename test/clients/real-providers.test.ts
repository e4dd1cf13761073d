/**
 * One conversation with tools, a stop in the middle, a restart and a compaction, with each of the providers that people use most, played with
 * their oddities (fixtures/providers/quirky-server.ts). The table of extensions/llm/README.md has a row for each.
 */
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { QUIRKY_PROVIDERS, type QuirkyServer, startQuirkyServer, TOKENS } from '@svc/fixtures/providers/quirky-server';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { until, useModelKernel } from './model-kernel.js';

/** By the name that a person would give it; Gemini's second wire and llama.cpp are providers of one's own. */
const MODELS: Readonly<Record<(typeof QUIRKY_PROVIDERS)[number], readonly [provider: string, model: string]>> = {
  openai: ['openai', 'gpt-5-mini'],
  anthropic: ['anthropic', 'claude-opus-4-7'],
  gemini: ['gemini', 'gemini-3-flash-preview'],
  'gemini-chat': ['together', 'google/gemini-3-flash-preview'],
  mistral: ['mistral', 'mistral-large-latest'],
  deepseek: ['deepseek', 'deepseek-v4-pro'],
  moonshot: ['moonshot', 'kimi-k2.6'],
  xai: ['xai', 'grok-4-fast-reasoning'],
  groq: ['groq', 'openai/gpt-oss-120b'],
  openrouter: ['openrouter', 'google/gemini-3-flash-preview'],
  vllm: ['vllm', 'gpt-oss-20b'],
  ollama: ['ollama', 'qwen3'],
  lmstudio: ['lmstudio', 'qwen3-8b'],
  llamacpp: ['lemonade', 'deepseek-r1'],
};

const manifest = (name: string, [provider, model]: readonly [string, string]): string =>
  `name = "${name}"\ndescription = "asks"\n[model]\nprovider = "${provider}"\nmodel = "${model}"\nsystem_prompt = "You say what time it is."\n[thinking]\nbudget_tokens = 2048\n[capabilities]\ntools = ["system_time"]\n`;

describe('a conversation with a stop, a restart and a compaction', () => {
  let server: QuirkyServer;
  let home: string;
  let kernel: TestKernel;
  const agents = new Map<string, string>();
  const today = new Date().toISOString().slice(0, 4);

  const boot = (): Promise<TestKernel> => {
    const urls = QUIRKY_PROVIDERS.map((name) => `${MODELS[name][0]} = "${server.url}/${name}${name === 'anthropic' || name === 'gemini' ? '' : '/v1'}"`).join('\n');
    const env = Object.fromEntries(QUIRKY_PROVIDERS.map((name) => [`${MODELS[name][0].toUpperCase()}_API_KEY`, `sk-test-${name}-0001`]));
    return bootTestKernel({ home, config: `${OPEN_RATE}\n[llm]\nmax_retries = 0\n[provider_urls]\n${urls}\n`, env });
  };
  const say = async (name: string, message: string) => (await kernel.http.expect(200, 'POST', `/api/agents/${agents.get(name)}/message`, { message })).body;

  before(async () => {
    server = await startQuirkyServer();
    home = await mkdtemp(join(tmpdir(), 'svc-real-'));
    kernel = await boot();
    for (const name of QUIRKY_PROVIDERS) agents.set(name, (await kernel.http.expect(201, 'POST', '/api/agents', { manifest_toml: manifest(name, MODELS[name]) })).body.agent_id);
    for (const name of QUIRKY_PROVIDERS) {
      expect((await say(name, 'what time is it?')).response, name).to.contain(`The clock says ${today}`);
      const stopped = kernel.http.raw('POST', `/api/agents/${agents.get(name)}/message`, { message: 'and the time, slowly?' });
      await until(() => server.hanging() > 0);
      await kernel.http.expect(200, 'POST', `/api/agents/${agents.get(name)}/stop`);
      await stopped;
      await until(() => server.hanging() === 0);
    }
    await kernel.stop();
    kernel = await boot();
  });
  after(async () => {
    await stopTestKernels();
    await server.close();
    await rm(home, { recursive: true, force: true });
  });

  for (const name of QUIRKY_PROVIDERS)
    it(`ends with the right answer and tokens: ${name}`, async () => {
      const again = await say(name, 'what time is it now?');
      expect(again.response).to.contain(`The clock says ${today}`);
      for (let turn = 0; turn < 7; turn++) await say(name, 'well?');
      const { body } = await kernel.http.expect(200, 'POST', `/api/agents/${agents.get(name)}/session/compact`);
      expect(JSON.stringify(body)).to.not.contain('short enough');
      const last = await say(name, 'tell the time once more');
      expect(last.response).to.match(/^The clock says \d{4}-\d\d-\d\d\.$/);
      expect([last.input_tokens, last.output_tokens]).to.deep.equal([2 * TOKENS.input, 2 * TOKENS.output]);
      const { body: history } = await kernel.http.expect(200, 'GET', `/api/agents/${agents.get(name)}/session`);
      for (const sealed of ['SIG', 'SEALED', 'reasoning_details', 'thought_signature']) expect(JSON.stringify(history), sealed).to.not.contain(sealed);
    });

  it('stands in the table of the README, each with what it was seen to refuse', () => {
    const readme = readFileSync(new URL('../../../../extensions/llm/README.md', import.meta.url), 'utf8');
    for (const name of QUIRKY_PROVIDERS) expect(readme, name).to.contain(`| ${name} |`);
    const learned = server.refusals.map(({ provider }) => provider);
    // What is known of a model from the first day is not refused.
    for (const name of ['openai', 'anthropic', 'gemini', 'gemini-chat', 'mistral', 'deepseek', 'moonshot', 'openrouter'] as const) expect(learned, name).to.not.contain(name);
  });
});

describe('a window that only the provider knows', () => {
  const LIMIT_CHARS = 40_000;
  const boot = useModelKernel();
  const TOO_LONG: ReadonlyArray<readonly [who: string, status: number, message: string]> = [
    ['llama.cpp', 400, 'request (10300 tokens) exceeds the available context size (10000 tokens), try increasing it'],
  ];
  for (const [who, status, message] of TOO_LONG)
    it(`is learned from ${who}: the conversation goes on in the same run`, async () => {
      const sizeOf = (body: { messages: unknown; tools?: unknown }): number => JSON.stringify(body.messages).length + JSON.stringify(body.tools ?? []).length;
      const svc = await boot(({ body }) => (sizeOf(body) > LIMIT_CHARS ? { status, message } : { text: 'noted' }));
      for (let turn = 0; turn < 14; turn++) {
        const answer = await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: `message ${turn} ${'lorem ipsum dolor '.repeat(220)}` });
        expect([answer.status, answer.body.response], JSON.stringify(answer.body)).to.deep.equal([200, 'noted']);
      }
      const refused = svc.model.requests.filter(({ body }) => sizeOf(body) > LIMIT_CHARS);
      expect(refused.length, 'refused').to.be.within(1, 8);
    });
});
