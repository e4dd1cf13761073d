import type { Entry, EntryDraft, SessionRef } from '@svc/ext-sessions/contract';
import { expect } from 'chai';
import { createLogCache } from '../src/log-cache.js';
import type { SessionRow } from '../src/store.js';

const AT = '2026-01-01T00:00:00.000Z';
const said = (text: string): EntryDraft => ({ kind: 'user', runId: 'r', parts: [{ type: 'text', text }] });
const refOf = (id: string, seq = 0): SessionRef => ({ id, agentId: 'a', ownerId: 'o', seq });
const rowOf = (mark: string, thinking: boolean | null = null): SessionRow => ({
  id: 's',
  agentId: 'a',
  ownerId: 'o',
  label: null,
  createdAt: AT,
  thinking,
  model: null,
  isAside: false,
  seq: Number.parseInt(mark, 10),
  mark,
});
const image = (letters: number): Entry => ({ kind: 'user', runId: 'r', seq: 1, at: AT, parts: [{ type: 'image', mediaType: 'image/png', data: 'x'.repeat(letters) }] });

describe('the logs that are kept in memory', () => {
  let nowMs = 0;
  const clock = { mono: () => nowMs };

  it('are so many letters at most: the one written longest ago goes first', () => {
    const cache = createLogCache(clock, 10_000);
    for (const id of ['one', 'two', 'three']) cache.extend(refOf(id), [said('x'.repeat(1_000))], AT);
    cache.extend(refOf('one', 1), [said('again')], AT);
    cache.extend(refOf('four'), [said('x'.repeat(1_000))], AT);

    expect(['one', 'two', 'three', 'four'].map((id) => cache.get(id, id === 'one' ? 2 : 1) !== undefined)).to.deep.equal([true, false, true, true]);
  });

  it('count images, results and arguments as well, and hold no log that is larger than all may be', () => {
    const cache = createLogCache(clock, 10_000);
    cache.extend(refOf('small'), [said('kept')], AT);
    expect(cache.put(refOf('image'), [image(10_001)], image(1)).entries).to.have.length(1);
    cache.extend(refOf('result'), [{ kind: 'tool_result', runId: 'r', callId: 'c', content: 'x'.repeat(10_001) }], AT);
    cache.extend(refOf('call'), [{ kind: 'tool_call', runId: 'r', callId: 'c', tool: 't', args: { text: 'x'.repeat(10_001) } }], AT);

    expect(['image', 'result', 'call'].map((id) => cache.get(id, 1))).to.deep.equal([undefined, undefined, undefined]);
    expect(cache.get('small', 1)?.entries).to.have.length(1);
  });

  it('give their room back: one that is forgotten takes none', () => {
    const cache = createLogCache(clock, 10_000);
    for (let round = 0; round < 20; round++) {
      cache.extend(refOf('big'), [said('x'.repeat(6_000))], AT);
      cache.forget('big');
    }
    cache.extend(refOf('one'), [said('x'.repeat(3_000))], AT);
    cache.extend(refOf('two'), [said('x'.repeat(3_000))], AT);

    expect([cache.get('one', 1), cache.get('two', 1)].map((log) => log?.entries.length)).to.deep.equal([1, 1]);
  });

  it('answer for their newest entries where they hold each of them, and say whose they are', () => {
    const cache = createLogCache(clock);
    cache.put(
      refOf('s'),
      [2, 3, 4].map((seq): Entry => ({ kind: 'user', runId: 'r', seq, at: AT })),
      { seq: 4, runId: 'r', at: AT },
    );
    const seqsAfter = (after: number, id = 's') => cache.newest(id, after)?.entries.map(({ seq }) => seq);
    expect([seqsAfter(0), seqsAfter(1), seqsAfter(3), seqsAfter(4), seqsAfter(9)]).to.deep.equal([undefined, [2, 3, 4], [4], [], []]);
    expect(cache.newest('s', 3)?.ownerId).to.equal('o');
    // A summary stands in the place of what it covers.
    cache.put(
      refOf('t'),
      [
        { kind: 'summary', runId: null, seq: 7, at: AT },
        { kind: 'user', runId: 'r', seq: 6, at: AT },
        { kind: 'user', runId: 'r', seq: 8, at: AT },
      ],
      { seq: 8, runId: 'r', at: AT },
    );
    expect([seqsAfter(5, 't'), seqsAfter(6, 't'), seqsAfter(7, 't'), seqsAfter(4, 't')]).to.deep.equal([[6, 7, 8], [7, 8], [8], undefined]);
  });

  it('are given back when nobody goes on with them for half a minute', () => {
    nowMs = 0;
    const cache = createLogCache(clock);
    cache.extend(refOf('resting'), [said('first')], AT);
    nowMs = 20_000;
    cache.extend(refOf('busy'), [said('first')], AT);
    cache.rest();
    expect(cache.get('resting', 1)).to.not.equal(undefined);
    nowMs = 31_000;
    cache.rest();

    expect(cache.get('resting', 1)).to.equal(undefined);
    expect(cache.get('busy', 1)).to.not.equal(undefined);
  });

  it('answer for the place in the log that they stand at and no other', () => {
    const cache = createLogCache(clock);
    cache.extend(refOf('s'), [said('one'), said('two')], AT);
    expect(cache.get('s', 1)).to.equal(undefined);
    cache.compare(rowOf(`2/r/${AT}`));
    expect(cache.get('s', 2)?.entries.map(({ seq }) => seq)).to.deep.equal([1, 2]);
    cache.compare(rowOf(`2/other/${AT}`));
    expect(cache.get('s', 2)).to.equal(undefined);
    // What does not follow on what is kept is not put behind it.
    cache.extend(refOf('s'), [said('one')], AT);
    cache.extend(refOf('s', 5), [said('six')], AT);
    expect(cache.get('s', 1) ?? cache.get('s', 6)).to.equal(undefined);
  });

  it('S6 tell a place only after the database was looked at, for fifteen seconds, and as it was extended since', () => {
    nowMs = 0;
    const cache = createLogCache(clock);
    cache.extend(refOf('s'), [said('one')], AT);
    expect(cache.place('s')).to.equal(undefined);
    cache.compare(rowOf(`1/r/${AT}`, true));
    cache.extend(refOf('s', 1), [said('two')], AT);

    expect(cache.place('s')).to.include({ seq: 2, mark: `2/r/${AT}`, agentId: 'a', ownerId: 'o', thinking: true });
    nowMs = 15_001;
    expect(cache.place('s')).to.equal(undefined);
    cache.compare(rowOf(`2/r/${AT}`));
    expect(cache.place('s')).to.include({ seq: 2, thinking: null });
  });

  it('tell no place of a session whose row somebody changes', () => {
    const cache = createLogCache(clock);
    cache.extend(refOf('s'), [said('one')], AT);
    cache.compare(rowOf(`1/r/${AT}`));
    cache.touched('s');
    expect(cache.place('s')).to.equal(undefined);
    cache.compare(rowOf(`1/r/${AT}`, true));
    expect(cache.place('s')).to.equal(undefined);
  });
});
