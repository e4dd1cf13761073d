/** The conversation as people read it. */
import type { Entry, EntryDraft } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { historyOf } from '../src/routes/history.js';

const at = (seq: number): string => `2026-01-01T00:00:0${seq}.000Z`;
/** What a message says of its entry. */
const from = (seq: number) => ({ seq, run_id: 'r1', timestamp: at(seq) });
const log = (...drafts: Array<Partial<EntryDraft> & Pick<EntryDraft, 'kind'>>): Entry[] => drafts.map((draft, index) => ({ runId: 'r1', ...draft, seq: index + 1, at: at(index + 1) }));
const said = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }));
const history = (entries: readonly Entry[]) => historyOf({ id: 's', agentId: 'a', label: null }, entries);

describe('the history of a session', () => {
  it('is who said what and when, in order, with the entry and the run that it came from', () => {
    const { messages, message_count: count } = history(log({ kind: 'user', parts: said('one', 'two') }, { kind: 'assistant', parts: said('three') }, { kind: 'note', content: 'It was stopped.' }));
    expect(messages).to.deep.equal([
      { ...from(1), role: 'User', content: 'one\ntwo' },
      { ...from(2), role: 'Assistant', content: 'three' },
      { ...from(3), role: 'System', content: 'It was stopped.' },
    ]);
    expect(count).to.equal(3);
  });

  it('names its session, its agent and its label', () => {
    expect(history([])).to.deep.equal({
      ...{ session_id: 's', agent_id: 'a', message_count: 0, context_window_tokens: 0, label: null, title: null, is_titled: false, is_archived: false, tags: [] },
      ...{ model: null, compacted_summary: null, conversation_id: null, messages: [] },
    });
    expect(historyOf({ id: 's', agentId: 'a', label: 'work' }, []).label).to.equal('work');
  });

  it('shows the images of a message beside its words, and none where there are none', () => {
    const { messages } = history(log({ kind: 'user', parts: [...said('look'), { type: 'image', mediaType: 'image/png', data: 'AA==' }] }, { kind: 'user', parts: said('and?') }));
    expect(messages[0]).to.deep.equal({ ...from(1), role: 'User', content: 'look', images: [{ media_type: 'image/png', data: 'AA==' }] });
    expect(messages[1]).to.not.have.property('images');
  });

  it('folds calls into the words before them, each with its own result', () => {
    const { messages } = history(
      log(
        { kind: 'user', parts: said('go') },
        { kind: 'assistant', parts: said('I will') },
        { kind: 'tool_call', callId: 'c1', tool: 'read', args: { path: 'x' } },
        { kind: 'tool_call', callId: 'c2', tool: 'write', args: { path: 'y' } },
        { kind: 'tool_result', callId: 'c2', tool: 'write', content: 'refused', isError: true },
        { kind: 'tool_result', callId: 'c1', tool: 'read', content: 'words' },
        { kind: 'assistant', parts: said('done') },
      ),
    );
    expect(messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['User', 'go'],
      ['Assistant', 'I will'],
      ['Assistant', 'done'],
    ]);
    expect(messages[1]?.tools).to.deep.equal([
      { id: 'c1', name: 'read', input: { path: 'x' }, running: false, expanded: false, result: 'words', is_error: false },
      { id: 'c2', name: 'write', input: { path: 'y' }, running: false, expanded: false, result: 'refused', is_error: true },
    ]);
  });

  it('gives calls that came without words a message of their own', () => {
    const { messages } = history(log({ kind: 'user', parts: said('go') }, { kind: 'tool_call', callId: 'c1', tool: 'read' }));
    expect(messages[1]).to.deep.equal({ ...from(2), role: 'Assistant', content: '', tools: [{ id: 'c1', name: 'read', input: {}, running: true, expanded: false }] });
  });

  it('shows a call as running until its result came, and no result without its call', () => {
    const { messages } = history(log({ kind: 'user', parts: said('go') }, { kind: 'tool_result', callId: 'ghost', tool: 'x', content: '?' }, { kind: 'tool_call', callId: 'c1', tool: 'read' }));
    expect(messages).to.have.length(2);
    expect(messages[1]?.tools?.[0]).to.include({ running: true }).and.not.have.any.keys('result', 'is_error');
  });

  it('cuts a result at 100 KiB', () => {
    const result = (length: number) =>
      history(log({ kind: 'tool_call', callId: 'c1', tool: 'x' }, { kind: 'tool_result', callId: 'c1', tool: 'x', content: 'y'.repeat(length) })).messages[0]?.tools?.[0]?.result;
    expect(result(102_400)).to.have.length(102_400);
    expect(result(102_401)).to.have.length(102_400);
  });

  it('tells the newest summary, and none of it as a message', () => {
    const { messages, compacted_summary: summary } = history(log({ kind: 'summary', content: 'old' }, { kind: 'user', parts: said('go') }, { kind: 'summary', content: 'new' }));
    expect(summary).to.equal('new');
    expect(messages).to.have.length(1);
  });

  it('says how many tokens a model would read, all messages together', () => {
    // Four for each message, and one for each four letters.
    expect(history(log({ kind: 'user', parts: said('x'.repeat(40)) }, { kind: 'assistant', parts: said('y'.repeat(80)) })).context_window_tokens).to.equal(14 + 24);
  });
});
