/** One setting changed in config.toml over HTTP: what is kept, what is refused, and who is told. */
import { chmod, lstat, mkdir, readFile, readlink, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, mountSmall, OPEN_RATE, stopTestKernels, type TestAnswer, type TestKernel } from '@svc/testing';
import { expect } from 'chai';

const KEY = 'the-key-of-the-owner-1';

describe('a setting changed over HTTP', function () {
  this.timeout(20_000);
  afterEach(stopTestKernels);

  const fileOf = ({ home }: TestKernel): string => join(home, 'config.toml');
  const textOf = (kernel: TestKernel): Promise<string> => readFile(fileOf(kernel), 'utf8');
  const set = ({ http }: TestKernel, path: unknown, value: unknown, headers: Record<string, string> = {}): Promise<TestAnswer> => http.post('/api/config/set', { path, value }, headers);
  const shown = async ({ http }: TestKernel) => (await http.expect(200, 'GET', '/api/config')).body;
  /** Refused with this, and the file is what it was. */
  const expectRefused = async (kernel: TestKernel, [path, value]: readonly [unknown, unknown], status: number, code: string, words: RegExp = /./): Promise<void> => {
    const before = await textOf(kernel);
    const answer = await set(kernel, path, value);
    expect([answer.status, answer.body.code], `${JSON.stringify(path)}: ${answer.text}`).to.deep.equal([status, code]);
    expect(answer.body.error).to.match(words);
    expect(await textOf(kernel)).to.equal(before);
  };

  it('is in force at once, and everything else in the file is as it was', async () => {
    const text = `# top\n${OPEN_RATE}\n[runs] # mine\n# how many\nmax_active = 7   # not many\n\n[log]\nlevel = "warn"\n`;
    const kernel = await bootTestKernel({ config: text });

    const answer = await set(kernel, 'runs.max_active', 8);

    expect(answer.body).to.deep.equal({ status: 'applied', path: 'runs.max_active', warnings: [] });
    expect(await textOf(kernel)).to.equal(text.replace('= 7', '= 8'));
    expect((await shown(kernel)).runs.max_active).to.equal(8);
    expect(await readFile(join(kernel.home, 'backups/config.toml.prev'), 'utf8')).to.equal(text);
  });

  it('is taken out by null, and its default holds', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[log]\nlevel = "warn" # quiet\n` });
    expect((await set(kernel, 'log.level', null)).body.status).to.equal('applied');
    expect(await textOf(kernel)).to.equal(`${OPEN_RATE}[log]\n`);
    expect((await shown(kernel)).log.level).to.equal('info');
    // What is not there may be taken out again.
    expect((await set(kernel, 'log.level', null)).body.status).to.equal('applied');
  });

  it('holds where its area is served, by the names of the interface', async () => {
    const kernel = await bootTestKernel();
    for (const [path, value] of [
      ['max_history_messages', 40],
      ['thinking.budget_tokens', 2_048],
      ['thinking.stream_thinking', false],
      ['prompt_caching', false],
      ['language', 'de'],
    ])
      expect((await set(kernel, path, value)).body, String(path)).to.include({ status: 'applied', path });
    const { body } = await kernel.http.expect(200, 'GET', '/api/config');
    expect([body.runs.max_history_messages, body.thinking, body.llm.prompt_caching, body.language]).to.deep.equal([40, { budget_tokens: 2_048, stream_thinking: false }, false, 'de']);
  });

  it('may be named by its older spelling, or be a table as a whole', async () => {
    const kernel = await bootTestKernel({ config: `log_level = "warn" # old\n${OPEN_RATE}[provider_urls]\nmine = "http://127.0.0.1:9" # stays\ngone = "http://127.0.0.1:8"\n` });

    expect((await set(kernel, 'log_level', 'debug')).body).to.include({ status: 'applied', path: 'log_level', stands_as: 'log.level' });
    expect((await set(kernel, 'log.level', 'debug')).body)
      .to.include({ path: 'log.level' })
      .and.to.not.have.property('stands_as');
    expect((await set(kernel, 'provider_urls', { mine: 'http://127.0.0.1:9', other: 'http://127.0.0.1:7' })).body.status).to.equal('applied');

    expect(await textOf(kernel)).to.equal(`log_level = "debug" # old\n${OPEN_RATE}[provider_urls]\nmine = "http://127.0.0.1:9" # stays\nother = "http://127.0.0.1:7"\n`);
  });

  it('that is read once waits for the next start, and one of an area that is off for its area', async () => {
    const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\ndisable = ["ratelimit"]\n[security]\nrequired = ["auth"]\n` });

    expect((await set(kernel, 'api.keep_alive_secs', 71)).body).to.include({ status: 'applied_partial', waits_for: 'the next start of the daemon' });
    expect((await set(kernel, 'rate_limit.window_secs', 61)).body).to.include({ status: 'applied_partial', waits_for: 'its area, which is switched off' });
    expect((await set(kernel, 'api.keep_alive_secs', null)).body.status).to.equal('applied');
  });

  describe('is refused', () => {
    const config = `${OPEN_RATE}[log]\nlevel = "warn"\n`;

    it('with 400 where the path is none: too deep, empty, odd, of every object', async () => {
      const kernel = await bootTestKernel({ config });
      await expectRefused(kernel, ['web.fetch.timeout_secs.x', 1], 400, 'config_path_too_deep', /4 names.*three at most/);
      for (const path of ['', 42, null]) expect((await set(kernel, path, 1)).body.code, String(path)).to.equal('invalid_request');
      for (const path of ['.', 'log.', 'log level', 'log/level', '__proto__', 'log.__proto__', '__proto__.polluted', 'log\nlevel', 'l\u00f6g', `log.${'x'.repeat(65)}`])
        await expectRefused(kernel, [path, 1], 400, 'config_path_invalid');
      for (const path of ['constructor', 'constructor.prototype', 'toString', 'log.hasOwnProperty']) await expectRefused(kernel, [path, 1], 400, 'config_setting_unknown');
      expect('polluted' in {}).to.equal(false);
    });

    it('with 400 where nobody reads it, with the nearest name', async () => {
      const kernel = await bootTestKernel({ config });
      await expectRefused(kernel, ['log.levl', 'info'], 400, 'config_setting_unknown', /Did you mean "log\.level"\?/);
      await expectRefused(kernel, ['lgo.level', 'info'], 400, 'config_setting_unknown', /Did you mean "log\.level"\?/);
      await expectRefused(kernel, ['log.level.deeper', 'info'], 400, 'config_setting_unknown');
      await expectRefused(kernel, ['privacy.mode', 'redact'], 400, 'config_setting_waits', /has no effect.*nothing is taken out of messages/);
      await expectRefused(kernel, ['rate_limit.api_requests_per_minute', 5], 400, 'config_setting_waits', /rate_limit_per_second is kept/);
    });

    it('with 400 where the value does not fit, with what was expected', async () => {
      const kernel = await bootTestKernel({ config });
      await expectRefused(kernel, ['log.level', 'wran'], 400, 'config_value_invalid', /one of "trace".*got "wran"\. Did you mean "warn"\?/);
      await expectRefused(kernel, ['log.level', 5], 400, 'config_value_invalid', /must be one of/);
      await expectRefused(kernel, ['runs.max_active', 0], 400, 'config_value_invalid', /whole number from 1 to 100000, got 0/);
      await expectRefused(kernel, ['runs.max_active', 1.5], 400, 'config_value_invalid', /whole number/);
      await expectRefused(kernel, ['runs.max_active', '7'], 400, 'config_value_invalid', /whole number/);
      await expectRefused(kernel, ['runs.max_active', 1e300], 400, 'config_value_unwritable');
      await expectRefused(kernel, ['api.cors_origins', 'https://a.test'], 400, 'config_value_invalid', /a list of strings/);
      await expectRefused(kernel, ['api.cors_origins', [null]], 400, 'config_value_unwritable', /null/);
      await expectRefused(kernel, ['runs', 5], 400, 'config_value_invalid', /a table/);
      await expectRefused(kernel, ['runs', { max_activ: 5 }], 400, 'config_value_invalid', /Did you mean "max_active"/);
      await expectRefused(kernel, ['default_model.model', 'half of \ud800'], 400, 'config_value_unwritable');
      expect((await kernel.http.post('/api/config/set', { path: 'log.level' })).status).to.equal(400);
    });

    it('with 400 where it is so many lines that changing them one by one would hold everybody up', async () => {
      const kernel = await bootTestKernel({ config });
      const of = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`tool_${n}`, 5]));
      await expectRefused(kernel, ['tool_timeouts', of(10_000)], 400, 'config_too_many_changes', /10000 lines/);
      expect((await set(kernel, 'tool_timeouts', of(100))).status).to.equal(200);
      await expectRefused(kernel, ['tool_timeouts', { ...of(100), ...Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`more_${n}`, 5])) }], 400, 'config_too_many_changes', /101 lines/);
    });

    it('with 400 where the next start would fail: an address that others reach, without a key', async () => {
      const kernel = await bootTestKernel({ config });
      await expectRefused(kernel, ['api.listen_addr', '0.0.0.0:4545'], 400, 'config_start_refused', /reached from other machines/);
      await kernel.stop();
      const locked = await bootTestKernel({ config: `api_key = "${KEY}"\n${config}`, key: KEY });
      expect((await set(locked, 'api.listen_addr', '0.0.0.0:4545')).status).to.equal(200);
    });

    it('with 403 where only a person decides: keys, their names, people, grants, what must be on', async () => {
      const kernel = await bootTestKernel({ config: `${config}[[fallback_providers]]\nprovider = "mine"\napi_key_env = "MINE_KEY"\n` });
      for (const [path, value] of [
        ['api_key', 'hunter2hunter2'],
        ['api_key', null],
        ['api_key_hash', `sha256:${'a'.repeat(64)}`],
        ['storage.url', 'postgres://me:hunter2hunter2@db/x'],
        ['default_model.api_key_env', 'ANTHROPIC_API_KEY'],
        ['default_model', { provider: 'anthropic', api_key_env: 'ANTHROPIC_API_KEY' }],
        ['external_auth.client_id', 'me'],
        ['anything.client_secret', 'x'],
        ['network.shared_secret', 'x'],
        ['users', []],
        ['capabilities.user', ['shell']],
        ['capabilities', { user: ['shell'] }],
        ['security.required', []],
        ['extensions.disable', ['auth']],
        ['trusted_proxies', ['0.0.0.0/0']],
        ['fallback_providers', []],
        ['exec_policy.allowed_env_vars', ['OPENAI_API_KEY']],
        ['web', { fetch: { ssrf_allowed_hosts: ['127.0.0.1'] } }],
        ['tool_invoke.allowlist', ['*']],
        ['tool_invoke', { enabled: true, allowlist: ['*'] }],
        ['vault.enabled', false],
      ] as const)
        await expectRefused(kernel, [path, value], 403, 'config_by_hand');
      expect(await textOf(kernel)).not.to.contain('hunter2');
    });

    it('with 400 where the value holds a secret that the daemon knows', async () => {
      const kernel = await bootTestKernel({ config, env: { SVC_API_KEY: KEY }, key: KEY });
      await kernel.http.expect(200, 'POST', '/api/providers/anthropic/key', { api_key: 'sk-ant-a-key-that-was-set-0001' });
      await expectRefused(kernel, ['default_model.model', 'sk-ant-a-key-that-was-set-0001'], 400, 'config_value_secret');
    });

    it('with 409 where the environment holds the value, by any of its names', async () => {
      const kernel = await bootTestKernel({ config, env: { SVC__LOG__LEVEL: 'error', SVC_LISTEN: '127.0.0.1:4999', SVC__RUNS__MAX_ACTIVE: '5' } });
      await expectRefused(kernel, ['log.level', 'info'], 409, 'config_env_holds', /SVC__LOG__LEVEL/);
      await expectRefused(kernel, ['log_level', 'info'], 409, 'config_env_holds', /SVC__LOG__LEVEL/);
      await expectRefused(kernel, ['runs', { max_active: 6 }], 409, 'config_env_holds', /SVC__RUNS__MAX_ACTIVE/);
      await expectRefused(kernel, ['api.listen_addr', '127.0.0.1:4600'], 409, 'config_env_holds', /SVC_LISTEN/);
    });

    it('with 409 while the file has a syntax error, is no text, or is no file', async () => {
      const kernel = await bootTestKernel({ config });
      await writeFile(fileOf(kernel), `${config}oops\n`);
      await expectRefused(kernel, ['runs.max_active', 8], 409, 'config_file_invalid', /line 8/);
      await writeFile(fileOf(kernel), Buffer.concat([Buffer.from(config), Buffer.from('# gr\xfcn\n', 'latin1')]));
      await expectRefused(kernel, ['runs.max_active', 8], 409, 'config_file_invalid', /UTF-8/);
      await rm(fileOf(kernel));
      await mkdir(fileOf(kernel));
      const answer = await set(kernel, 'runs.max_active', 8);
      expect([answer.status, answer.body.code]).to.deep.equal([409, 'config_file_invalid']);
    });

    it('with 409 where it is written as blocks of their own, which keep their comments', async () => {
      const kernel = await bootTestKernel({ config: `${config}[[fallback_providers]] # first\nprovider = "mine"\n` });
      await expectRefused(kernel, ['fallback_providers', [{ provider: 'other' }]], 409, 'config_edit_refused', /section of its own/);
    });

    it('with 423 while the file is read-only', async () => {
      const kernel = await bootTestKernel({ config });
      await chmod(fileOf(kernel), 0o444);
      await expectRefused(kernel, ['log.level', 'info'], 423, 'config_read_only', /read-only/);
      expect((await kernel.http.get('/api/config/status')).body).to.include({ mode: 'managed', writable: false });
    });
  });

  describe('beside others', () => {
    it('loses no change: fifty at once are all in the file', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const answers = await Promise.all(Array.from({ length: 50 }, (_, i) => set(kernel, `provider_urls.p${i}`, `http://127.0.0.1:${1_000 + i}`)));
      expect(answers.map(({ status }) => status)).to.deep.equal(Array(50).fill(200));
      expect(Object.keys((await shown(kernel)).provider_urls)).to.have.length(50);
    });

    it('of the same state only one goes through, and the other is told', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const seen = { 'if-match': (await kernel.http.get('/api/config')).headers.get('etag') ?? '' };

      const answers = await Promise.all(['debug', 'error'].map((level) => set(kernel, 'log.level', level, seen)));

      expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
      expect(answers.find(({ status }) => status === 409)?.body.code).to.equal('config_changed_meanwhile');
      expect((await set(kernel, 'log.level', 'warn', { 'if-match': '*' })).status).to.equal(200);
    });

    it('an edit of the file that nobody has read yet is kept; one that was shown is told of', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const etag = (await kernel.http.get('/api/config')).headers.get('etag') ?? '';
      await writeFile(fileOf(kernel), `${OPEN_RATE}# by hand\n[log]\nlevel = "warn"\n`);

      const stale = await set(kernel, 'runs.max_active', 9, { 'if-match': etag });
      const fresh = await set(kernel, 'runs.max_active', 9);

      expect([stale.status, stale.body.code]).to.deep.equal([409, 'config_changed_meanwhile']);
      expect(fresh.body.status).to.equal('applied');
      expect(await textOf(kernel))
        .to.contain('# by hand\n[log]\nlevel = "warn"\n')
        .and.to.contain('max_active = 9');
      expect((await shown(kernel)).log.level).to.equal('warn');
    });
  });

  describe('in a file that is', () => {
    it('a link stays a link, and the file it names changes', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      const real = join(kernel.home, 'elsewhere', 'real.toml');
      await mkdir(join(kernel.home, 'elsewhere'));
      await rename(fileOf(kernel), real);
      await symlink('elsewhere/real.toml', fileOf(kernel));

      expect((await set(kernel, 'log.level', 'warn')).status).to.equal(200);

      expect((await lstat(fileOf(kernel))).isSymbolicLink()).to.equal(true);
      expect(await readlink(fileOf(kernel))).to.equal('elsewhere/real.toml');
      expect(await readFile(real, 'utf8')).to.contain('level = "warn"');
    });

    it('of Windows keeps its line ends and its mark', async () => {
      const text = `\ufeff${OPEN_RATE}[log]\nlevel = "warn" # x\n`.replaceAll('\n', '\r\n');
      const kernel = await bootTestKernel({ config: text });
      for (const [path, value] of [
        ['log.level', 'error'],
        ['runs.max_active', 5],
      ] as const) {
        const answer = await set(kernel, path, value);
        expect(answer.status, answer.text).to.equal(200);
      }
      expect(await textOf(kernel)).to.equal(`${text.replace('warn', 'error')}\r\n[runs]\r\nmax_active = 5\r\n`);
    });

    it('a megabyte long is changed as any other', async () => {
      const filler = Array.from({ length: 20_000 }, (_, i) => `"p${i}" = "http://127.0.0.1:9" # ${'c'.repeat(20)}`).join('\n');
      const text = `${OPEN_RATE}[log]\nlevel = "warn"\n[provider_urls]\n${filler}\n`;
      expect(text.length).to.be.above(1_000_000);
      const kernel = await bootTestKernel({ config: text });
      expect((await set(kernel, 'log.level', 'error')).status).to.equal(200);
      expect(await textOf(kernel)).to.equal(text.replace('warn', 'error'));
    });

    it('not there yet is made, for its owner only', async () => {
      const kernel = await bootTestKernel();
      await rm(fileOf(kernel));
      expect((await set(kernel, 'api.rate_limit_per_second', 99_999)).status).to.equal(200);
      expect(await textOf(kernel)).to.equal('[api]\nrate_limit_per_second = 99999\n');
      expect((await stat(fileOf(kernel))).mode & 0o777).to.equal(0o600);
    });

    it('on a disk that is full stays as it was, and the daemon says why', async function () {
      const disk = await mountSmall();
      if (!disk) return this.skip();
      try {
        const kernel = await bootTestKernel({ config: OPEN_RATE });
        const real = join(disk.dir, 'config.toml');
        await writeFile(real, OPEN_RATE);
        await rm(fileOf(kernel));
        await symlink(real, fileOf(kernel));
        await disk.fill();
        await expectRefused(kernel, ['log.level', 'warn'], 500, 'config_write_failed', /the disk is full/);
        await disk.empty();
        expect((await set(kernel, 'log.level', 'warn')).status).to.equal(200);
      } finally {
        await stopTestKernels();
        await disk.unmount();
      }
    });
  });
});
