/** The official `@google/genai` package, unchanged, at the server that plays Gemini: the server is as honest as the client is strict. */
import { ApiError, GoogleGenAI } from '@google/genai';
import { expect } from 'chai';
import { startGeminiServer } from '@svc/fixtures/providers/gemini-server';
import type { ProviderServer } from '@svc/fixtures/providers/scripted-server';

const MODEL = 'gemini-2.5-flash';

describe('the server that plays Gemini, to the official client', () => {
  let server: ProviderServer;
  let client: GoogleGenAI;
  before(async () => {
    server = await startGeminiServer();
    client = new GoogleGenAI({ apiKey: 'any', httpOptions: { baseUrl: server.url } });
  });
  after(() => server.close());

  it('answers whole, with usage, thoughts apart, and why it stopped', async () => {
    server.script({ text: 'four', thoughts: 'two and two', usage: { input: 8, output: 5, cached: 3, thoughts: 4 } });
    const answer = await client.models.generateContent({ model: MODEL, contents: 'two and two?', config: { systemInstruction: 'Be brief.', temperature: 0, thinkingConfig: { thinkingBudget: 100 } } });
    expect(answer.text).to.equal('four');
    expect(answer.candidates?.[0]?.finishReason).to.equal('STOP');
    expect(answer.usageMetadata).to.include({ promptTokenCount: 8, candidatesTokenCount: 1, thoughtsTokenCount: 4, cachedContentTokenCount: 3, totalTokenCount: 13 });
  });

  it('is asked by it as by our driver', async () => {
    const sent = server.requests.at(-1);
    expect(sent?.path).to.equal(`/v1beta/models/${MODEL}:generateContent`);
    expect(sent?.headers['x-goog-api-key']).to.equal('any');
    expect(sent?.body.contents).to.deep.equal([{ role: 'user', parts: [{ text: 'two and two?' }] }]);
    expect(sent?.body.generationConfig).to.deep.equal({ temperature: 0, thinkingConfig: { thinkingBudget: 100 } });
    expect(sent?.body.systemInstruction.parts).to.deep.equal([{ text: 'Be brief.' }]);
  });

  it('streams its pieces, and calls with their signatures', async () => {
    server.script({ deltas: ['one ', 'two'], toolCalls: [{ id: 'c1', name: 'look', args: { n: 1 }, signature: 'c2VhbGVk' }] });
    const texts: string[] = [];
    const parts = [];
    for await (const chunk of await client.models.generateContentStream({ model: MODEL, contents: 'go' })) {
      for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
        if (part.text) texts.push(part.text);
        if (part.functionCall) parts.push(part);
      }
    }
    expect(texts).to.deep.equal(['one ', 'two']);
    expect(parts).to.deep.equal([{ functionCall: { id: 'c1', name: 'look', args: { n: 1 } }, thoughtSignature: 'c2VhbGVk' }]);
    expect(server.requests.at(-1)?.path).to.equal(`/v1beta/models/${MODEL}:streamGenerateContent?alt=sse`);
  });

  it('says that a prompt was blocked', async () => {
    server.script({ block: 'PROHIBITED_CONTENT' });
    const answer = await client.models.generateContent({ model: MODEL, contents: 'go' });
    expect([answer.promptFeedback?.blockReason, answer.candidates]).to.deep.equal(['PROHIBITED_CONTENT', undefined]);
  });

  it('refuses a key and reports failures in the form of the protocol', async () => {
    for (const [script, status, word] of [
      [{ requireKey: 'another' }, 400, 'API_KEY_INVALID'],
      [{ status: 429, message: 'slow down' }, 429, 'RESOURCE_EXHAUSTED'],
      [{ status: 404, message: 'no such model' }, 404, 'NOT_FOUND'],
    ] as const) {
      server.script(script);
      const error = await client.models.generateContent({ model: MODEL, contents: 'go', config: { httpOptions: { retryOptions: { attempts: 1 } } } }).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(ApiError);
      expect(error).to.include({ status });
      expect(String(error)).to.contain(word);
    }
  });

  it('makes embeddings, several at once', async () => {
    server.script({});
    const { embeddings } = await client.models.embedContent({ model: 'gemini-embedding-001', contents: ['a', 'bb'] });
    expect(embeddings?.map(({ values }) => values)).to.deep.equal([
      [1, 97, 1],
      [2, 98, 1],
    ]);
    expect(server.requests.at(-1)?.path).to.equal('/v1beta/models/gemini-embedding-001:batchEmbedContents');
  });
});
