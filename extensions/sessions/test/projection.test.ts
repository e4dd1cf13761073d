import type { Entry, EntryDraft } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { projectEntries } from '../src/projection.js';

const log = (...drafts: Array<Partial<EntryDraft> & Pick<EntryDraft, 'kind'>>): Entry[] => drafts.map((draft, index) => ({ runId: 'r1', ...draft, seq: index + 1, at: '2026-01-01T00:00:00.000Z' }));
const said = (text: string) => [{ type: 'text' as const, text }];
const roles = (entries: readonly Entry[], budget = 100_000) => projectEntries(entries, budget).messages.map((message) => `${message.role}:${message.parts.map((part) => part.type).join('+')}`);

describe('the projection of a session', () => {
  it('puts calls into the assistant message and their results straight after it', () => {
    const entries = log(
      { kind: 'user', parts: said('do it') },
      { kind: 'assistant', parts: said('I will') },
      { kind: 'tool_call', callId: 'a', tool: 'x', args: {} },
      { kind: 'tool_call', callId: 'b', tool: 'y', args: {} },
      { kind: 'tool_result', callId: 'b', tool: 'y', content: 'second' },
      { kind: 'tool_result', callId: 'a', tool: 'x', content: 'first' },
      { kind: 'assistant', parts: said('done') },
    );

    const { messages, repaired } = projectEntries(entries, 100_000);

    expect(roles(entries)).to.deep.equal(['user:text', 'assistant:text+tool_call+tool_call', 'user:tool_result+tool_result', 'assistant:text']);
    expect(messages[2]?.parts.map((part) => part.type === 'tool_result' && part.content)).to.deep.equal(['first', 'second']);
    expect(repaired).to.equal(0);
  });

  it('puts what was recalled before its question, as words that nobody said', () => {
    const entries = log(
      { kind: 'recall', content: 'Ann likes tea.', origin: { labels: [], source: 'a note of May' }, recalled: { id: 'm1', by: 'memory' } },
      { kind: 'user', parts: said('what does Ann like?') },
    );
    expect(projectEntries(entries, 100_000).messages).to.deep.equal([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Recalled for the message that follows, from a note of May. It is background, not a request:\nAnn likes tea.' },
          { type: 'text', text: 'what does Ann like?' },
        ],
      },
    ]);
  });

  it('S12 puts a picture that a call gave behind the results of its round, and lets it begin no conversation', () => {
    const files = [
      { id: 'u1', name: 'chart.png', mediaType: 'image/png' },
      { id: 'u2', name: 'data.csv', mediaType: 'text/csv' },
    ];
    const entries = log(
      { kind: 'user', parts: said('draw') },
      { kind: 'tool_call', callId: 'a', tool: 'x', args: {} },
      { kind: 'tool_call', callId: 'b', tool: 'y', args: {} },
      { kind: 'tool_result', callId: 'a', tool: 'x', content: 'drawn', files },
      { kind: 'tool_result', callId: 'b', tool: 'y', content: 'read' },
      { kind: 'assistant', parts: said('done') },
    );
    const { messages } = projectEntries(entries, 100_000);
    expect(messages[2]?.parts.at(-1)).to.deep.equal({ type: 'image', mediaType: 'image/png', data: '', upload: 'u1', ofCall: 'a' });
    expect(roles(entries)[2]).to.equal('user:tool_result+tool_result+image');
    const cut = projectEntries([...entries, ...log({ kind: 'user', parts: said('next') }).map((entry) => ({ ...entry, seq: 7 }))], 100_000, 2).messages;
    expect(cut[0]?.parts).to.deep.equal([{ type: 'text', text: 'next' }]);
  });

  it('answers a call whose result was lost, so that no call stands unpaired', () => {
    const { messages, repaired } = projectEntries(log({ kind: 'user', parts: said('go') }, { kind: 'tool_call', callId: 'a', tool: 'x', args: {} }), 100_000);

    expect(messages.at(-1)?.parts[0]).to.include({ type: 'tool_result', id: 'a', isError: true });
    expect(repaired).to.equal(1);
  });

  it('keeps results beside their calls when a message came in between', () => {
    const entries = log(
      { kind: 'user', parts: said('one') },
      { kind: 'tool_call', callId: 'a', tool: 'x', args: {} },
      { kind: 'user', parts: said('two') },
      { kind: 'tool_result', callId: 'a', tool: 'x', content: 'late' },
    );

    expect(roles(entries)).to.deep.equal(['user:text', 'assistant:tool_call', 'user:tool_result+text']);
  });

  it('leaves out a result without its call and says so', () => {
    const { messages, repaired } = projectEntries(log({ kind: 'user', parts: said('go') }, { kind: 'tool_result', callId: 'ghost', tool: 'x', content: '?' }), 100_000);

    expect(messages).to.have.length(1);
    expect(repaired).to.equal(1);
  });

  it('cuts the oldest turns to the budget and never the newest request', () => {
    const long = 'x'.repeat(4_000);
    const entries = log(
      { kind: 'user', parts: said(long) },
      { kind: 'assistant', parts: said(long) },
      { kind: 'user', parts: said('the newest') },
      { kind: 'tool_call', callId: 'a', tool: 'x', args: { long } },
      { kind: 'tool_result', callId: 'a', tool: 'x', content: long },
    );

    const { messages } = projectEntries(entries, 10);

    expect(messages[0]?.parts[0]).to.deep.equal({ type: 'text', text: 'the newest' });
    expect(messages).to.have.length(3);
  });

  it('sends no more messages than asked for, and never less than the newest request', () => {
    const turns = Array.from({ length: 10 }, (_, i) => [
      { kind: 'user' as const, parts: said(`q${i}`) },
      { kind: 'assistant' as const, parts: said(`a${i}`) },
    ]).flat();
    const entries = log(...turns, { kind: 'user', parts: said('now') }, { kind: 'tool_call', callId: 'a', tool: 'x', args: {} }, { kind: 'tool_result', callId: 'a', tool: 'x', content: 'y' });

    const { messages } = projectEntries(entries, 100_000, 6);
    expect(messages.map((message) => message.parts[0]?.type === 'text' && message.parts[0].text)).to.deep.equal(['q9', 'a9', 'now', false, false]);
    expect(projectEntries(entries, 100_000, 1).messages).to.have.length(3);
  });

  it('begins with the user, whatever the log begins with', () => {
    expect(roles(log({ kind: 'assistant', parts: said('hello') }, { kind: 'user', parts: said('hi') }))[0]).to.equal('user:text');
  });

  it('puts a summary before what came after it', () => {
    const { messages } = projectEntries(log({ kind: 'summary', content: 'they met', coversThrough: 10 }, { kind: 'user', parts: said('go on') }), 1_000);

    expect(messages).to.have.length(1);
    expect(messages[0]?.parts.map((part) => part.type === 'text' && part.text).join(' '))
      .to.contain('they met')
      .and.to.contain('go on');
  });
});
