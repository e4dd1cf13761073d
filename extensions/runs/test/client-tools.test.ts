/** Tools of a sender: the ids of their calls, and where their results come from. */
import { expect } from 'chai';
import { openingOf } from '../src/beside.js';
import { clientCallId, runOfCall } from '../src/client-tools/client-wait.js';
import { entriesOf } from '../src/client-tools/answering.js';

const RUN = '01a20e4c-8d5a-7fce-a359-5372c2c3137e';
const OUTSIDE = { labels: ['ExternalNetwork'], source: "the client's tool look" };

describe('tools of a sender', () => {
  it('have calls whose id names the run, in 40 characters that every provider takes', () => {
    const id = clientCallId(RUN, 9_999, 127);
    expect(id).to.match(/^[A-Za-z0-9_-]{1,40}$/);
    expect(runOfCall(id)).to.equal(RUN);
    for (const other of ['', 'call_1', `${id}!`, 'call_abcdefghijklmnopqrstuvwx']) expect(runOfCall(other)).to.equal(undefined);
  });

  it('give results from outside, in the order of their calls, in a conversation and without one', () => {
    const client = { calls: ['a', 'b'].map((id) => ({ id, name: 'look', args: {} })), text: '', usage: { input_tokens: 0, output_tokens: 0 } };
    const given = ['b', 'a'].map((callId) => ({ callId, content: callId }));
    expect(entriesOf(RUN, { client }, given).map(({ callId, origin }) => [callId, origin])).to.deep.equal([
      ['a', OUTSIDE],
      ['b', OUTSIDE],
    ]);
    const history = [{ role: 'user' as const, parts: [], results: [{ callId: 'a', tool: 'look', content: 'x' }] }];
    const input = { agentId: '', sessionId: '', door: 'openai' as const, depth: 0, parts: [], history };
    expect(openingOf(input, RUN).map(({ kind, origin }) => [kind, origin])).to.deep.equal([['tool_result', OUTSIDE]]);
  });
});
