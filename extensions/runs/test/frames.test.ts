/** How the frames of a run look to clients, and what one that comes back after a restart is given. */
import { socketCodeOf } from '../src/frames/socket-errors.js';
import type { JournalRun, JournalStep } from '@svc/api';
import type { RunFrame, RunFrames, RunResult } from '@svc/ext-runs/contract';
import type { Entry } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { isRestartOf, missedFrames, parseFrameId, sseText, wsText } from '../src/frames/frames.js';

const RUN = '0b0e8c1e-6a51-4b6e-9a3a-5d1c5f6a7b8c';
const frame = <T extends keyof RunFrames>(type: T, data: RunFrames[T], final = false): RunFrame => ({ id: `${RUN}.1.7`, seq: 7, attempt: 1, type, data, final }) as RunFrame; // a type and its own data
const RESULT: RunResult = { response: 'hi', input_tokens: 3, output_tokens: 2, iterations: 1, cost_usd: 0.5, session_id: 's', finish: 'stop', provider: 'openai', model: 'gpt-4o' };
const USAGE = { input_tokens: 3, output_tokens: 2 };

describe('a frame on the socket', () => {
  const ws = (given: RunFrame, messageId?: string) => JSON.parse(wsText(given, messageId));
  const frame_id = `${RUN}.1.7`;

  it('is thinking only for that phase; every other phase says which it is', () => {
    expect(ws(frame('phase', { phase: 'thinking' }))).to.deep.equal({ type: 'thinking', frame_id });
    expect(ws(frame('phase', { phase: 'waiting', detail: 'a person', approval_id: 'a1' }))).to.deep.equal({ type: 'phase', phase: 'waiting', detail: 'a person', approval_id: 'a1', frame_id });
  });

  it('is text, the start of a tool, or its result, by the names of the interface', () => {
    expect(ws(frame('chunk', { content: 'so', done: false }))).to.deep.equal({ type: 'text_delta', content: 'so', frame_id });
    expect(ws(frame('thinking_delta', { content: 'hm' }))).to.deep.equal({ type: 'thinking_delta', content: 'hm', frame_id });
    expect(ws(frame('tool_use', { tool: 'x', id: 'c' }))).to.deep.equal({ type: 'tool_start', tool: 'x', id: 'c', frame_id });
    expect(ws(frame('tool_input', { tool: 'x', id: 'c', input: { text: 'y'.repeat(900) } }))).to.deep.include({ type: 'tool_end', tool: 'x', id: 'c', input: `{"text":"${'y'.repeat(491)}` });
    expect(ws(frame('tool_result', { tool: 'x', id: 'c', input: {}, is_error: true, result: 'r' }))).to.deep.equal({ type: 'tool_result', tool: 'x', id: 'c', result: 'r', is_error: true, frame_id });
  });

  it('is a response without provider and model at the end, and names the command that answered', () => {
    const { provider: _provider, model: _model, response, ...rest } = RESULT;
    expect(ws(frame('done', { done: true, usage: USAGE, result: RESULT }, true))).to.deep.equal({ type: 'response', content: response, ...rest, frame_id });
    expect(ws(frame('done', { done: true, usage: USAGE, result: RESULT, command: { name: 'help' } }, true)).command).to.deep.equal({ name: 'help' });
  });

  it('is an error with a hint and a time to wait where there are any', () => {
    expect(ws(frame('error', { error: 'no', code: 'c', status: 500 }, true))).to.deep.equal({ type: 'error', content: 'no', code: 'llm_error', reason: 'c', frame_id });
    expect(ws(frame('error', { error: 'no', code: 'c', status: 429, hint: 'wait', retry_after_secs: 9 }, true))).to.deep.equal({
      type: 'error',
      content: 'no',
      code: 'rate_limited',
      reason: 'c',
      hint: 'wait',
      retry_after_secs: 9,
      frame_id,
    });
  });

  it('has an error code of the list of the interface, whatever failed', () => {
    const codes: ReadonlyArray<readonly [string, number, string]> = [
      ['agent_not_found', 404, 'agent_not_found'],
      ['token_quota_exceeded', 429, 'budget_exceeded'],
      ['llm_context_too_long', 500, 'context_length_exceeded'],
      ['llm_provider_credit', 500, 'billing_error'],
      ['llm_provider_key_missing', 412, 'auth_error'],
      ['llm_provider_model_missing', 500, 'model_not_found'],
      ['upload_not_found', 404, 'upload_access_denied'],
      ['journal_key_conflict', 409, 'format_error'],
      ['auth_forbidden', 403, 'auth_error'],
      ['http_rate_limited', 429, 'rate_limited'],
      ['internal_error', 500, 'llm_error'],
    ];
    for (const [code, status, expected] of codes) expect(socketCodeOf(code, status), code).to.equal(expected);
  });

  it('says to which message it is the end, on the last one only', () => {
    expect(ws(frame('chunk', { content: 'so', done: false }), 'm1')).to.not.have.property('message_id');
    expect(ws(frame('error', { error: 'no', code: 'c', status: 500 }, true), 'm1').message_id).to.equal('m1');
    expect(ws(frame('error', { error: 'no', code: 'c', status: 500 }, true))).to.not.have.property('message_id');
  });
});

