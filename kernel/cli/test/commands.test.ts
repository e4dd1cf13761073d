/** The commands against a daemon's answers: what they print, ask of it, and end with. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { AGENT_ID, extension, type FakeDaemon, startFakeDaemon } from './fake-daemon.js';
import { type Bench, createBench } from './program.js';

describe('svc', function () {
  this.timeout(20_000);
  let daemon: FakeDaemon;
  let bench: Bench;

  beforeEach(async () => {
    daemon = await startFakeDaemon();
    bench = createBench(daemon.port);
  });
  afterEach(async () => {
    bench.clean();
    await daemon.close();
  });

  const json = async (args: readonly string[], stdin?: string) => {
    const ran = await bench.run([...args, '--json'], stdin === undefined ? {} : { stdin });
    return { code: ran.code, value: JSON.parse(ran.stdout) as Record<string, unknown> };
  };
  const asked = (name: string) => daemon.seen.find((request) => `${request.method} ${request.path}` === name);

  describe('status', () => {
    it('ends with 0 and one JSON value when all is well', async () => {
      const { code, value } = await json(['status']);
      expect(code).to.equal(0);
      expect(value).to.include({ status: 'running', default_model: 'acme-large', degraded: false, url: daemon.url });
    });

    it('ends with 5 and says what does not work when a part is ill', async () => {
      daemon.answers.set('GET /api/status', [200, { status: 'running', default_provider: null, default_model: null, config_problems: [], health_problems: ['vault: locked: its key is gone'] }]);
      const ran = await bench.run(['status']);
      expect(ran.code).to.equal(5);
      expect(ran.stdout).to.contain('vault: locked: its key is gone').and.not.contain('null');
    });

    it('ends with 3 and says what starts the daemon when nobody answers', async () => {
      await daemon.close();
      const ran = await bench.run(['status']);
      expect(ran.code).to.equal(3);
      expect(ran.stderr).to.contain('not running').and.contain(daemon.url).and.contain('svc start');
      expect((await json(['status'])).value).to.include({ code: 'cli_daemon_not_running', exit_code: 3 });
    });

    it('says why the default is the default, and why it cannot answer', async () => {
      const why = 'Acme was the first provider with a key on 2026-01-01.';
      daemon.answers.set('GET /api/status', [
        200,
        { status: 'running', default_provider: 'acme', default_model: 'acme-large', default_model_why: why, default_model_problem: 'Acme refused its key.' },
      ]);
      const ran = await bench.run(['status']);
      expect(ran.stdout).to.contain('acme / acme-large').and.contain('first provider with a key').and.contain('Acme refused its key.');
    });

    it('ends with 5 and names the problem when config.toml has one', async () => {
      daemon.answers.set('GET /api/status', [200, { status: 'running', config_problems: [{ file: 'config.toml', line: 3, key: 'api.x', message: 'config.toml:3: [api] x is not a setting.' }] }]);
      const ran = await bench.run(['status']);
      expect(ran.code).to.equal(5);
      expect(ran.stdout).to.contain('config.toml:3: [api] x is not a setting.');
    });

    it('takes the address from daemon.json before SVC_PORT, and --port before both', async () => {
      mkdirSync(bench.home, { recursive: true });
      writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: process.pid, url: daemon.url, port: daemon.port }));
      expect((await bench.run(['status'], { env: { SVC_PORT: '1' } })).code).to.equal(0);
      expect((await bench.run(['status', '--port', '1'])).code).to.equal(3);
    });

    it('ignores the daemon.json of a process that is gone', async () => {
      mkdirSync(bench.home, { recursive: true });
      writeFileSync(path.join(bench.home, 'daemon.json'), JSON.stringify({ pid: 2 ** 22 + 1, url: 'http://127.0.0.1:1', port: 1 }));
      expect((await bench.run(['status'])).code).to.equal(0);
    });
  });

  describe('the API key', () => {
    it('comes from SVC_API_KEY, else from config.toml, in the Authorization header', async () => {
      mkdirSync(bench.home, { recursive: true });
      writeFileSync(path.join(bench.home, 'config.toml'), 'api_key = "from \\"file\\""\n');
      await bench.run(['status']);
      await bench.run(['status'], { env: { SVC_API_KEY: 'from env' } });
      expect([...new Set(daemon.seen.map((request) => request.headers.authorization))]).to.deep.equal(['Bearer from "file"', 'Bearer from env']);
    });

    it('that is refused ends with 4 and says how to give one', async () => {
      daemon.answers.set('GET /api/agents', [401, { error: 'A valid API key is needed.', code: 'auth_missing' }]);
      const ran = await bench.run(['agent', 'list']);
      expect(ran.code).to.equal(4);
      expect(ran.stderr).to.contain('A valid API key is needed.').and.contain('SVC_API_KEY');
    });
  });

  describe('usage', () => {
    const wrong: ReadonlyArray<readonly [string[], string]> = [
      [['sttaus'], 'svc status'],
      [['status', '--jsn'], '--json'],
      [['checkpoints'], 'Usage: svc checkpoints'],
      [['agent', 'lst'], 'svc agent list'],
      [['message', 'assistant'], 'text'],
      [['logs', '--lines', 'many'], '--lines is "many"'],
      [['status', '--port', '70000'], '--port is "70000"'],
    ];
    for (const [args, said] of wrong) {
      it(`of \`svc ${args.join(' ')}\` ends with 2 and helps`, async () => {
        const ran = await bench.run(args);
        expect(ran.code).to.equal(2);
        expect(ran.stderr).to.contain(said);
        expect(ran.stdout).to.equal('');
      });
    }

    it('names the value of a SVC_PORT that is none', async () => {
      const ran = await bench.run(['status'], { env: { SVC_PORT: '99999' } });
      expect(ran.code).to.equal(2);
      expect(ran.stderr).to.contain('SVC_PORT').and.contain('99999');
    });

    it('is explained by --help, with every command and exit code', async () => {
      const ran = await bench.run(['--help']);
      expect(ran.code).to.equal(0);
      for (const name of ['start', 'stop', 'status', 'chat', 'message', 'agent', 'providers', 'ext', 'doctor', 'logs', '130  interrupted', 'SVC_HOME']) expect(ran.stdout).to.contain(name);
    });
  });

  describe('message', () => {
    const done = ['done', { done: true, usage: { input_tokens: 3, output_tokens: 2 }, result: { response: 'alpha beta' } }] as const;

    it('prints the answer alone on stdout and the tool calls on stderr', async () => {
      daemon.frames = [
        ['tool_use', { tool: 'file_read', id: '1' }],
        ['tool_result', { tool: 'file_read', id: '1', input: { path: 'a' }, is_error: false, result: 'text' }],
        ['chunk', { content: 'alpha ' }],
        ['chunk', { content: 'beta' }],
        done,
      ];
      const ran = await bench.run(['message', 'assistant', 'read', 'it']);
      expect(ran).to.include({ code: 0, stdout: 'alpha beta\n' });
      expect(ran.stderr).to.contain('file_read').and.contain('{"path":"a"}');
      expect(asked(`POST /api/agents/${AGENT_ID}/message/stream`)?.body).to.deep.equal({ message: 'read it' });
    });

    it('gives one JSON value under --json, and takes the text from stdin for "-"', async () => {
      daemon.frames = [['chunk', { content: 'alpha beta' }], done];
      const { code, value } = await json(['message', 'helper', '-'], 'from a pipe');
      expect(code).to.equal(0);
      expect(value).to.have.keys('agent_id', 'agent', 'response', 'usage', 'tools', 'result');
      expect(value).to.include({ agent: 'helper', response: 'alpha beta' });
    });

    it('takes a dropped stream up after the last frame it saw', async () => {
      daemon.frames = [['chunk', { content: 'alpha ' }], 'drop', ['chunk', { content: 'beta' }], done];
      const ran = await bench.run(['message', 'assistant', 'go']);
      expect(ran).to.include({ code: 0, stdout: 'alpha beta\n' });
      const [first, second] = daemon.seen.filter((request) => request.path.endsWith('/message/stream'));
      expect(second?.headers['last-event-id']).to.equal('run.1.1');
      expect(second?.headers['idempotency-key']).to.equal(first?.headers['idempotency-key']);
    });

    it("shows a failed run with the daemon's words and what fixes it", async () => {
      daemon.frames = [['error', { error: 'The key of acme was refused.', code: 'provider_key_invalid', hint: 'svc providers set-key acme' }]];
      const ran = await bench.run(['message', 'assistant', 'go']);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('was refused').and.contain('svc providers set-key acme');
    });

    it('stops the run on Ctrl-C and ends with 130', async () => {
      daemon.frames = [['chunk', { content: 'one' }], 'pause', ['done', { done: true, result: { finish: 'cancelled' } }]];
      const child = bench.start(['message', 'assistant', 'count']);
      child.stdin.end();
      child.stdout.once('data', () => child.kill('SIGINT'));
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).to.equal(130);
      expect(asked(`POST /api/agents/${AGENT_ID}/stop`)).to.not.equal(undefined);
    });

    it('removes escape codes that a model or tool put into its text', async () => {
      daemon.frames = [['chunk', { content: 'a\u001b]0;title\u0007\u001b[2Jb\u0000' }], done];
      expect((await bench.run(['message', 'assistant', 'go'])).stdout).to.equal('ab\n');
    });

    it('to an agent that is not there names those that are', async () => {
      const ran = await bench.run(['message', 'nobody', 'hi']);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('"nobody"').and.contain('assistant, helper');
    });
  });

  describe('chat', () => {
    it('answers each piped line in turn and passes slash commands on', async () => {
      daemon.frames = [
        ['chunk', { content: 'yes' }],
        ['done', { done: true }],
      ];
      const ran = await bench.run(['chat', 'assistant'], { stdin: 'first\n/usage\n/exit\nnever\n' });
      expect(ran).to.include({ code: 0, stdout: 'yes\nyes\n' });
      expect(daemon.seen.flatMap((request) => (request.path.endsWith('/stream') ? [request.body] : []))).to.deep.equal([{ message: 'first' }, { message: '/usage' }]);
    });

    it('asks for a name when there are several agents and nobody to ask', async () => {
      const ran = await bench.run(['chat']);
      expect(ran.code).to.equal(2);
      expect(ran.stderr).to.contain('svc chat assistant');
    });
  });

  describe('agent', () => {
    it('spawn sends the manifest as it is written', async () => {
      const file = path.join(path.dirname(bench.home), 'agent.toml');
      writeFileSync(file, 'name = "assistant" # mine\n');
      const { value } = await json(['agent', 'spawn', file]);
      expect(value).to.deep.equal({ agent_id: AGENT_ID, name: 'assistant' });
      expect(asked('POST /api/agents')?.body).to.deep.equal({ manifest_toml: 'name = "assistant" # mine\n' });
    });

    it('kill finds the agent by name, id or the beginning of its id', async () => {
      for (const wanted of ['assistant', AGENT_ID, AGENT_ID.slice(0, 6)]) expect((await json(['agent', 'kill', wanted])).value).to.include({ status: 'killed', agent_id: AGENT_ID });
    });
  });

  describe('providers', () => {
    it('list puts those that can answer first', async () => {
      const ran = await bench.run(['providers', 'list']);
      expect(ran.stdout.indexOf('zeta')).to.be.lessThan(ran.stdout.indexOf('acme'));
    });

    it('list ends with the default, why it is that one, and what is wrong with it', async () => {
      const ran = await bench.run(['providers', 'list']);
      expect(ran.stdout).to.match(/zeta \/ zeta-1[\s\S]*chosen by command[\s\S]*refused its key/);
    });

    it('default says which model answers from now on', async () => {
      const ran = await bench.run(['providers', 'default', 'acme', 'acme-large']);
      expect(ran.code).to.equal(0);
      expect(asked('POST /api/providers/acme/default')?.body).to.deep.equal({ model: 'acme-large' });
      expect(ran.stdout).to.contain('acme / acme-large');
    });

    it('set-key reads the key from stdin and never prints it', async () => {
      const ran = await bench.run(['providers', 'set-key', 'acme', '--stdin'], { stdin: 'sk-secret\n' });
      expect(ran.code).to.equal(0);
      expect(asked('POST /api/providers/acme/key')?.body).to.deep.equal({ api_key: 'sk-secret' });
      expect(ran.stdout + ran.stderr).to.not.contain('sk-secret');
    });

    it('set-key takes no key as an argument, and does not wait where nobody can type', async () => {
      expect((await bench.run(['providers', 'set-key', 'acme', 'sk-secret'])).code).to.equal(2);
      const ran = await bench.run(['providers', 'set-key', 'acme']);
      expect(ran.code).to.equal(2);
      expect(ran.stderr).to.contain('--stdin');
    });

    it('set-key says that a provider is unknown before it asks for a key', async () => {
      const ran = await bench.run(['providers', 'set-key', 'nope', '--stdin'], { stdin: 'sk-secret' });
      expect(ran.code).to.equal(1);
      expect(daemon.seen.some((request) => JSON.stringify(request.body ?? '').includes('sk-secret'))).to.equal(false);
    });
  });

  describe('ext', () => {
    it('disable goes ahead when nothing else is touched', async () => {
      const ran = await bench.run(['ext', 'disable', 'webchat']);
      expect(ran.code).to.equal(0);
      expect(ran.stdout).to.contain('webchat is inactive');
    });

    it('disable shows what else stops and degrades, and needs --yes where nobody can answer', async () => {
      const ran = await bench.run(['ext', 'disable', 'memory']);
      expect(ran.code).to.equal(2);
      expect(ran.stderr).to.contain('memory, hands').and.contain('runs').and.contain('--yes');
      expect(asked('POST /api/extensions/memory/disable')).to.equal(undefined);
      expect((await bench.run(['ext', 'disable', 'memory', '--yes'])).code).to.equal(0);
    });

    it('disable --force says so to the daemon', async () => {
      expect((await json(['ext', 'disable', 'memory', '--force', '--yes'])).value).to.have.keys('plan', 'extension');
      expect(asked('POST /api/extensions/memory/disable?force=true')).to.not.equal(undefined);
    });

    it('why says who decided and what it waits for', async () => {
      const ran = await bench.run(['ext', 'why', 'memory']);
      expect(ran.stdout).to.contain('waits for agents').and.contain('the preset');
    });

    it('enable that ends in a failed extension fails, with the reason', async () => {
      daemon.answers.set('POST /api/extensions/memory/plan', [200, { id: 'memory', action: 'enable', starts: ['memory'], stops: [], degrades: [], warning: null, back: null }]);
      daemon.answers.set('POST /api/extensions/memory/enable', [200, { status: 'enabled', extension: extension('memory', { state: 'failed', reason: 'its table is gone' }) }]);
      const ran = await bench.run(['ext', 'enable', 'memory']);
      expect(ran.code).to.equal(1);
      expect(ran.stderr).to.contain('its table is gone').and.contain('svc ext why memory');
    });

    it('list says what each is, also of one that is off for a reason, and what is wrong with one that failed', async () => {
      const off = extension('memory', { state: 'inactive', reason: 'its condition windows is not set' });
      daemon.answers.set('GET /api/extensions', [200, { extensions: [off, extension('hands', { state: 'failed', reason: 'its table is gone' })], total: 2 }]);
      const { stdout } = await bench.run(['ext', 'list']);
      expect(stdout).to.match(/memory .*What memory does, in a sentence .*\(its condition windows is not set\)/);
      expect(stdout).to.match(/hands .*its table is gone/);
    });

    it('list, info and graph have stable JSON', async () => {
      expect((await json(['ext', 'list'])).value).to.have.keys('extensions', 'total');
      expect((await json(['ext', 'info', 'memory'])).value).to.include.keys('id', 'state', 'intent', 'graph');
      expect((await json(['ext', 'graph'])).value).to.have.keys('nodes');
    });
  });

  describe('vault', () => {
    const WHY = 'its key is neither in SVC_VAULT_KEY nor in vault.key';
    beforeEach(() => {
      daemon.answers.set('GET /api/vault', [200, { state: 'locked', why: WHY, names: ['provider.acme', 'provider.zeta'] }]);
      daemon.answers.set('POST /api/vault/reset?confirm=true', [200, { status: 'reset', set_aside: ['vault.enc.2026-01-02'], lost: ['provider.acme', 'provider.zeta'] }]);
    });

    it('status names what is kept and ends with 1 while it does not open', async () => {
      const ran = await bench.run(['vault', 'status']);
      expect(ran.code).to.equal(1);
      expect(ran.stdout).to.contain(WHY).and.contain('provider.acme, provider.zeta').and.contain('svc vault reset');
      daemon.answers.set('GET /api/vault', [200, { state: 'open', why: null, names: [] }]);
      expect((await bench.run(['vault', 'status'])).code).to.equal(0);
    });

    it('reset says what is lost and does nothing before somebody agrees', async () => {
      const ran = await bench.run(['vault', 'reset']);
      expect(ran.code).to.equal(2);
      expect(ran.stderr).to.contain('provider.acme, provider.zeta').and.contain('--yes');
      expect(asked('POST /api/vault/reset?confirm=true')).to.equal(undefined);
      const agreed = await bench.run(['vault', 'reset', '--yes']);
      expect([agreed.code, agreed.stdout.includes('vault.enc.2026-01-02')]).to.deep.equal([0, true]);
      expect(asked('POST /api/vault/reset?confirm=true')).to.not.equal(undefined);
    });

    it('set takes the value from stdin alone, and shows it nowhere', async () => {
      daemon.answers.set('PUT /api/vault/secrets/search.brave', [200, { status: 'stored', name: 'search.brave' }]);
      const ran = await bench.run(['vault', 'set', 'search.brave', '--stdin'], { stdin: 'a-value-of-brave\n' });
      expect([ran.code, asked('PUT /api/vault/secrets/search.brave')?.body]).to.deep.equal([0, { value: 'a-value-of-brave' }]);
      expect(ran.stdout + ran.stderr)
        .to.contain('search.brave is stored')
        .and.not.contain('a-value-of-brave');
      const asArgument = await bench.run(['vault', 'set', 'search.brave', 'a-value-of-brave']);
      expect([asArgument.code, asArgument.stderr.includes('a-value-of-brave')]).to.deep.equal([2, false]);
      expect((await bench.run(['vault', 'set', 'search.brave', '--stdin'], { stdin: ' \n' })).code).to.equal(2);
      expect(daemon.seen.filter(({ method }) => method === 'PUT')).to.have.length(1);
    });

    it('remove finds all names before the first one goes', async () => {
      daemon.answers.set('GET /api/vault', [200, { state: 'open', why: null, names: ['a', 'b'] }]);
      for (const name of ['a', 'b']) daemon.answers.set(`DELETE /api/vault/secrets/${name}`, [200, { status: 'removed', name }]);
      const unknown = await json(['vault', 'remove', 'a', 'c']);
      expect([unknown.code, unknown.value.code, asked('DELETE /api/vault/secrets/a')]).to.deep.equal([1, 'vault_not_found', undefined]);
      expect(await json(['vault', 'rm', 'a', 'b', 'a'])).to.deep.equal({ code: 0, value: { status: 'removed', names: ['a', 'b'] } });
      expect(daemon.seen.filter(({ method }) => method === 'DELETE')).to.have.length(2);
    });

    it('rotate-key says what older backups need, and what is left to do where the environment has the key', async () => {
      daemon.answers.set('POST /api/vault/rotate-key', [200, { status: 'rotated', secrets: 2, earlier_key: 'vault-2026.key' }]);
      expect((await bench.run(['vault', 'rotate-key'])).stdout)
        .to.contain('2 secrets are encrypted')
        .and.contain('vault-2026.key');
      daemon.answers.set('POST /api/vault/rotate-key', [200, { status: 'rotated', secrets: 1, earlier_key: null }]);
      expect((await bench.run(['vault', 'rotate-key'])).stdout)
        .to.contain('1 secret is encrypted')
        .and.contain('remove SVC_VAULT_KEY_PREVIOUS');
    });

    it('reset has nothing to do where nothing was kept', async () => {
      daemon.answers.set('GET /api/vault', [200, { state: 'missing', why: null, names: [] }]);
      expect((await json(['vault', 'reset'])).value).to.include({ status: 'empty' });
      expect(asked('POST /api/vault/reset?confirm=true')).to.equal(undefined);
    });
  });

  it('waits out a short rate limit instead of failing', async () => {
    daemon.answers.set('GET /api/agents', [429, { error: 'Rate limit exceeded', code: 'rate_limited' }]);
    const listing = bench.run(['agent', 'list']);
    while (asked('GET /api/agents') === undefined) await new Promise((resolve) => setTimeout(resolve, 5));
    daemon.answers.set('GET /api/agents', [200, { agents: [], total: 0 }]);
    expect((await listing).code).to.equal(0);
  });

  it("shows a daemon's error with the request id that leads to its log lines", async () => {
    const ran = await bench.run(['ext', 'info', 'nope']);
    expect(ran.code).to.equal(1);
    expect(ran.stderr).to.contain('svc logs --request req-1');
  });
});
