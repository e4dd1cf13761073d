/** What a conversation shows of what is stored and of what goes on. */
import { expect } from 'chai';
import type { History, LiveRun, SessionRun } from '../panels/chat/live-run.js';
import { keptTurns, withLive } from '../panels/chat/turns.js';

// Of both answers of the daemon, what turns are made of.
const history = { messages: [{ seq: 1, role: 'User', content: 'hello', run_id: 'r1' }] } as unknown as History;
const run = { run_id: 'r1', status: 'running' } as unknown as SessionRun;
const live: LiveRun = { id: 'page-1', runId: 'r1', question: { text: 'hello', attachments: [] }, parts: [{ kind: 'text', text: 'Hi' }], phase: 'writing' };

describe('the turns of a conversation', () => {
  const shown = (runs: readonly SessionRun[]) => withLive(keptTurns(history, runs), [live]).map(({ question, parts }) => [question?.text, parts]);

  it('show a message once while its answer is written', () => {
    expect(shown([run])).to.deep.equal([['hello', live.parts]]);
  });

  it('show it once as well where the runs were read before it had one', () => {
    expect(shown([])).to.deep.equal([['hello', live.parts]]);
  });
});
