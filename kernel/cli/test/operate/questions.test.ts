/** Questions at a terminal: what `svc agent new` asks, and what is asked before something is lost. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { openTerminal, type PseudoTerminal } from '../chat/pseudo-terminal.js';
import { AGENT_ID, type FakeDaemon, startFakeDaemon } from '../fake-daemon.js';
import { type Bench, createBench } from '../program.js';

const ENTER = '\r';
const DOWN = '\u001b[B';
const CTRL_C = '\u0003';
const MANIFEST = 'name = "assistant"\n\n[model]\ntemperature = 0.2\n';

describe('svc asks at a terminal', function () {
  this.timeout(30_000);
  let bench: Bench;
  let daemon: FakeDaemon;
  let cwd: string;
  beforeEach(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    cwd = path.join(bench.home, 'work');
    mkdirSync(cwd, { recursive: true });
    const template = (name: string): unknown => ({ name, description: `What ${name} does.`, tags: [], source: 'shipped' });
    daemon.answers.set('GET /api/templates', [200, { templates: [template('coder'), template('assistant')], total: 2, skipped: [] }]);
    daemon.answers.set('GET /api/models?available=true', [
      200,
      { models: ['large', 'small'].map((id) => ({ id, provider: 'acme', display_name: id, aliases: [], available: true })), total: 2, available: 2 },
    ]);
    daemon.answers.set('GET /api/models', [200, { models: [{ id: 'small', provider: 'acme', display_name: 'Small', aliases: [], available: true }], total: 1, available: 1 }]);
    daemon.answers.set(`GET /api/agents/${AGENT_ID}`, [200, { id: AGENT_ID, name: 'assistant', revision: 7, manifest_toml: MANIFEST }]);
  });
  afterEach(async () => {
    bench.clean();
    await daemon.close();
  });

  const open = (args: readonly string[], env: NodeJS.ProcessEnv = {}): PseudoTerminal => openTerminal(args, 100, { env: { ...bench.env, ...env }, cwd });
  const sent = (method: string, at: string): unknown => daemon.seen.find((request) => request.method === method && request.path === at)?.body;
  const editor = (script: string): NodeJS.ProcessEnv => {
    const at = path.join(bench.home, 'editor.sh');
    writeFileSync(at, `#!/bin/sh\n${script}\n`);
    chmodSync(at, 0o755);
    return { EDITOR: at };
  };

  it('agent new asks for a template, a name that is free, and a model', async () => {
    const terminal = open(['agent', 'new']);
    await terminal.shows('Template');
    await terminal.shows('What assistant does.');
    terminal.type(ENTER);
    await terminal.shows('Name');
    await terminal.shows('assistant-2');
    terminal.type(`helper${ENTER}`);
    await terminal.shows('There is already an agent helper.');
    terminal.type(`7${ENTER}`);
    await terminal.shows('Model');
    terminal.type(DOWN + DOWN + ENTER);
    expect((await terminal.end).code).to.equal(0);
    expect(sent('POST', '/api/agents')).to.deep.equal({ name: 'helper7', template: 'assistant', model: { provider: 'acme', model: 'small' } });
  });

  it('agent new asks for nothing that was said, Enter takes what is usual, and Ctrl-C makes nothing', async () => {
    const terminal = open(['agent', 'new', 'x', '--template', 'coder']);
    await terminal.shows('Model');
    terminal.type(ENTER);
    expect((await terminal.end).code).to.equal(0);
    expect(sent('POST', '/api/agents')).to.deep.equal({ name: 'x', template: 'coder' });
    const left = open(['agent', 'new']);
    await left.shows('Template');
    left.type(CTRL_C);
    expect((await left.end).code).to.equal(130);
    expect(daemon.seen.filter(({ method }) => method === 'POST')).to.have.length(1);
  });

  it('agent new asks again where what was typed fits no template, and makes nothing of it', async () => {
    const many = Array.from({ length: 13 }, (_, number) => ({ name: `template-${number}`, description: `What template-${number} does.` }));
    daemon.answers.set('GET /api/templates', [200, { templates: many, total: many.length }]);
    const terminal = open(['agent', 'new', 'x']);
    await terminal.shows('Template');
    terminal.type('zzzz');
    await terminal.shows('zzzz');
    terminal.type(ENTER);
    await terminal.shows('No matches.');
    expect(daemon.seen.filter(({ method }) => method === 'POST')).to.have.length(0);
    await terminal.shows('template-0');
    terminal.type('late-7');
    await terminal.shows('What template-7 does.');
    terminal.type(ENTER);
    await terminal.shows('Model');
    terminal.type(ENTER);
    expect((await terminal.end).code).to.equal(0);
    expect(sent('POST', '/api/agents')).to.deep.equal({ name: 'x', template: 'template-7' });
  });

  it('agent new --yes asks nothing', async () => {
    const terminal = open(['agent', 'new', 'x', '--yes']);
    expect((await terminal.end).code).to.equal(0);
    expect(sent('POST', '/api/agents')).to.deep.equal({ name: 'x' });
  });

  it('agent apply shows the difference and does nothing before somebody agrees', async () => {
    const file = path.join(cwd, 'agent.toml');
    writeFileSync(file, MANIFEST.replace('0.2', '0.9'));
    daemon.answers.set(`PATCH /api/agents/${AGENT_ID}`, [200, { status: 'ok', agent_id: AGENT_ID, name: 'assistant', revision: 8 }]);
    const no = open(['agent', 'apply', file]);
    await no.shows('+temperature = 0.9');
    await no.shows('Apply this to assistant?');
    no.type(ENTER);
    await no.shows('Nothing was changed.');
    expect((await no.end).code).to.equal(0);
    expect(sent('PATCH', `/api/agents/${AGENT_ID}`)).to.equal(undefined);
    const yes = open(['agent', 'apply', file]);
    await yes.shows('Apply this to assistant?');
    yes.type('y');
    await yes.shows('assistant is at revision 8');
    expect((await yes.end).code).to.equal(0);
  });

  it('agent edit shows what is wrong with its line and offers to go back', async () => {
    daemon.answers.set(`PATCH /api/agents/${AGENT_ID}`, [
      400,
      {
        error: 'The agent manifest cannot be used (line 4).',
        code: 'agents_invalid_manifest',
        details: { problems: [{ line: 4, key: 'model.boo', message: 'model.boo is not a key of agent.toml', expected: '' }] },
      },
    ]);
    const terminal = open(['agent', 'edit', 'assistant'], editor('grep -q boo "$1" || echo "boo = 1" >> "$1"'));
    await terminal.shows('line 4: model.boo is not a key of agent.toml');
    await terminal.shows('Back to the editor?');
    daemon.answers.set(`PATCH /api/agents/${AGENT_ID}`, [200, { status: 'ok', agent_id: AGENT_ID, name: 'assistant', revision: 8 }]);
    terminal.type('y');
    await terminal.shows('assistant is at revision 8');
    expect((await terminal.end).code).to.equal(0);
    expect(sent('PATCH', `/api/agents/${AGENT_ID}`)).to.deep.equal({ manifest_toml: `${MANIFEST}boo = 1\n`, revision: 7 });
  });

  for (const [what, args, question, method] of [
    ['agent kill', ['agent', 'kill', 'assistant', 'helper'], 'Delete assistant, helper?', 'DELETE'],
    ['files rm', ['files', 'rm', 'assistant', 'notes.txt'], 'Delete notes.txt from the workspace of assistant?', 'DELETE'],
    ['providers remove-key', ['providers', 'remove-key', 'acme'], 'Remove the key of acme?', 'DELETE'],
    ['sessions delete', ['sessions', 'delete', AGENT_ID], 'Delete this session and all its messages?', 'DELETE'],
  ] as const)
    it(`${what} asks first`, async () => {
      const terminal = open(args);
      await terminal.shows(question);
      terminal.type(ENTER);
      await terminal.shows('Nothing was changed.');
      expect((await terminal.end).code).to.equal(0);
      expect(daemon.seen.filter((request) => request.method === method)).to.deep.equal([]);
    });
});