describe('a frame of an event stream', () => {
  it('carries its data as it is, but for the last, which tells the result and its usage only', () => {
    const data = (given: RunFrame) => JSON.parse(/^data: (.*)$/m.exec(sseText(given) ?? '')?.[1] ?? 'null');
    expect(data(frame('chunk', { content: 'so', done: false }))).to.deep.equal({ content: 'so', done: false });
    expect(sseText(frame('tool_input', { tool: 'x', id: 'c', input: {} }))).to.equal(undefined);
    expect(data(frame('done', { done: true, usage: USAGE, result: RESULT, command: { name: 'help' } }, true))).to.deep.equal({ done: true, usage: USAGE, result: RESULT });
  });
});

describe('the id of a frame', () => {
  it('is run, attempt and number', () => {
    expect(parseFrameId(`${RUN}.2.31`)).to.deep.equal({ runId: RUN, attempt: 2, seq: 31 });
  });

  for (const id of ['', RUN, `${RUN}.2`, `${RUN}.2.`, `${RUN}.2.3.4`, `x${RUN}.2.3`, `${RUN}.-1.3`, `${RUN}.2.1234567890`, `${RUN}.1234567.1`, `${RUN}.2.3 `])
    it(`is not "${id}"`, () => {
      expect(parseFrameId(id)).to.equal(undefined);
    });
});

describe('the announcement of an attempt', () => {
  it('is told from other phases, other attempts and other frames', () => {
    expect(isRestartOf(frame('phase', { phase: 'restarted', attempt: 2 }), 2)).to.equal(true);
    expect(isRestartOf(frame('phase', { phase: 'restarted', attempt: 3 }), 2)).to.equal(false);
    expect(isRestartOf(frame('phase', { phase: 'waiting', attempt: 2 }), 2)).to.equal(false);
    expect(isRestartOf(frame('chunk', { content: 'restarted', done: false }), 2)).to.equal(false);
  });
});

