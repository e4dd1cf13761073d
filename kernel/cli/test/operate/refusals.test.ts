/** What every command of these groups says where the daemon is not there, may not be asked, or changes meanwhile; and `svc open`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { AGENT_ID, type FakeDaemon, startFakeDaemon } from '../fake-daemon.js';
import { type Bench, createBench, type Ran } from '../program.js';

const MANIFEST = 'name = "assistant"\n[model]\ntemperature = 0.2\n';

/** One of each subcommand; `FILE` is a manifest that is there. */
const EACH: ReadonlyArray<readonly string[]> = [
  ['agent', 'list'],
  ['agent', 'new', 'x'],
  ['agent', 'templates'],
  ['agent', 'show', 'assistant'],
  ['agent', 'edit', 'assistant'],
  ['agent', 'apply', 'FILE', '--yes'],
  ['agent', 'set', 'assistant', 'name', 'x'],
  ['agent', 'clone', 'assistant'],
  ['agent', 'kill', 'assistant'],
  ['sessions', 'list'],
  ['sessions', 'show', 'x'],
  ['sessions', 'rename', 'x', 'y'],
  ['sessions', 'delete', 'x'],
  ['sessions', 'search', 'x'],
  ['models', 'list'],
  ['models', 'show', 'x'],
  ['models', 'use', 'x'],
  ['models', 'alias'],
  ['models', 'update'],
  ['providers', 'add', 'x', 'http://127.0.0.1:1'],
  ['providers', 'set-url', 'x', 'http://127.0.0.1:1'],
  ['providers', 'remove-url', 'x'],
  ['providers', 'test', 'x'],
  ['providers', 'remove-key', 'x'],
  ['tool', 'list'],
  ['tool', 'call', 'x'],
  ['files', 'list', 'assistant'],
  ['files', 'get', 'assistant', 'x'],
  ['files', 'put', 'assistant', 'FILE'],
  ['files', 'rm', 'assistant', 'x'],
  ['files', 'upload', 'assistant', 'FILE'],
  ['open'],
];

