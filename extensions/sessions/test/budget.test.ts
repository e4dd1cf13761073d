/** The budget of a projection: what it counts, and where it cuts. */
import type { Entry, EntryDraft } from '@svc/ext-sessions/contract';
import { OPEN_RATE, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { countTokens, projectEntries } from '../src/projection.js';

const log = (...drafts: Array<Partial<EntryDraft> & Pick<EntryDraft, 'kind'>>): Entry[] => drafts.map((draft, index) => ({ runId: 'r1', ...draft, seq: index + 1, at: '2026-01-01T00:00:00.000Z' }));
const said = (text: string) => [{ type: 'text' as const, text }];
/** A message of this many tokens: four for itself, one for each four characters. */
const words = (tokens: number, letter: string) => said(letter.repeat((tokens - 4) * 4));

describe('the budget of a projection', () => {
  const turns = log(
    { kind: 'user', parts: words(100, 'a') },
    { kind: 'assistant', parts: words(100, 'b') },
    { kind: 'user', parts: words(100, 'c') },
    { kind: 'assistant', parts: words(100, 'd') },
    { kind: 'user', parts: words(100, 'e') },
  );
  const kept = (entries: readonly Entry[], budget: number): string =>
    projectEntries(entries, budget)
      .messages.map(({ parts: [part] }) => (part?.type === 'text' ? part.text[0] : part?.type))
      .join('');

  it('is filled to the last token, from the newest message backwards', () => {
    expect(kept(turns, 500)).to.equal('abcde');
    expect(kept(turns, 300)).to.equal('cde');
    expect(kept(turns, 100)).to.equal('e');
  });

  it('cuts a whole turn when one token is missing, never in the middle of one', () => {
    expect(kept(turns, 499)).to.equal('cde');
    expect(kept(turns, 400)).to.equal('cde');
    expect(kept(turns, 299)).to.equal('e');
    expect(kept(turns, 0)).to.equal('e');
  });

  it('begins at words of the user, not at the results of calls that would be cut off', () => {
    const calls = log(
      { kind: 'user', parts: words(50, 'a') },
      { kind: 'tool_call', callId: '1', tool: 'x', args: {} },
      { kind: 'tool_result', callId: '1', tool: 'x', content: 'y'.repeat(80) },
      { kind: 'assistant', parts: words(50, 'b') },
    );
    expect(kept(calls, 80)).to.equal('atool_calltool_resultb');
    const later = log(...calls, { kind: 'user', parts: words(50, 'c') });
    expect(kept(later, 150)).to.equal('c');
  });

  it('counts text, calls with their arguments and results by their characters, and an image as a thousand tokens', () => {
    expect(countTokens({ role: 'user', parts: said('12345678') })).to.equal(6);
    expect(countTokens({ role: 'user', parts: said('123456789') })).to.equal(7);
    expect(countTokens({ role: 'user', parts: [...said('1234'), { type: 'image', mediaType: 'image/png', data: 'x'.repeat(9_000) }] })).to.equal(1_005);
    expect(countTokens({ role: 'assistant', parts: [{ type: 'tool_call', id: 'a', name: 'look', args: { at: 'here' } }] })).to.equal(4 + Math.ceil(('look'.length + '{"at":"here"}'.length) / 4));
    expect(countTokens({ role: 'user', parts: [{ type: 'tool_result', id: 'a', name: 'look', content: '1'.repeat(41), isError: false }] })).to.equal(15);
  });

  it('says how many messages there were before it cut', () => {
    expect(projectEntries(turns, 100)).to.include({ total: 5, repaired: 0 });
  });
});

describe('a conversation longer than the window of its model', () => {
  afterEach(stopTestKernels);

  it('is asked about from its newest messages, and kept whole', async function () {
    this.timeout(60_000);
    const isSummaryAsked = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('Summarise the conversation');
    // Nobody summarises it meanwhile.
    const server = await startOpenAiServer((request) => (isSummaryAsked(request) ? { hang: true } : { text: 'ok' }));
    const kernel = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "openai"\nmodel = "gpt-4o"\n[provider_urls]\nopenai = "${server.url}/v1"\n`,
      env: { OPENAI_API_KEY: 'sk-test-budget' },
    });
    const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    // 25,000 tokens each; the model's window is 128,000, of which the answer gets its share.
    for (const letter of 'abcdef') await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: letter.repeat(100_000) });

    const { messages } = server.requests.filter((request) => !isSummaryAsked(request)).at(-1)?.body ?? {};
    const asked = (messages as Array<{ role: string; content: string }>).filter(({ role }) => role === 'user').map(({ content }) => content[0]);
    expect(asked.join('')).to.equal('cdef');
    const { body } = await kernel.http.expect(200, 'GET', `/api/agents/${agent}/session`);
    expect(body.messages.filter(({ role }: { role: string }) => role === 'User')).to.have.length(6);
    await kernel.stop();
    await server.close();
  });
});
