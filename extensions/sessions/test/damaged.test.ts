/** Entries that lack what they should have, and what whoever asks is told to do about a failure. */
import type { SvcError } from '@svc/api';
import type { Entry } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { sessionsErrors } from '../src/errors.js';
import { historyOf } from '../src/routes/history.js';
import { projectEntries } from '../src/projection.js';

const entry = (seq: number, rest: Partial<Entry> & Pick<Entry, 'kind'>): Entry => ({ runId: null, at: '', ...rest, seq });

describe('entries that lack something', () => {
  const entries = [
    entry(1, { kind: 'summary' }),
    entry(2, { kind: 'user' }),
    entry(3, { kind: 'user', parts: [{ type: 'text', text: 'hi' }] }),
    entry(4, { kind: 'assistant' }),
    entry(5, { kind: 'tool_call' }),
    entry(6, { kind: 'tool_result', callId: '' }),
    entry(7, { kind: 'note' }),
  ];

  it('are read by a model as empty, never as the word undefined, and stop nobody', () => {
    const { messages } = projectEntries(entries, 10_000);
    expect(messages).to.deep.equal([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Summary of the conversation so far:\n' },
          { type: 'text', text: 'hi' },
        ],
      },
      { role: 'assistant', parts: [{ type: 'tool_call', id: '', name: '', args: {} }] },
      { role: 'user', parts: [{ type: 'tool_result', id: '', name: '', content: 'The result of this call was lost: the run was interrupted before it was recorded.', isError: true }] },
    ]);
  });

  it('are shown to people as empty', () => {
    const { messages } = historyOf({ id: 's', agentId: 'a', label: null }, entries);
    expect(messages.map(({ role, content }) => [role, content])).to.deep.equal([
      ['User', ''],
      ['User', 'hi'],
      ['Assistant', ''],
      ['System', ''],
    ]);
    expect(messages[2]?.tools).to.deep.equal([{ id: '', name: '', input: {}, running: false, expanded: false, result: '', is_error: false }]);
  });
});

describe('a failure of sessions', () => {
  const all: ReadonlyArray<readonly [SvcError, number, boolean]> = [
    [sessionsErrors.session_not_found('s'), 404, false],
    [sessionsErrors.invalid_session_id('s'), 400, false],
    [sessionsErrors.session_taken('s'), 409, false],
    [sessionsErrors.compaction_busy(), 409, true],
    [sessionsErrors.compaction_failed('why'), 500, true],
    [sessionsErrors.no_summary('why'), 503, true],
    [sessionsErrors.row_unreadable('s', 1), 500, false],
  ];

  for (const [error, status, retry] of all)
    it(`${error.code} is a ${status}, and the same request ${retry ? 'may succeed later' : 'will fail again'}`, () => {
      expect([error.status, error.retry]).to.deep.equal([status, retry]);
    });
});
