/** Installing by the command: with a daemon that runs, and with none. */
import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { packFolder } from '@svc/installer/package';
import { generateKey, signFolder, type SigningKey } from '@svc/installer/signing';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { packageFiles, type RigPackage, writeFiles } from '../../../installer/test/package-rig.js';
import { type Bench, createBench, plain } from '../program.js';

const ASKS = { manifest: { grants: [{ grant: 'env:WEATHER_KEY', why: 'a key for more calls' }] } };

const API_KEY = 'a-key-of-this-test';

describe('svc ext install', function () {
  this.timeout(60_000);
  let bench: Bench;
  let key: SigningKey;
  before(async () => {
    key = await generateKey();
  });
  afterEach(async () => {
    bench.clean();
    await stopTestKernels();
  });

  const at = (name: string): string => path.join(bench.env.HOME ?? '', name);
  /** The name of a signed .tgz in the folder where commands run. */
  const packed = async (name: string, made: RigPackage = {}): Promise<string> => {
    await writeFiles(at(name), packageFiles(made));
    await signFolder(at(name), key, { now: new Date('2026-03-01T10:00:00Z') });
    await writeFile(at(`${name}.tgz`), (await packFolder(at(name))).bytes);
    return `${name}.tgz`;
  };
  const json = async (...args: string[]) => {
    const ran = await bench.run(['ext', ...args, '--json']);
    return { code: ran.code, body: JSON.parse(ran.stdout || ran.stderr) };
  };

  describe('with the daemon stopped', () => {
    beforeEach(() => {
      bench = createBench(45_997);
    });

    it('shows what it asks for and installs nothing before somebody agreed', async () => {
      const { code, body } = await json('install', await packed('one', ASKS));
      expect([code, body.code]).to.deep.equal([1, 'install_unknown_key']);
      expect(body.details.grants[0]).to.include({ grant: 'env:WEATHER_KEY', what: 'reads this environment variable' });
      expect(body.fix).to.include('--grant all --trust-key');
      expect(readdirSync(path.join(bench.home, 'data/extensions'), { recursive: true })).to.deep.equal(['staging']);
    });

    it('installs, upgrades, goes back and removes; the next start follows', async () => {
      const done = await json('install', await packed('one', ASKS), '--grant', 'all', '--trust-key');
      expect(done.body).to.deep.equal({ status: 'installed', name: 'acme-weather', connected: false, from: 'next_start' });
      expect((await json('install', 'one.tgz', '--grant', 'all')).body.code).to.equal('install_installed');
      const two = await packed('two', { ...ASKS, version: '2.0.0' });
      expect((await json('upgrade', 'acme-weather', '--to', two, '--dry-run')).body).to.deep.include({ status: 'offered', version: '1.0.0' });
      expect((await json('upgrade', 'acme-weather', '--to', two)).body).to.deep.include({ status: 'upgraded', version: '2.0.0' });
      expect((await json('rollback', 'acme-weather')).body).to.deep.include({ status: 'rolled_back', version: '1.0.0' });
      expect((await json('rollback', 'acme-weather')).body.code).to.equal('install_none_before');
      expect((await json('remove', 'acme-weather', '--purge', '--confirm', 'acme-weather')).body.code).to.equal('cli_daemon_not_running');
      expect((await json('remove', 'acme-weather')).body).to.deep.equal({ status: 'uninstalled', name: 'acme-weather', purged: false });
      expect(existsSync(path.join(bench.home, 'data/extensions/store/acme-weather'))).to.equal(false);
      expect(existsSync(path.join(bench.home, 'daemon.lock'))).to.equal(false);
    });

    it('refuses by name what is wrong', async () => {
      await writeFiles(at('bare'), packageFiles());
      expect((await json('install', './bare', '--grant', 'all')).body.code).to.equal('install_unsigned');
      expect((await json('install', './nowhere')).body.code).to.equal('install_not_found');
      expect((await json('install', 'https://example.org/a.tgz')).body.code).to.equal('install_checksum');
      expect((await json('upgrade', 'acme-weather')).body.code).to.match(/^install_(not_found|download)$/);
    });
  });

  describe('with a daemon that runs', () => {
    beforeEach(async () => {
      const kernel = await bootTestKernel({ config: `api_key = "${API_KEY}"\n${OPEN_RATE}[extensions]\nisolation = "isolated"\n` });
      bench = createBench(Number(new URL(kernel.url).port));
      bench.env.SVC_API_KEY = API_KEY;
      bench.env.SVC_HOME = kernel.home;
    });

    it('installs what was agreed to, shows whose it is, and removes it', async () => {
      const refused = await bench.run(['ext', 'install', await packed('one', ASKS)]);
      expect(refused.code).to.equal(1);
      const done = await bench.run(['ext', 'install', 'one.tgz', '--grant', 'env:WEATHER_KEY', '--trust-key', '--enable']);
      expect([plain(done.stdout), done.code]).to.deep.equal(['✓ acme-weather is installed, and on.\n', 0]);
      expect((await bench.run(['ext', 'list'])).stdout).to.match(
        new RegExp(`EXTENSION +STATE +SET BY +BY +[^\\n]*VERSION[^\\n]* +WHAT[^]*acme-weather +active +on \\(choice\\) +${key.keyId}[^\\n]* +1\\.0\\.0`),
      );
      expect((await bench.run(['ext', 'info', 'acme-weather'])).stdout).to.match(/from +\S+one\.tgz[\s\S]*signed +with [0-9a-f]{16}[\s\S]*runs +isolated/);
      const more = await json('upgrade', 'acme-weather', '--to', await packed('two', { version: '2.0.0' }));
      expect(more.body).to.deep.include({ status: 'upgraded', version: '2.0.0', from: 'now' });
      expect((await json('rollback', 'acme-weather')).body).to.deep.include({ version: '1.0.0' });
      expect((await json('remove', 'acme-weather', '--purge')).code).to.equal(2);
      expect((await json('remove', 'acme-weather', '--purge', '--confirm', 'acme-weather')).body).to.deep.equal({ status: 'uninstalled', name: 'acme-weather', purged: true });
    });

    it('shows at a terminal what it asks for', async () => {
      await packed('one', ASKS);
      const ran = await bench.onTerminal(['ext', 'install', at('one.tgz'), '--yes'], 100);
      const shown = plain(ran.stdout);
      for (const words of [
        'acme-weather 1.0.0  Tells the weather.',
        'not trusted yet',
        'isolated: in its own process',
        'not kept',
        'env:WEATHER_KEY',
        'because  "a key for more calls"',
        '✓ acme-weather is installed.',
      ])
        expect(shown).to.include(words);
    });
  });
});
