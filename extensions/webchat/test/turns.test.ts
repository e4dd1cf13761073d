/** What a conversation shows of what is stored and of what goes on. */
import { expect } from 'chai';
import type { History, LiveRun, SessionRun } from '../panels/chat/live-run.js';
import { keptTurns, newestDrawn, type Turn, withLive } from '../panels/chat/turns.js';

// Of both answers of the daemon, what turns are made of.
const history = { messages: [{ seq: 1, role: 'User', content: 'hello', run_id: 'r1' }] } as unknown as History;
const run = { run_id: 'r1', status: 'running' } as unknown as SessionRun;
const live: LiveRun = { id: 'page-1', runId: 'r1', question: { text: 'hello', attachments: [] }, parts: [{ kind: 'text', text: 'Hi' }], phase: 'writing' };

describe('the turns of a conversation', () => {
  const shown = (runs: readonly SessionRun[]) => withLive(keptTurns(history, runs), [live]).map(({ question, parts }) => [question?.text, parts]);

  it('show a message once while its answer is written', () => {
    expect(shown([run])).to.deep.equal([['hello', live.parts]]);
  });

  it('keep their key when what was heard is stored, so that an answer is not drawn anew', () => {
    const answer = { seq: 2, role: 'Assistant', content: 'Hi', run_id: 'r1' };
    const stored = { messages: [...history.messages, answer] } as unknown as History;
    const keys = [withLive([], [live]), withLive(keptTurns(history, [run]), [live]), keptTurns(stored, [run])].map((turns) => turns.map(({ key }) => key));
    expect(keys).to.deep.equal([keys[0], keys[0], keys[0]]);
  });

  it('have keys of their own where one run answers two messages', () => {
    const twice = { messages: [...history.messages, { ...history.messages[0], seq: 2 }] } as unknown as History;
    expect(new Set(keptTurns(twice, [run]).map(({ key }) => key)).size).to.equal(2);
  });

  it('are drawn from the end: no more text than a browser lays out with ease, and at least the last', () => {
    const turn = (key: string, chars: number): Turn => ({ key, parts: [{ kind: 'text', text: 'x'.repeat(chars) }] });
    expect(newestDrawn([])).to.equal(0);
    expect(newestDrawn([turn('a', 10), turn('b', 100_000)])).to.equal(1);
    expect(newestDrawn([turn('a', 50_000), turn('b', 50_000), turn('c', 5_000)])).to.equal(2);
    expect(newestDrawn(Array.from({ length: 100 }, (_, index) => turn(`${index}`, 10)))).to.equal(30);
  });

  it('have one for each message that waits for its turn, once, also while it is sent from here', () => {
    const waiting = { run_id: 'r2', status: 'queued', message: { content: 'and then', attachments: [] } } as unknown as SessionRun;
    const texts = (turns: readonly Turn[]) => turns.map(({ question }) => question?.text);
    const kept = keptTurns(history, [run, waiting]);
    expect(texts(withLive(kept, [live]))).to.deep.equal(['hello', 'and then']);
    const sent: LiveRun = { id: 'page-2', question: { text: 'and then', attachments: [] }, parts: [], phase: 'sending' };
    for (const one of [sent, { ...sent, runId: 'r2' }]) expect(texts(withLive(kept, [live, one]))).to.deep.equal(['hello', 'and then']);
    const stored = { messages: [...history.messages, { seq: 2, role: 'User', content: 'and then', run_id: 'r2' }] } as unknown as History;
    expect(texts(keptTurns(stored, [run, waiting]))).to.deep.equal(['hello', 'and then']);
  });

  it('say which channel a message came by', () => {
    const via = { channel: 'telegram', chat: '7', sender: '21' };
    const came = {
      messages: [
        { ...history.messages[0], via },
        { seq: 2, role: 'User', content: 'typed here' },
      ],
    } as unknown as History;
    expect(keptTurns(came, []).map(({ question }) => question?.via)).to.deep.equal([via, undefined]);
  });

  it('show it once as well where the runs were read before it had one', () => {
    expect(shown([])).to.deep.equal([['hello', live.parts]]);
  });
});
