/** What publishers do, and whom an operator trusts: no daemon runs in any of it. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'chai';
import { packageFiles, writeFiles } from '../../../installer/test/package-rig.js';
import { type Bench, createBench } from '../program.js';

describe('svc ext for publishers', function () {
  this.timeout(30_000);
  let bench: Bench;
  let dir: string;
  const json = async (...args: string[]) => {
    const ran = await bench.run(['ext', ...args, '--json']);
    return { code: ran.code, body: JSON.parse(ran.stdout || ran.stderr) };
  };
  const key = async (name = 'a.key'): Promise<{ file: string; key_id: string; public: string }> => (await json('keygen', path.join(bench.env.HOME ?? '', name))).body;

  beforeEach(async () => {
    bench = createBench(45_998);
    dir = path.join(bench.env.HOME ?? '', 'weather');
    await writeFiles(dir, packageFiles());
  });
  afterEach(() => bench.clean());

  it('makes a key that only its owner may read, and never over another', async () => {
    const { code, body } = await json('keygen');
    expect(code).to.equal(0);
    expect(body.file).to.equal(path.join(bench.home, 'keys/publisher.key'));
    expect(statSync(body.file).mode & 0o777).to.equal(0o600);
    const before = readFileSync(body.file, 'utf8');
    const again = await json('keygen');
    expect([again.code, again.body.code, readFileSync(body.file, 'utf8')]).to.deep.equal([1, 'cli_key_exists', before]);
    expect((await bench.run(['ext', 'keygen', 'other.key'])).stdout).to.not.include('svc-ext-secret');
  });

  it('signs, packs the same twice, and verifies', async () => {
    const { file, key_id } = await key();
    expect((await json('sign', dir, '--key', file)).body).to.deep.equal({ id: 'acme-weather', version: '1.0.0', key_id, files: 5 });
    const [one, two] = [await json('pack', dir, '-o', path.join(dir, '../one.tgz')), await json('pack', dir, '-o', path.join(dir, '../two.tgz'))];
    expect(one.body).to.deep.include({ id: 'acme-weather', version: '1.0.0', key_id, sha256: two.body.sha256 });
    expect(readFileSync(one.body.file).equals(readFileSync(two.body.file))).to.equal(true);
    const verified = await json('verify', one.body.file);
    expect([verified.code, verified.body.signed, verified.body.key_id, verified.body.standing]).to.deep.equal([0, true, key_id, 'unknown']);
    expect((await bench.run(['ext', 'verify', dir])).stdout).to.include('matches its signature');
  });

  it('packs nothing that was changed since it was signed', async () => {
    const { file } = await key();
    await json('sign', dir, '--key', file);
    writeFileSync(path.join(dir, 'dist/index.js'), 'changed()');
    const { body, code } = await json('pack', dir);
    expect([code, body.code]).to.deep.equal([1, 'install_modified']);
    expect((await json('pack', dir, '--key', file)).code).to.equal(0);
  });

  it('refuses a key in the package, a folder that is not built, and what is not signed', async () => {
    const { file } = await key('weather/a.key');
    expect((await json('sign', dir, '--key', file)).body.code).to.equal('install_key_exposed');
    expect((await json('verify', dir)).code).to.equal(1);
    expect((await bench.run(['ext', 'verify', dir])).stdout).to.include('is not signed');
    expect((await json('pack', path.dirname(dir))).body.code).to.equal('install_incomplete');
    expect((await json('verify', '/nowhere')).body.code).to.equal('cli_no_file');
  });

  it('trusts a key for extensions, revokes and forgets it', async () => {
    const { file, key_id, public: publicKey } = await key();
    await json('sign', dir, '--key', file);
    expect((await bench.run(['ext', 'trust', 'list'])).stdout).to.include('No keys are trusted yet');
    const added = await json('trust', 'add', publicKey, '--allow', 'acme-*', '--name', 'Acme');
    expect(added.body).to.deep.include({ id: key_id, name: 'Acme', allow: ['acme-*'], revoked: null });
    expect((await json('verify', dir)).body.standing).to.equal('known');
    expect((await bench.run(['ext', 'trust', 'list'])).stdout).to.match(/KEY +STATE +NAME +EXTENSIONS +RUNS\n[0-9a-f]{16} +trusted +Acme +acme-\* +as configured/);
    await json('trust', 'revoke', key_id);
    expect((await json('verify', dir)).body.code).to.equal('install_revoked');
    expect((await json('trust', 'add', publicKey, '--allow', 'acme-weather')).body.code).to.equal('cli_key_revoked');
    await json('trust', 'remove', key_id);
    expect((await json('verify', dir)).body.standing).to.equal('unknown');
    expect(statSync(path.join(bench.home, 'data/extensions/trust.toml')).mode & 0o777).to.equal(0o600);
  });

  it('hands an extension on from one key to another', async () => {
    const [old, next] = [await key('old.key'), await key('next.key')];
    await json('trust', 'add', old.public, '--allow', 'acme-weather');
    await json('sign', dir, '--key', next.file);
    expect((await json('verify', dir)).body.code).to.equal('install_wrong_key');
    await json('sign', dir, '--key', next.file, '--rotates', old.file);
    expect((await json('verify', dir)).body.standing).to.equal('handed-on');
    // The statement stays with the package when it is signed again.
    await json('sign', dir, '--key', next.file);
    expect((await json('verify', dir)).body.standing).to.equal('handed-on');
  });

  it('refuses what is no key, and a key for nothing', async () => {
    const { public: publicKey } = await key();
    expect((await json('trust', 'add', 'abc', '--allow', 'acme-weather')).code).to.equal(2);
    expect((await json('trust', 'add', publicKey)).code).to.equal(2);
    expect((await json('trust', 'add', publicKey, '--allow', '../x')).body.code).to.equal('install_trust_file');
    expect((await json('trust', 'add', publicKey, '--allow', 'a-b', '--isolation', 'none')).code).to.equal(2);
    expect((await json('trust', 'revoke', '0000000000000000')).body.code).to.equal('cli_unknown_key');
  });
});
