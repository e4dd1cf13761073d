/** What a compaction covers, what it leaves, and what the model reads afterwards. */
import type { Entry, EntryKind } from '@svc/ext-sessions/contract';
import { OPEN_RATE, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { cutOf, summaryThatFits } from '../src/compaction/cut.js';

const log = (...kinds: EntryKind[]): Entry[] => kinds.map((kind, index) => ({ kind, runId: 'r', seq: index + 1, at: '' }));
const turns = (count: number): EntryKind[] => Array.from({ length: count }, (): EntryKind[] => ['user', 'assistant']).flat();

describe('where a compaction cuts', () => {
  it('is nowhere up to eighty messages, whatever else the log holds', () => {
    expect(cutOf(log(...turns(60)), 80)).to.equal(undefined);
    expect(cutOf(log(...turns(60)), 81)).to.be.a('number');
  });

  it('is before the words of the user with which the newest twenty messages begin', () => {
    // 41 turns less the last answer: the 20 newest end inside an answer, so the cut goes back to the words before it.
    const entries = log(...turns(41).slice(0, -1));
    expect(cutOf(entries, 81)).to.equal(60);
    expect(entries[60]?.kind).to.equal('user');
    // With the last answer the twenty newest begin with words of the user.
    expect(cutOf(log(...turns(41)), 82)).to.equal(62);
  });

  it('counts what was said, not calls and results, and parts no call from its result', () => {
    const working: EntryKind[] = ['user', 'assistant', 'tool_call', 'tool_result', 'assistant'];
    const entries = log(...Array.from({ length: 30 }, () => working).flat());
    const cut = cutOf(entries, 90);
    // Three messages a turn: seven turns hold the newest twenty.
    expect(cut).to.equal(entries.length - 7 * working.length);
    expect(entries[cut as number]?.kind).to.equal('user');
  });

  it('is nowhere when the user spoke only once: there is nothing before it to cover', () => {
    expect(cutOf(log('user', ...Array.from({ length: 100 }, (): EntryKind => 'assistant')), 101)).to.equal(undefined);
  });
});

describe('a summary', () => {
  it('takes at most half of the room of what it covers, whatever a model writes', () => {
    const covered = (chars: number): Entry[] => [{ kind: 'user', runId: 'r', seq: 1, at: '', parts: [{ type: 'text', text: 'x'.repeat(chars) }] }];
    expect(summaryThatFits('They talked.', covered(10_000))).to.equal('They talked.');
    expect(summaryThatFits('y'.repeat(90_000), covered(10_000))).to.have.length.within(4_900, 5_100);
    expect(summaryThatFits('y'.repeat(90_000), covered(10))).to.have.length(400);
  });
});

describe('a compaction', () => {
  let server: ProviderServer;

  afterEach(async () => {
    await stopTestKernels();
    await server.close();
  });

  const isSummaryAsked = (body: unknown): boolean => JSON.stringify(body).includes('Summarise the conversation');
  const texts = (body: { messages: Array<{ content: unknown }> }): string => body.messages.map(({ content }) => (typeof content === 'string' ? content : JSON.stringify(content))).join('\n');
  const numbersIn = (text: string): number[] => [...text.matchAll(/number (\d+);/g)].map((match) => Number(match[1]));

  const boot = async (
    summary: ScriptedAnswer,
  ): Promise<{ kernel: TestKernel; say: (message: string) => Promise<unknown>; history: () => Promise<{ compacted_summary: string | null; messages: unknown[] }> }> => {
    server = await startOpenAiServer();
    server.script(({ body }) => (isSummaryAsked(body) ? summary : { text: 'ok' }));
    const kernel = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${server.url}/v1"\n`,
      env: { OPENAI_API_KEY: 'sk-test-cover' },
    });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    return {
      kernel,
      say: (message) => kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message }),
      history: async () => (await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`)).body,
    };
  };

  /** Each look is a request, so that the daemon gets its turn. */
  const summarised = async (history: () => Promise<{ compacted_summary: string | null }>): Promise<string> => {
    for (let tries = 0; tries < 500; tries++) {
      const { compacted_summary: summary } = await history();
      if (summary !== null) return summary;
    }
    throw new Error('the session was not compacted');
  };

  it('is asked about the older part only, covers exactly that, and the next request holds its summary and the rest', async function () {
    this.timeout(60_000);
    const { say, history } = await boot({ text: 'They counted to thirty.' });
    for (let n = 1; n <= 40; n++) await say(`number ${n};`);
    expect(server.requests.some(({ body }) => isSummaryAsked(body))).to.equal(false);
    await say('number 41;');
    expect(await summarised(history)).to.equal('They counted to thirty.');

    const asked = server.requests.filter(({ body }) => isSummaryAsked(body));
    expect(asked).to.have.length(1);
    expect(numbersIn(texts(asked[0]?.body))).to.deep.equal(Array.from({ length: 30 }, (_, n) => n + 1));

    await say('number 42;');
    const next = texts(server.requests.at(-1)?.body);
    expect(next).to.contain('They counted to thirty.');
    expect(numbersIn(next)).to.deep.equal(Array.from({ length: 12 }, (_, n) => n + 31));
    expect((await history()).messages.length).to.be.greaterThan(83);
  });

  it('says how many messages were left out when no model can summarise, and the session goes on answering', async function () {
    this.timeout(60_000);
    const { say, history } = await boot({ status: 400, message: 'not today' });
    for (let n = 1; n <= 41; n++) await say(`number ${n};`);

    expect(await summarised(history)).to.contain('60 earlier messages were omitted');

    await say('number 42;');
    const next = texts(server.requests.at(-1)?.body);
    expect(next).to.contain('60 earlier messages were omitted');
    expect(numbersIn(next)).to.deep.equal(Array.from({ length: 12 }, (_, n) => n + 31));
  });
});