describe('svc commands that ask the daemon', function () {
  this.timeout(60_000);
  let bench: Bench;
  let daemon: FakeDaemon;
  let file: string;
  beforeEach(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
    mkdirSync(bench.home, { recursive: true });
    file = path.join(bench.home, 'agent.toml');
    writeFileSync(file, MANIFEST);
  });
  afterEach(async () => {
    bench.clean();
    await daemon.close();
  });

  const run = (words: readonly string[], port?: number): Promise<Ran> =>
    bench.run([...words.map((word) => (word === 'FILE' ? file : word)), '--json'], { env: { EDITOR: 'true', ...(port === undefined ? {} : { SVC_PORT: String(port) }) } });

  it('end with 3 where it is not running, each in one JSON value', async () => {
    for (const words of EACH) {
      const ran = await run(words, 9);
      expect(ran.code, words.join(' ')).to.equal(3);
      expect(JSON.parse(ran.stdout), words.join(' ')).to.include({ code: 'cli_daemon_not_running', exit_code: 3, fix: 'npx svc start' });
    }
  });

  it('end with 4 where the daemon refuses, in its own words', async () => {
    const no = [403, { error: 'Your role may not do that.', code: 'auth_forbidden', request_id: 'req-1' }] as const;
    const answers = [
      `GET /api/agents/${AGENT_ID}`,
      'GET /api/sessions?limit=50&offset=0',
      'GET /api/models/aliases',
      'POST /api/catalog/update',
      'GET /api/tools',
      'GET /api/tools/x',
      `GET /api/agents/${AGENT_ID}/files`,
      `DELETE /api/agents/${AGENT_ID}`,
      'GET /api/providers/x',
    ];
    for (const answer of answers) daemon.answers.set(answer, no);
    for (const words of [
      ['agent', 'show', 'assistant'],
      ['sessions', 'list'],
      ['models', 'alias'],
      ['models', 'update'],
      ['tool', 'list'],
      ['tool', 'call', 'x'],
      ['files', 'list', 'assistant'],
      ['agent', 'kill', 'assistant'],
      ['providers', 'test', 'x'],
      ['providers', 'remove-key', 'x'],
      ['providers', 'add', 'x', 'http://127.0.0.1:1'],
    ]) {
      const ran = await run(words);
      expect(ran.code, words.join(' ')).to.equal(4);
      expect(JSON.parse(ran.stdout), words.join(' ')).to.include({ error: 'Your role may not do that.', exit_code: 4, request_id: 'req-1' });
    }
  });

  it('apply says what to do when somebody else changed the agent meanwhile', async () => {
    daemon.answers.set(`GET /api/agents/${AGENT_ID}`, [200, { id: AGENT_ID, name: 'assistant', revision: 7, manifest_toml: 'name = "assistant"\n' }]);
    daemon.answers.set(`PATCH /api/agents/${AGENT_ID}`, [409, { error: 'Nothing was changed.', code: 'agents_changed_meanwhile', request_id: 'req-1' }]);
    const ran = await bench.run(['agent', 'apply', file, '--yes']);
    expect([ran.code, ran.stderr]).to.satisfy(([code, text]: [number, string]) => code === 1 && text.includes('someone else') && text.includes(`svc agent apply ${file}`));
    expect(daemon.seen.find(({ method }) => method === 'PATCH')?.body).to.deep.equal({ manifest_toml: MANIFEST, revision: 7 });
  });

  it('list reads every page of agents', async () => {
    const more = (id: string): unknown => ({ id, name: id, state: 'Running', mode: 'Normal', model_provider: 'acme', model_name: 'm', last_active: null });
    daemon.answers.set('GET /api/agents', [200, { agents: [more('a'), more('b')], total: 3 }]);
    daemon.answers.set('GET /api/agents?offset=2', [200, { agents: [more('c')], total: 3 }]);
    expect(JSON.parse((await bench.run(['agent', 'list', '--json'])).stdout)).to.include({ total: 3 });
  });

  it('status shows what fails with what fixes it, as doctor does', async () => {
    daemon.answers.set('GET /api/status', [
      200,
      {
        status: 'running',
        config_problems: [],
        health_problems: ['VaultKeyCheck: The vault is locked. Fix: set SVC_VAULT_KEY'],
        problems: [{ check: 'VaultKeyCheck', result: 'fail', message: 'The vault is locked.', fix: 'svc vault reset' }],
      },
    ]);
    const ran = await bench.run(['status']);
    expect(ran.code).to.equal(5);
    expect(ran.stdout).to.match(/\n {2}problem +VaultKeyCheck: The vault is locked\.\n {2}fix +npx svc vault reset\n/);
    expect(ran.stdout.match(/vault is locked/g)).to.have.length(1);
  });

  it('models update says what it found, and what it left out', async () => {
    daemon.answers.set('POST /api/catalog/update', [
      200,
      {
        status: 'ok',
        version: '2026.12.1',
        previous_version: '2026.11.1',
        changed: true,
        files_downloaded: 2,
        models_count: 300,
        timestamp: 'x',
        dropped: [{ entry: 'models[3]', why: 'it has no id' }],
        dropped_count: 2,
      },
    ]);
    const ran = await bench.run(['models', 'update']);
    expect(ran.stdout).to.equal('✓ The catalog is of 2026.12.1 now (before: 2026.11.1), with 300 models.\n');
    expect(ran.stderr).to.equal('left out: models[3]: it has no id\nand 1 more\n');
  });

  describe('open', () => {
    const openWith = (env: Record<string, string>): Promise<Ran> => bench.run(['open', '--json'], { env });
    const opener = (script: string): string => {
      const bin = path.join(bench.home, 'bin');
      mkdirSync(bin, { recursive: true });
      for (const name of ['xdg-open', 'open', 'wslview']) writeFileSync(path.join(bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
      return `${bin}:${bench.env.PATH}`;
    };

    it('hands the address to the browser of a screen, and prints it', async () => {
      const said = path.join(bench.home, 'said');
      const ran = await openWith({ DISPLAY: ':0', PATH: opener(`echo "$1" > "${said}"`) });
      expect(JSON.parse(ran.stdout)).to.deep.equal({ url: `${daemon.url}/`, opened: true });
    });

    it('prints the address alone without a screen, and where no browser opens', async () => {
      if (process.platform === 'linux') expect(JSON.parse((await openWith({ PATH: opener('exit 0') })).stdout)).to.include({ opened: false });
      expect(JSON.parse((await openWith({ DISPLAY: ':0', PATH: opener('exit 4') })).stdout)).to.include({ opened: false });
      const plain = await bench.run(['open']);
      expect([plain.code, plain.stdout]).to.deep.equal([0, `${daemon.url}/\n`]);
    });
  });
});