describe('what a client that comes back has missed', () => {
  const at = '2026-01-01T00:00:00.000Z';
  // Only its id is read.
  const run = { id: RUN } as JournalRun;
  const step = (seq: number, kind: string, key: string, outcome: unknown, status: JournalStep['status'] = 'done'): JournalStep => ({
    seq,
    kind,
    key,
    replay: 'safe',
    intent: {},
    status,
    outcome,
    startedAt: at,
    endedAt: at,
    attempt: 1,
  });
  const entries: Entry[] = [
    { seq: 1, at, kind: 'user', runId: RUN, parts: [{ type: 'text', text: 'go' }] },
    {
      seq: 2,
      at,
      kind: 'assistant',
      runId: RUN,
      parts: [
        { type: 'text', text: 'I will ' },
        { type: 'image', mediaType: 'image/png', data: 'AA==' },
        { type: 'text', text: 'look' },
      ],
    },
    { seq: 3, at, kind: 'tool_call', runId: RUN, callId: 'c1', tool: 'look', args: { where: 'here' } },
    { seq: 4, at, kind: 'tool_result', runId: RUN, callId: 'c1', tool: 'look', content: 'nothing', isError: true },
    { seq: 5, at, kind: 'assistant', runId: RUN, parts: [{ type: 'text', text: 'nothing there' }] },
  ];
  /** Said up to frame 4, looked up to frame 7, said again in the second attempt up to its frame 3. */
  const steps = [
    step(1, 'model', 'm1', { from: 0, through: 2, frames: 4, attempt: 1 }),
    step(2, 'tool', 'c1', { status: 'completed', frames: 7, attempt: 1 }, 'failed'),
    step(3, 'model', 'm2', { from: 4, through: 5, frames: 3, attempt: 2 }),
  ];
  const missed = (attempt: number, seq: number, live: number | undefined = undefined, of = steps, log = entries) => missedFrames(run, of, log, { attempt, seq }, { attempt: 3, live });
  const reported = (frames: readonly RunFrame[]) => frames.map(({ type, id }) => `${type} ${id.slice(RUN.length + 1)}`);

  it('begins with the announcement of the attempt, in the place the client named', () => {
    const [first] = missed(1, 2);
    expect(first).to.deep.equal({ type: 'phase', data: { phase: 'restarted', attempt: 3 }, id: `${RUN}.1.2`, seq: 2, attempt: 1, final: false });
  });

  it('is all text and calls that ended after that place, each in the place where it stood', () => {
    const frames = missed(1, 2);
    expect(reported(frames)).to.deep.equal(['phase 1.2', 'chunk 1.4', 'tool_use 1.5', 'tool_input 1.6', 'tool_result 1.7', 'chunk 2.3']);
    expect(frames.slice(1).map(({ data }) => data)).to.deep.equal([
      { content: 'I will look', done: false },
      { tool: 'look', id: 'c1' },
      { tool: 'look', id: 'c1', input: { where: 'here' } },
      { tool: 'look', id: 'c1', input: { where: 'here' }, is_error: true, result: 'nothing' },
      { content: 'nothing there', done: false },
    ]);
  });

  it('is text again with which the client had stopped, for it was voided, and not what a tool frame came after', () => {
    expect(reported(missed(1, 4))).to.deep.equal(['phase 1.4', 'chunk 1.4', 'tool_use 1.5', 'tool_input 1.6', 'tool_result 1.7', 'chunk 2.3']);
    expect(reported(missed(1, 5))).to.deep.equal(['phase 1.5', 'tool_use 1.5', 'tool_input 1.6', 'tool_result 1.7', 'chunk 2.3']);
  });

  it('is not a call whose result was the last thing the client saw', () => {
    expect(reported(missed(1, 7))).to.deep.equal(['phase 1.7', 'chunk 2.3']);
  });

  it('is nothing of an earlier attempt than the client saw, and nothing of one that the topic still holds', () => {
    expect(reported(missed(2, 0))).to.deep.equal(['phase 2.0', 'chunk 2.3']);
    expect(reported(missed(1, 2, 2))).to.deep.equal(['phase 1.2', 'chunk 1.4', 'tool_use 1.5', 'tool_input 1.6', 'tool_result 1.7']);
    expect(reported(missed(3, 9))).to.deep.equal(['phase 3.9']);
  });

  it('comes in the order in which it was told, whatever the order of the steps', () => {
    expect(reported(missed(1, 2, undefined, [...steps].reverse()))).to.deep.equal(reported(missed(1, 2)));
    const together = [step(1, 'tool', 'a', { frames: 9, attempt: 1 }), step(2, 'tool', 'b', { frames: 4, attempt: 1 })];
    expect(reported(missed(1, 0, undefined, together, []))).to.deep.equal(['phase 1.0', 'tool_use 1.2', 'tool_input 1.3', 'tool_result 1.4', 'tool_use 1.7', 'tool_input 1.8', 'tool_result 1.9']);
  });

  it('is not a step that has not ended, and no empty text', () => {
    const silent = step(1, 'model', 'm1', { from: 2, through: 3, frames: 4, attempt: 1 });
    expect(reported(missed(1, 0, undefined, [step(2, 'tool', 'c1', null, 'intent')]))).to.deep.equal(['phase 1.0']);
    expect(reported(missed(1, 0, undefined, [silent]))).to.deep.equal(['phase 1.0']);
  });

  it('takes the words of each step from its own entries', () => {
    const chunk = (of: JournalStep) => missed(0, 0, undefined, [of]).find(({ type }) => type === 'chunk')?.data;
    expect(chunk(steps[0] as JournalStep)).to.deep.equal({ content: 'I will look', done: false });
    expect(chunk(steps[2] as JournalStep)).to.deep.equal({ content: 'nothing there', done: false });
  });

  it('names a call whose entries are gone, and counts for the attempt of the step where the outcome of an older daemon names none', () => {
    const [, use, , result] = missed(1, 0, undefined, [{ ...step(1, 'tool', 'c9', { frames: 3 }), attempt: 2 }]);
    expect(use).to.include({ id: `${RUN}.2.1` });
    expect(use?.data).to.deep.equal({ tool: '', id: 'c9' });
    expect(result?.data).to.deep.equal({ tool: '', id: 'c9', input: {}, is_error: false, result: '' });
  });
});
