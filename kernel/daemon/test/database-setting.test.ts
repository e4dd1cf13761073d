/** `[storage] url`: which database is used, that its password is nobody's to read, and that no other is taken for it. */
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, stopTestKernels } from '@svc/testing';
import { sharedCluster } from '@svc/testing/postgres/cluster';
import { expect } from 'chai';

const KEY = 'database-setting-key';

describe('the setting [storage] url', function () {
  this.timeout(60_000);
  let home: string;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-setting-'));
  });
  afterEach(async () => {
    await stopTestKernels();
    await rm(home, { recursive: true, force: true });
  });

  const boot = (storage: string) => bootTestKernel({ home, isFirstStart: true, config: `api_key = "${KEY}"\n${OPEN_RATE}${storage}`, key: KEY });
  const refusal = (storage: string): Promise<{ code: string; message: string }> =>
    boot(storage).then(
      () => {
        throw new Error('It should not have started.');
      },
      (error: { code: string; message: string }) => error,
    );
  /** All that the daemon wrote into its home, but for the setting itself. */
  const written = async (): Promise<string> => {
    const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile() && one.name !== 'config.toml');
    return (await Promise.all(files.map((one) => readFile(join(one.parentPath, one.name), 'utf8')))).join('\n');
  };

  it('names the server that is used; status shows host and name, and nothing shows the password', async () => {
    const url = await (await sharedCluster()).fresh();
    const kernel = await boot(`[storage]\nurl = "${url}"\n`);
    const { body } = await kernel.http.expect(200, 'GET', '/api/status');
    expect(body.database).to.equal(new URL(url).host + new URL(url).pathname);
    expect(existsSync(join(home, 'data', 'svc.db'))).to.equal(false);
    const shown = [JSON.stringify(body), JSON.stringify((await kernel.http.get('/api/config')).body), JSON.stringify(kernel.daemon.kernel.configProblems())];
    await kernel.daemon.reloadConfig();
    await kernel.stop();
    shown.push(await written());
    for (const text of shown) expect(text).to.not.contain(new URL(url).password);
  });

  it('that is not valid refuses the start, and no other database is made instead', async () => {
    expect((await refusal('[storage]\nurl = 5\n')).code).to.equal('daemon_storage_setting');
    expect((await refusal('[storage]\nulr = "postgres://u:secret-word@h/db"\n')).code).to.equal('daemon_storage_setting');
    const wrong = await refusal('[storage]\nurl = "mysql://u:secret-word@h/db"\n');
    expect(wrong.code).to.equal('storage_bad_url');
    expect(wrong.message).to.not.contain('secret-word');
    expect((await refusal('[storage]\nurl = "postgres://u:secret-word@127.0.0.1:1/db"\n')).message).to.equal('The database 127.0.0.1:1/db cannot be used: nothing answers at this address.');
    expect(existsSync(join(home, 'data', 'svc.db'))).to.equal(false);
  });

  it('that first appears once the file can be read keeps the daemon closed until its next start', async () => {
    const { daemon, http } = await boot('[storage\n');
    await writeFile(join(home, 'config.toml'), `api_key = "${KEY}"\n[storage]\nurl = "postgres://u:secret-word@127.0.0.1:1/db"\n`);
    await daemon.reloadConfig();
    const { body } = await http.expect(503, 'GET', '/api/agents');
    expect(JSON.stringify(body)).to.contain('storage.url').and.contain('Restart the daemon').and.not.contain('secret-word');
  });

  it('is not forgotten where the file cannot be read any more: the start is refused', async () => {
    const kernel = await boot(`[storage]\nurl = "${await (await sharedCluster()).fresh()}"\n`);
    await kernel.stop();
    await writeFile(join(home, 'config.toml'), 'api_key = "');
    const error = await bootTestKernel({ home, isFirstStart: true, key: KEY }).catch((refused: { code: string; message: string }) => refused);
    expect('code' in error ? error.code : 'it started').to.equal('storage_bad_url');
    expect(existsSync(join(home, 'data', 'svc.db'))).to.equal(false);
  });
});
