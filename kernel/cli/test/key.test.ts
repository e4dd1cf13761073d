/** `svc key`, and what doctor and start say of keys and of files that others can read. */
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freePort } from '@svc/testing/free-port';
import { expect } from 'chai';
import { type Bench, createBench } from './program.js';

const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
describe('the key of the daemon on the command line', function () {
  this.timeout(60_000);
  let bench: Bench;
  let file: string;
  beforeEach(async () => {
    bench = createBench(await freePort());
    mkdirSync(bench.home, { recursive: true, mode: 0o700 });
    file = path.join(bench.home, 'config.toml');
  });
  afterEach(() => bench.clean());

  const modeOf = (name: string): number => statSync(name).mode & 0o777;
  const text = (): string => readFileSync(file, 'utf8');

  describe('svc key hash', () => {
    it('prints the hash of a key from a pipe, without the blanks around it, and never the key', async () => {
      const ran = await bench.run(['key', 'hash'], { stdin: ' my-key\n' });
      expect(ran).to.deep.equal({ code: 0, stdout: `${hash('my-key')}\n`, stderr: '' });
      expect(JSON.parse((await bench.run(['key', 'hash', '--json'], { stdin: 'my-key' })).stdout)).to.deep.equal({ hash: hash('my-key') });
    });

    it('refuses an empty key', async () => {
      const ran = await bench.run(['key', 'hash'], { stdin: ' \n' });
      expect([ran.code, ran.stdout]).to.deep.equal([2, '']);
      expect(ran.stderr).to.contain('empty');
    });

    it('--write leaves the hash where the key stood, keeps every comment, and closes the file to others', async () => {
      writeFileSync(file, '# mine\n"api_key" = "plain key" # the old one\n\n[api] # here\ncors_origins = []\n', { mode: 0o644 });
      const ran = await bench.run(['key', 'hash', '--write']);
      expect(ran.code, ran.stderr).to.equal(0);
      expect(text()).to.equal(`# mine\napi_key_hash = "${hash('plain key')}" # the old one\n\n[api] # here\ncors_origins = []\n`);
      expect(modeOf(file)).to.equal(0o600);
      expect(ran.stdout).to.contain('SVC_API_KEY').and.not.contain('plain key');
    });

    it('--write changes the file that a link names, and the copy that the daemon made of it', async () => {
      const real = path.join(path.dirname(bench.home), 'real.toml');
      writeFileSync(real, 'api_key = "plain"\n');
      symlinkSync(real, file);
      const copy = path.join(bench.home, 'backups', 'config.toml.prev');
      mkdirSync(path.dirname(copy));
      writeFileSync(copy, 'api_key = "older"\nlog_level = "info"\n');
      expect((await bench.run(['key', 'hash', '--write'])).code).to.equal(0);
      expect(readFileSync(real, 'utf8')).to.equal(`api_key_hash = "${hash('plain')}"\n`);
      expect(readFileSync(copy, 'utf8')).to.equal(`api_key = "${hash('older')}"\nlog_level = "info"\n`);
      expect(modeOf(copy)).to.equal(0o600);
    });

    it('--write takes the key out where its hash stands already', async () => {
      writeFileSync(file, `api_key = "plain"\napi_key_hash = "${hash('plain')}"\n`);
      expect((await bench.run(['key', 'hash', '--write'])).code).to.equal(0);
      expect(text()).to.equal(`api_key_hash = "${hash('plain')}"\n`);
    });

    for (const [what, config, code] of [
      ['there is no file', undefined, 'config_no_plain_key'],
      ['there is no key', 'log_level = "info"\n', 'config_no_plain_key'],
      ['it is a hash already', `api_key = "${hash('k')}"\n`, 'config_no_plain_key'],
      ['the hash of another key stands beside it', `api_key = "k"\napi_key_hash = "${hash('other')}"\n`, 'config_two_keys'],
      ['the file is broken', 'api_key = "k"\n[[', 'config_file_invalid'],
    ] as const)
      it(`--write changes nothing when ${what}, and says why`, async () => {
        if (config !== undefined) writeFileSync(file, config);
        const ran = await bench.run(['key', 'hash', '--write', '--json']);
        expect(ran.code).to.equal(1);
        expect(JSON.parse(ran.stdout)).to.include({ code }).and.have.property('fix');
        expect(existsSync(file) ? text() : undefined).to.equal(config);
      });
  });

  describe('svc key new', () => {
    it('makes another key each time and says what to write, without writing it', async () => {
      const [one, two] = [await bench.run(['key', 'new']), await bench.run(['key', 'new'])];
      const key = one.stdout.trim();
      expect(key).to.match(/^svc_[\w-]{43}$/);
      expect(two.stdout.trim()).to.not.equal(key);
      expect(one.stderr).to.contain(`api_key_hash = "${hash(key)}"`);
      expect(existsSync(file)).to.equal(false);
    });

    it('--write puts its hash in place of the key before, once that is agreed to', async () => {
      for (const before of ['', 'api_key = "old" # k\n', `api_key_hash = "${hash('old')}" # k\n`, `api_key = "old"\napi_key_hash = "${hash('older')}" # k\n`]) {
        writeFileSync(file, before);
        expect((await bench.run(['key', 'new', '--write'])).code).to.equal(2);
        expect(text()).to.equal(before);
        const { key } = JSON.parse((await bench.run(['key', 'new', '--write', '--json', '--yes'])).stdout) as { key: string };
        expect(text()).to.equal(`api_key_hash = "${hash(key)}"${before === '' ? '' : ' # k'}\n`);
        expect(modeOf(file)).to.equal(0o600);
      }
    });
  });

  it('of which only the hash is stored is asked for, with what to do; SVC_API_KEY opens', async () => {
    writeFileSync(file, 'api_key = "day-key"\n', { mode: 0o600 });
    await bench.run(['key', 'hash', '--write']);
    const env = { SVC_API_KEY: 'day-key' };
    try {
      const started = await bench.run(['start'], { env });
      expect(started.code, started.stderr).to.equal(0);
      const refused = await bench.run(['agent', 'list']);
      expect(refused.code).to.equal(4);
      expect(refused.stderr).to.contain('SVC_API_KEY=<the key> svc').and.contain('a hash in its place cannot be sent');
      expect((await bench.run(['agent', 'list'], { env })).code).to.equal(0);
    } finally {
      expect((await bench.run(['stop'], { env })).code).to.equal(0);
    }
  });

  describe('that stands in a file others can read', () => {
    const doctor = async (...args: string[]): Promise<{ code: number | null; find: (name: string) => { status: string; summary: string; hint?: string } | undefined; fixed: unknown }> => {
      const ran = await bench.run(['doctor', '--json', ...args]);
      const { checks, fixed } = JSON.parse(ran.stdout) as { checks: Array<{ check: string; status: string; summary: string; hint?: string }>; fixed?: unknown };
      return { code: ran.code, find: (name) => checks.find((check) => check.check === name), fixed };
    };

    it('makes doctor fail, until doctor --fix has closed file and home', async () => {
      writeFileSync(file, 'api_key = "k"\n');
      chmodSync(file, 0o644);
      chmodSync(bench.home, 0o755);
      const found = await doctor();
      expect(found.code).to.equal(1);
      expect(found.find('PrivateFilesCheck')).to.include({ status: 'fail', hint: 'svc doctor --fix' });
      expect(found.find('PrivateFilesCheck')?.summary).to.contain('config.toml').and.contain('644').and.contain('755');
      expect(found.find('ApiKeyStorageCheck')).to.include({ status: 'warn', hint: 'svc key hash --write' });
      const fixed = await doctor('--fix');
      expect(fixed.fixed).to.deep.equal([
        { path: bench.home, mode: '700' },
        { path: file, mode: '600' },
      ]);
      expect([fixed.find('PrivateFilesCheck')?.status, fixed.code]).to.deep.equal(['pass', 0]);
      expect([modeOf(bench.home), modeOf(file)]).to.deep.equal([0o700, 0o600]);
    });

    it('is no matter behind a closed home; an open home without a key is a warning', async () => {
      writeFileSync(file, 'api_key = "k"\n');
      chmodSync(file, 0o644);
      expect((await doctor()).find('PrivateFilesCheck')?.status).to.equal('pass');
      writeFileSync(file, `api_key_hash = "${hash('k')}"\n[default_model]\napi_key_env = "X"\n`);
      chmodSync(bench.home, 0o755);
      expect((await doctor()).find('PrivateFilesCheck')?.status).to.equal('warn');
    });

    it('outside of the home counts by itself', async () => {
      const elsewhere = path.join(path.dirname(bench.home), 'elsewhere.toml');
      writeFileSync(elsewhere, 'api_key = "k"\n');
      chmodSync(elsewhere, 0o640);
      const ran = await bench.run(['doctor', '--json'], { env: { SVC_CONFIG: elsewhere } });
      expect(ran.stdout).to.contain('elsewhere.toml holds a key');
      expect(ran.code).to.equal(1);
    });

    it('is told of by start and by the running daemon; a home that start makes is closed', async () => {
      writeFileSync(file, 'api_key = "k"\n');
      chmodSync(file, 0o644);
      chmodSync(bench.home, 0o755);
      const started = await bench.run(['start']);
      expect(started.stdout).to.contain('svc doctor --fix').and.contain('svc key hash --write');
      expect((await bench.run(['logs', '--lines', '100'])).stdout).to.match(/warn .*config\.toml holds a key and can be read/);
      expect((await doctor()).find('PrivateFilesCheck')?.status).to.equal('fail');
      expect((await doctor('--fix')).find('PrivateFilesCheck')?.status).to.equal('pass');
      const again = await bench.run(['start']);
      expect(again.stdout).to.contain('already running').and.not.contain('--fix');
      await bench.run(['stop']);
      const fresh = path.join(path.dirname(bench.home), 'fresh');
      expect((await bench.run(['start', '--home', fresh])).code).to.equal(0);
      await bench.run(['stop', '--home', fresh]);
      expect(modeOf(fresh)).to.equal(0o700);
    });
  });
});
