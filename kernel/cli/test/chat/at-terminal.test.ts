/** `svc chat` on a pseudo terminal. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { AGENT_ID, type FakeDaemon, startFakeDaemon } from '../fake-daemon.js';
import { type Bench, createBench } from '../program.js';
import { openTerminal, type PseudoTerminal } from './pseudo-terminal.js';

const ENTER = '\r';
const CTRL_C = '\u0003';
const CTRL_O = '\u000f';
const DONE = ['done', { done: true, usage: { input_tokens: 12, output_tokens: 34 }, result: { finish: 'stop', cost_usd: 0.0042 } }] as const;

const MARKDOWN = [
  '# A heading',
  '',
  'Some **bold words**, `code`, and a sentence that is long enough to be wrapped on a terminal of eighty columns, between words.',
  '',
  '- one',
  '- two',
  '',
  '| name | size |',
  '|---|---:|',
  '| notes.txt | 5 |',
  '',
  '```js',
  'const x = 42;',
  '```',
].join('\n');

describe('svc chat at a terminal', function () {
  this.timeout(30_000);
  let bench: Bench;
  let daemon: FakeDaemon;
  let cwd: string;

  beforeEach(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    mkdirSync(bench.home, { recursive: true });
    cwd = path.join(bench.home, 'work');
    mkdirSync(cwd);
  });
  afterEach(async () => {
    bench.clean();
    await daemon.close();
  });

  const open = async (columns = 80, args: readonly string[] = []): Promise<PseudoTerminal> => {
    const terminal = openTerminal(['chat', 'assistant', ...args], columns, { env: bench.env, cwd });
    await terminal.shows('you → assistant');
    return terminal;
  };
  const leave = async (terminal: PseudoTerminal): Promise<void> => {
    terminal.type(`/exit${ENTER}`);
    expect((await terminal.end).code).to.equal(0);
  };
  const messages = () => daemon.seen.filter(({ path: asked }) => asked === `/api/agents/${AGENT_ID}/message/stream`).map(({ body }) => body);
  const answers = (text: string): void => {
    daemon.frames = [['chunk', { content: text }], DONE];
  };

  for (const columns of [40, 80, 200])
    it(`draws Markdown within ${columns} columns, words whole`, async () => {
      answers(MARKDOWN);
      const terminal = await open(columns);
      terminal.type(`tell me${ENTER}`);
      await terminal.shows('const x = 42;');
      await terminal.hides('thinking');
      const rows = terminal.rows();
      expect(rows.filter((row) => row.length > columns)).to.deep.equal([]);
      expect(rows).to.include('A heading').and.to.include('- one');
      expect(rows.join('\n')).to.contain('│ notes.txt │').and.not.contain('**').and.not.contain('|---');
      const said = rows.join(' ').replace(/\s+/g, ' ');
      expect(said).to.contain('Some bold words, code, and a sentence that is long enough to be wrapped on a terminal of eighty columns, between words.');
      await leave(terminal);
    });

  it('takes lines that are pasted together as one message', async () => {
    answers('three lines');
    const terminal = await open();
    terminal.paste('one\ntwo\nthree');
    await terminal.shows('three');
    expect(messages()).to.deep.equal([]);
    terminal.type(ENTER);
    await terminal.shows('three lines');
    expect(messages()).to.deep.equal([{ message: 'one\ntwo\nthree' }]);
    await leave(terminal);
  });

  it('takes several lines that are typed, with Alt-Enter between them', async () => {
    answers('both');
    const terminal = await open();
    terminal.type('first\u001b\rsecond');
    await terminal.shows('second');
    terminal.type(ENTER);
    await terminal.shows('both');
    expect(messages()).to.deep.equal([{ message: 'first\nsecond' }]);
    await leave(terminal);
  });

  it('has what was said before at hand, in the next start too', async () => {
    answers('well');
    const first = await open();
    first.paste('a question\nin two lines');
    first.type(ENTER);
    await first.shows('well');
    await leave(first);
    answers('again');
    const second = await open();
    // The last was /exit.
    second.type('\u001b[A\u001b[A');
    await second.shows('in two lines');
    second.type(ENTER);
    await second.shows('again');
    expect(messages()).to.deep.equal([{ message: 'a question\nin two lines' }, { message: 'a question\nin two lines' }]);
    await leave(second);
  });

  it('moves at once while it waits, and says what for', async () => {
    daemon.frames = [['phase', { phase: 'retrying', detail: 'retrying 2 of 4 in 3 s: acme is overloaded' }], 'pause', DONE];
    const terminal = await open();
    terminal.type(`hello${ENTER}`);
    await terminal.shows('retrying 2 of 4 in 3 s: acme is overloaded');
    terminal.type(CTRL_C);
    await terminal.hides('retrying');
    await leave(terminal);
  });

  it('tells of a tool in one line, which unfolds', async () => {
    daemon.frames = [
      ['tool_use', { tool: 'file_write', id: 't1' }],
      ['tool_result', { tool: 'file_write', id: 't1', input: { path: 'notes.txt', content: 'hello' }, is_error: false, result: 'Wrote 5 bytes to notes.txt.' }],
      ['chunk', { content: 'It is written.' }],
      DONE,
    ];
    const terminal = await open();
    terminal.type(`write it${ENTER}`);
    await terminal.shows('It is written.');
    const line = terminal.rows().find((row) => row.includes('notes.txt'));
    expect(line).to.match(/^ {2}✓ Write notes\.txt · 5 bytes · \d+ ms$/);
    expect(terminal.rows().join('\n')).to.not.contain('Wrote 5 bytes');
    terminal.type(CTRL_O);
    await terminal.shows('Wrote 5 bytes to notes.txt.');
    terminal.type(CTRL_O);
    await terminal.hides('Wrote 5 bytes to notes.txt.');
    await leave(terminal);
  });

  it('shows tokens and cost after an answer when asked to', async () => {
    answers('one');
    const terminal = await open(80, ['--cost']);
    terminal.type(`hello${ENTER}`);
    await terminal.shows('12 → 34 tokens · $0.0042');
    terminal.type(`/cost off${ENTER}`);
    await terminal.shows('no longer shown');
    await leave(terminal);
  });

  it('stops the answer at Ctrl-C, gives back what was typed ahead, and goes on', async () => {
    daemon.frames = [['chunk', { content: 'counting' }], 'pause', ['done', { done: true, result: { finish: 'cancelled' } }]];
    const terminal = await open();
    terminal.type(`count${ENTER}`);
    await terminal.shows('counting');
    terminal.type(`and then this${ENTER}`);
    await terminal.shows('next  and then this');
    terminal.type(CTRL_C);
    await terminal.hides('next  and then this');
    expect(daemon.seen.filter(({ path: asked }) => asked === `/api/agents/${AGENT_ID}/stop`)).to.have.length(1);
    answers('second answer');
    terminal.type(ENTER);
    await terminal.shows('second answer');
    expect(messages()).to.deep.equal([{ message: 'count' }, { message: 'and then this' }]);
    await leave(terminal);
  });

  it('says what was typed ahead when its turn comes', async () => {
    daemon.frames = [['chunk', { content: 'first answer' }], 'pause', DONE];
    const terminal = await open();
    terminal.type(`one${ENTER}`);
    await terminal.shows('first answer');
    terminal.type(`two${ENTER}`);
    await terminal.shows('next  two');
    answers('last answer');
    await fetch(`${daemon.url}/api/agents/${AGENT_ID}/stop`, { method: 'POST' });
    await terminal.shows('last answer');
    expect(messages()).to.deep.equal([{ message: 'one' }, { message: 'two' }]);
    await leave(terminal);
  });

  it('leaves at the second Ctrl-C, not at the first, nor at one that clears what is typed', async () => {
    const terminal = await open();
    terminal.type('half a sent');
    await terminal.shows('half a sent');
    terminal.type(CTRL_C);
    await terminal.hides('half a sent');
    await new Promise((resolve) => setTimeout(resolve, 2_100));
    terminal.type(CTRL_C);
    await terminal.shows('Press Ctrl-C again to leave');
    terminal.type(CTRL_C);
    expect((await terminal.end).code).to.equal(0);
  });

  it('completes commands, agents and files', async () => {
    daemon.answers.set(`GET /api/commands?agent_id=${AGENT_ID}`, [200, { commands: [{ cmd: '/compact', desc: 'Compact this conversation' }] }]);
    writeFileSync(path.join(cwd, 'figures.csv'), 'a,b');
    const terminal = await open();
    terminal.type('/comp');
    await terminal.shows('Compact this conversation');
    terminal.type('\t');
    await terminal.shows('/compact');
    terminal.type(CTRL_C);
    await terminal.hides('/compact');
    terminal.type('/agent hel');
    await terminal.shows('acme-small');
    terminal.type('\t');
    await terminal.shows('/agent helper');
    terminal.type('\u0015');
    await terminal.hides('/agent helper');
    terminal.type('look at @fig');
    await terminal.shows('figures.csv');
    terminal.type('\t');
    await terminal.shows('@figures.csv');
    terminal.type('\u0015');
    await leave(terminal);
  });

  it('sends a command as it was typed when its keys come faster than the menu follows', async () => {
    daemon.answers.set(`GET /api/commands?agent_id=${AGENT_ID}`, [200, { commands: [{ cmd: '/help', desc: 'Say what there is' }] }]);
    answers('There is this and that.');
    const terminal = await open();
    for (const rest of ['help', 'help now']) {
      terminal.type('/');
      await terminal.shows('Leave');
      terminal.type(`${rest}${ENTER}`);
      await terminal.hides('Leave');
    }
    terminal.type('look at @');
    await terminal.shows('look at @');
    terminal.type(`nothing${ENTER}`);
    await terminal.shows('> look at @nothing');
    await terminal.hides('thinking');
    await leave(terminal);
    expect(messages()).to.deep.equal([{ message: '/help' }, { message: '/help now' }, { message: 'look at @nothing' }]);
  });

  it('says what is so: thinking, using a tool, answering, and that it was stopped', async () => {
    daemon.frames = [
      ['phase', { phase: 'thinking' }],
      ['tool_use', { tool: 'web_fetch', id: 't1' }],
      'pause',
      ['tool_result', { tool: 'web_fetch', id: 't1', input: {}, is_error: false, result: 'x' }],
      DONE,
    ];
    const terminal = await open();
    terminal.type(`look${ENTER}`);
    await terminal.shows('using web_fetch');
    await terminal.hides('thinking');
    await fetch(`${daemon.url}/api/agents/${AGENT_ID}/stop`, { method: 'POST' });
    await terminal.hides('using web_fetch');
    daemon.frames = [['phase', { phase: 'thinking' }], ['thinking_delta', { content: 'hm' }], ['chunk', { content: 'counting' }], 'pause', ['done', { done: true, result: { finish: 'cancelled' } }]];
    terminal.type(`count${ENTER}`);
    await terminal.shows('counting');
    await terminal.shows('answering');
    expect(terminal.rows().join('\n')).to.not.contain('thinking');
    terminal.type(CTRL_C);
    await terminal.shows('Stopped.');
    await terminal.hides('stopping');
    expect(terminal.rows().join('\n')).to.not.contain('answering');
    await leave(terminal);
  });

  it('attaches the files that a message names', async () => {
    daemon.answers.set(`POST /api/agents/${AGENT_ID}/upload`, [200, { file_id: 'f-1', filename: 'figures.csv' }]);
    writeFileSync(path.join(cwd, 'figures.csv'), 'a,b');
    answers('two columns');
    const terminal = await open();
    terminal.paste('what is in @figures.csv and @nowhere?');
    terminal.type(ENTER);
    await terminal.shows('two columns');
    expect(messages()).to.deep.equal([{ message: 'what is in @figures.csv and @nowhere?', attachments: [{ file_id: 'f-1', filename: 'figures.csv' }] }]);
    await leave(terminal);
  });

  it('asks whether a call may run: shows what it would do, what a reviewer said, and sends the choice', async () => {
    const ID = '6f1c2d3e-8a90-4b1c-9d2e-3f4a5b6c7d8e';
    daemon.answers.set(`GET /api/approvals/${ID}`, [
      200,
      {
        id: ID,
        agent_name: 'assistant',
        tool_name: 'file_write',
        status: 'pending',
        needs_totp: false,
        can_remember: false,
        review: { by: 'reviewer:default', decision: 'deny', reason: 'Nobody asked for it.', at: '2026-11-24T08:00:00Z' },
        preview: { kind: 'diff', files: [{ path: 'notes.txt', change: 'create', before: null, diff: '@@ -0,0 +1,1 @@\n+hello \u001b[2Jhidden\n', added: 1, removed: 0, truncated: false }] },
      },
    ]);
    daemon.answers.set(`POST /api/approvals/${ID}/approve`, [200, { id: ID, status: 'approved', decided_at: '2026-11-24T08:00:01Z' }]);
    daemon.frames = [['phase', { phase: 'waiting', detail: 'file_write needs approval', approval_id: ID }], 'pause', ['chunk', { content: 'It is written.' }], DONE];
    const terminal = await open();
    terminal.type(`write it${ENTER}`);
    await terminal.shows('Approve');
    const shown = terminal.rows().join('\n');
    expect(shown)
      .to.contain('assistant wants to create notes.txt, 1 line:')
      .and.contain('reviewer:default denied it; you can still approve it: Nobody asked for it.')
      .and.contain('+hello')
      .and.contain('notes.txt');
    terminal.type(ENTER);
    for (let tries = 0; tries < 200 && !daemon.seen.some(({ path: asked }) => asked === `/api/approvals/${ID}/approve`); tries++) await new Promise((resolve) => setTimeout(resolve, 20));
    expect(daemon.seen.filter(({ path: asked }) => asked === `/api/approvals/${ID}/approve`)).to.have.length(1);
    await fetch(`${daemon.url}/api/agents/${AGENT_ID}/stop`, { method: 'POST' });
    await terminal.shows('It is written.');
    await leave(terminal);
  });

  it('offers to grant what was refused for want of it, and has the agent try again', async () => {
    daemon.answers.set(`GET /api/agents/${AGENT_ID}`, [200, { id: AGENT_ID, revision: 3, capabilities: { network: ['example.org'] } }]);
    daemon.answers.set(`PUT /api/agents/${AGENT_ID}/update`, [200, { status: 'updated' }]);
    daemon.frames = [
      ['tool_use', { tool: 'web_fetch', id: 't1' }],
      [
        'tool_result',
        {
          tool: 'web_fetch',
          id: 't1',
          input: { url: 'https://example.com/' },
          is_error: true,
          result: 'This agent may not reach example.com.',
          missing: [{ capability: 'network', target: 'example.com' }],
        },
      ],
      ['chunk', { content: 'I may not.' }],
      DONE,
    ];
    const terminal = await open();
    terminal.type(`fetch it${ENTER}`);
    await terminal.shows('Grant it and try again');
    expect(terminal.rows().join('\n')).to.contain('network: example.com');
    answers('Now I have it.');
    terminal.type(ENTER);
    await terminal.shows('Now I have it.');
    expect(daemon.seen.find(({ method }) => method === 'PUT')?.body).to.deep.equal({ capabilities: { network: ['example.org', 'example.com'] }, revision: 3 });
    expect(messages()).to.have.length(2);
    await leave(terminal);
  });

  it('says what failed and what fixes it, and goes on', async () => {
    daemon.frames = [['error', { error: 'Acme refused its key.', code: 'llm_provider_auth', hint: 'svc providers set-key acme' }]];
    const terminal = await open();
    terminal.type(`hello${ENTER}`);
    await terminal.shows('Acme refused its key.');
    expect(terminal.rows().join('\n')).to.contain('svc providers set-key acme');
    answers('better');
    terminal.type(`again${ENTER}`);
    await terminal.shows('better');
    await leave(terminal);
  });

  it('lets nothing of an answer move the cursor or retitle the window', async () => {
    answers('safe\u001b]0;owned\u0007 \u001b[2Jwords');
    const terminal = await open();
    terminal.type(`hello${ENTER}`);
    await terminal.shows('safe words');
    expect(terminal.rows().join('\n')).to.contain('you → assistant');
    await leave(terminal);
  });
});
