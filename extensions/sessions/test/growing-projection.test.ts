/** A projection that grows with its log, against one made of the whole log by other means. */
import type { ContentPart, ModelMessage } from '@svc/ext-llm/contract';
import type { Entry, EntryKind } from '@svc/ext-sessions/contract';
import { seededIds } from '@svc/platform/clock/ids';
import { expect } from 'chai';
import { createProjection } from '../src/projection.js';

const ROUNDS = 400;
const MAX_ENTRIES = 40;
const LOST = 'The result of this call was lost: the run was interrupted before it was recorded.';
const KINDS: readonly EntryKind[] = ['user', 'user', 'assistant', 'assistant', 'tool_call', 'tool_call', 'tool_call', 'tool_result', 'tool_result', 'tool_result', 'summary', 'note'];

interface Piece {
  readonly role: 'user' | 'assistant';
  readonly parts: ContentPart[];
}

/** In passes over the whole log, each of them plain: groups of calls, what answers them, then neighbours of one role together. */
const projectedAtOnce = (entries: readonly Entry[]): { messages: ModelMessage[]; repaired: number } => {
  const answers = new Map(entries.filter((entry) => entry.kind === 'tool_result' && entry.callId !== undefined).map((entry) => [entry.callId, entry]));
  const asked = new Set<string>();
  const pieces: Piece[] = [];
  let lost = 0;
  for (let at = 0; at < entries.length; ) {
    const entry = entries[at++];
    if (entry?.kind === 'user') pieces.push({ role: 'user', parts: contentOf(entry) });
    if (entry?.kind === 'summary') pieces.push({ role: 'user', parts: [{ type: 'text', text: `Summary of the conversation so far:\n${entry.content ?? ''}` }] });
    if (entry?.kind === 'assistant') pieces.push({ role: 'assistant', parts: contentOf(entry) });
    if (entry?.kind !== 'tool_call') continue;
    const round: Entry[] = [];
    for (let call: Entry | undefined = entry; call?.kind === 'tool_call'; call = entries[at++]) {
      if (!asked.has(call.callId ?? '')) round.push(call);
      asked.add(call.callId ?? '');
    }
    at -= 1;
    pieces.push({ role: 'assistant', parts: round.map((call) => ({ type: 'tool_call', id: call.callId ?? '', name: call.tool ?? '', args: call.args ?? {} })) });
    pieces.push({
      role: 'user',
      parts: round.map((call) => {
        const answer = answers.get(call.callId ?? '');
        if (!answer) lost += 1;
        return { type: 'tool_result', id: call.callId ?? '', name: call.tool ?? '', content: answer?.content ?? LOST, isError: answer?.isError ?? true };
      }),
    });
  }
  const messages: Piece[] = [];
  for (const { role, parts } of pieces) {
    const last = messages.at(-1);
    if (parts.length === 0) continue;
    if (last?.role === role) last.parts.push(...parts);
    else messages.push({ role, parts: [...parts] });
  }
  const orphans = entries.filter((entry) => entry.kind === 'tool_result' && !asked.has(entry.callId ?? '')).length;
  return { messages, repaired: lost + orphans };
};

const contentOf = ({ parts = [] }: Entry): ContentPart[] => parts.filter((part) => part.type !== 'text' || part.text !== '');
const beginsAt = (messages: readonly ModelMessage[]): number => messages.findIndex(({ role, parts }) => role === 'user' && parts.some(({ type }) => type !== 'tool_result'));

/** What is read of all messages: from the first words of a user on, or behind a note where there are none. */
const readOf = (messages: readonly ModelMessage[]): readonly ModelMessage[] => {
  const first = beginsAt(messages);
  const begins = first < 0 ? messages.findIndex(({ role }) => role === 'assistant') : first;
  const [head, ...rest] = messages.slice(Math.max(0, begins));
  if (!head) return [];
  if (first < 0) return [{ role: 'user', parts: [{ type: 'text', text: 'The beginning of this conversation is not available.' }] }, head, ...rest];
  return [{ role: 'user', parts: head.parts.filter(({ type }) => type !== 'tool_result') }, ...rest];
};

describe('a projection that grows with its log', () => {
  const ids = seededIds(20_26);
  const upTo = (count: number): number => Math.floor(ids.random() * count);

  const randomEntry = (seq: number): Entry => {
    const kind = KINDS[upTo(KINDS.length)] ?? 'user';
    const base = { kind, seq, runId: 'r', at: '2026-01-01T00:00:00.000Z' };
    const call = upTo(20) === 0 ? {} : { callId: `c${upTo(8)}` };
    if (kind === 'user' || kind === 'assistant') return { ...base, parts: [{ type: 'text', text: upTo(6) === 0 ? '' : `${kind} ${seq}` }] };
    if (kind === 'tool_call') return { ...base, ...call, tool: `t${upTo(3)}`, args: { seq } };
    if (kind === 'tool_result') return { ...base, ...call, content: `result ${seq}`, isError: upTo(2) === 0 };
    return { ...base, content: `${kind} ${seq}` };
  };

  it('gives what the whole log gives, wherever it was looked at in between', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const entries: Entry[] = [];
      const projection = createProjection();
      const seen: Array<{ given: readonly ModelMessage[]; text: string }> = [];
      while (entries.length < MAX_ENTRIES) {
        const added = Array.from({ length: 1 + upTo(4) }, (_, index) => randomEntry(entries.length + index + 1));
        entries.push(...added);
        projection.add(added);
        const whole = projectedAtOnce(entries);
        const { messages, repaired, total } = projection.within(Number.MAX_SAFE_INTEGER);
        expect(messages, JSON.stringify(entries)).to.deep.equal(readOf(whole.messages));
        expect({ repaired, total }, JSON.stringify(entries)).to.deep.equal({ repaired: whole.repaired, total: whole.messages.length });
        seen.push({ given: messages, text: JSON.stringify(messages) });
      }
      // What was handed out stays what it was, whatever was added since.
      for (const { given, text } of seen) expect(JSON.stringify(given)).to.equal(text);
    }
  });

  it('cuts to a budget as one that is made anew', () => {
    for (let round = 0; round < ROUNDS; round++) {
      const entries = Array.from({ length: MAX_ENTRIES }, (_, index) => randomEntry(index + 1));
      const grown = createProjection();
      for (const entry of entries) grown.add([entry]);
      const anew = createProjection();
      anew.add(entries);
      const [budget, most] = [upTo(400), 1 + upTo(20)];
      expect(grown.within(budget, most)).to.deep.equal(anew.within(budget, most));
    }
  });

  it('keeps the messages that nothing was added to, so that what was made of them can be kept too', () => {
    const projection = createProjection();
    projection.add([1, 2, 3, 4].map((seq): Entry => ({ kind: seq % 2 === 1 ? 'user' : 'assistant', seq, runId: 'r', at: '', parts: [{ type: 'text', text: `${seq}` }] })));
    const before = projection.within(1_000).messages;
    projection.add([{ kind: 'user', seq: 5, runId: 'r', at: '', parts: [{ type: 'text', text: '5' }] }]);
    const after = projection.within(1_000).messages;

    expect(after.slice(0, 4).every((message, index) => message === before[index])).to.equal(true);
    expect(Object.isFrozen(after[0])).to.equal(true);
  });
});
