/** Pipes, sparse files and very deep folders, as the adapter of files meets them. */
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { openDir } from '../../src/adapters/files/files-adapter.js';

describe('adapters: what is no plain file', function () {
  this.timeout(20_000);
  let root: string;
  before(async function () {
    if (process.platform === 'win32') this.skip();
    root = await realpath(await mkdtemp(join(tmpdir(), 'svc-odd-')));
  });
  after(async () => {
    if (root) await rm(root, { recursive: true, force: true });
  });
  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error) => error.code,
    );

  it('a pipe is refused at once, a huge sparse file before it is read', async () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const dir = openDir(root);
    expect(await codeOf(dir.read('pipe'))).to.equal('file_wrong_kind');
    expect(await codeOf(dir.write('pipe', 'x'))).to.equal('file_wrong_kind');
    execFileSync('truncate', ['-s', '100G', join(root, 'sparse')]);
    expect(await codeOf(dir.read('sparse'))).to.equal('file_too_large');
  });

  it('a folder of very many levels is removed, and keeps no handle open', async () => {
    const dir = openDir(root);
    execFileSync('sh', ['-c', 'i=0; while [ $i -lt 400 ]; do mkdir d && cd d && touch f; i=$((i+1)); done'], { cwd: root });
    const open = async (): Promise<number> => (await readdir('/proc/self/fd').catch(() => [])).length;
    const before = await open();
    expect(await dir.remove('d')).to.equal(true);
    expect(await readdir(root)).to.not.contain('d');
    expect((await readdir(root)).filter((name) => name.startsWith('.svc-'))).to.deep.equal([]);
    expect(await open()).to.be.at.most(before + 1);
  });
});
