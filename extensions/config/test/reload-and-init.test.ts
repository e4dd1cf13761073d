/** config.toml read again, and begun. */
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';

describe('config.toml', function () {
  this.timeout(20_000);
  afterEach(stopTestKernels);

  describe('read again over HTTP', () => {
    it('says what holds now, what waits for a start, and what nobody reads', async () => {
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}[extensions]\ndisable = ["ratelimit"]\n[security]\nrequired = ["auth"]\n` });
      await writeFile(
        join(kernel.home, 'config.toml'),
        '[api]\nrate_limit_per_second = 100000\nkeep_alive_secs = 9\n[log]\nlevel = "warn"\n[rate_limit]\nwindow_secs = 61\nmax_ws_per_ip = 10000\nmax_ws_per_user = 10000\n[extensions]\ndisable = ["ratelimit"]\n[security]\nrequired = ["auth"]\n',
      );

      const { body } = await kernel.http.expect(200, 'POST', '/api/config/reload');

      expect(body).to.deep.equal({
        status: 'partial',
        restart_required: true,
        restart_reasons: ['api.keep_alive_secs was changed and takes effect at the next start.'],
        hot_actions_applied: ['log.level'],
        noop_changes: ['rate_limit.window_secs'],
        warnings: [],
      });
      expect((await kernel.http.expect(200, 'POST', '/api/config/reload')).body).to.include({ status: 'no_changes', restart_required: true });
    });

    it('applies what holds and names what does not', async () => {
      const kernel = await bootTestKernel({ config: OPEN_RATE });
      await writeFile(join(kernel.home, 'config.toml'), `${OPEN_RATE}[log]\nlevel = "warn"\n[runs]\nmax_active = 0\n`);
      const { body } = await kernel.http.expect(200, 'POST', '/api/config/reload');
      expect(body).to.deep.include({ status: 'partial', hot_actions_applied: ['log.level'], restart_required: false });
      expect(body.warnings).to.deep.equal(['config.toml:9: [runs] max_active must be a whole number from 1 to 100000, got 0']);
    });

    it('refuses what is no TOML, and the former settings stay', async () => {
      const kernel = await bootTestKernel({ config: `${OPEN_RATE}[log]\nlevel = "warn"\n` });
      await writeFile(join(kernel.home, 'config.toml'), '[log\n');
      const { body } = await kernel.http.expect(400, 'POST', '/api/config/reload');
      expect([body.code, body.details]).to.deep.equal(['config_reload_refused', { status: 'error' }]);
      expect(body.error).to.contain('config.toml:1');
      expect((await kernel.http.get('/api/config')).body.log.level).to.equal('warn');
    });
  });

  describe('begun over HTTP', () => {
    let home: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'svc-init-'));
    });
    afterEach(async () => {
      await stopTestKernels();
      await rm(home, { recursive: true, force: true });
    });

    it('names the provider that has a key', async () => {
      const kernel = await bootTestKernel({ home, env: { GROQ_API_KEY: 'gsk_a-key-of-groq-0001' } });

      const { body } = await kernel.http.expect(200, 'POST', '/api/init');
      const text = await readFile(join(home, 'config.toml'), 'utf8');

      expect(body).to.include({ status: 'initialized', provider: 'groq' });
      expect(text).to.contain(`[default_model]\nprovider = "groq"\nmodel = "${body.model}"\n`).and.not.to.contain('gsk_');
      expect((await stat(join(home, 'config.toml'))).mode & 0o777).to.equal(0o600);
      expect(kernel.daemon.kernel.configProblems()).to.deep.equal([]);
      expect((await kernel.http.get('/api/config')).body.default_model).to.include({ provider: 'groq' });
    });

    it('names nobody while nobody has a key', async () => {
      const kernel = await bootTestKernel({ home });
      const { body } = await kernel.http.expect(200, 'POST', '/api/init');
      expect(body).to.include({ status: 'initialized', provider: 'builtin' });
      expect(body.message).to.contain('names no provider yet');
      expect(await readFile(join(home, 'config.toml'), 'utf8')).not.to.contain('[default_model]');
    });

    it('leaves a file that is there as it is, whatever is in it; of ten at once one writes', async () => {
      const kernel = await bootTestKernel({ home });
      const answers = await Promise.all(Array.from({ length: 10 }, () => kernel.http.expect(200, 'POST', '/api/init')));
      expect(answers.filter(({ body }) => body.status === 'initialized')).to.have.length(1);
      await writeFile(join(home, 'config.toml'), '# empty\n');
      expect((await kernel.http.expect(200, 'POST', '/api/init')).body.status).to.equal('already_initialized');
      expect(await readFile(join(home, 'config.toml'), 'utf8')).to.equal('# empty\n');
    });
  });
});
