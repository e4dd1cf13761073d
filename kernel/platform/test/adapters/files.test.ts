import { chmod, mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dir } from '@svc/api';
import { expect } from 'chai';
import { openDir } from '../../src/adapters/files/files-adapter.js';

describe('adapters: files', () => {
  let base: string;
  let dir: Dir;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'svc-files-')));
    await mkdir(join(base, 'root/sub'), { recursive: true });
    await mkdir(join(base, 'root-beside'));
    await writeFile(join(base, 'root-beside/secret'), 'outside');
    dir = openDir(join(base, 'root'));
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const errorOf = async (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
    promise.then(
      () => ({ code: 'none', message: '' }),
      (error) => error,
    );

  it('writes whole files, makes folders, reads them back', async () => {
    await dir.write('a/b/note.txt', 'hello');
    expect(await dir.readText('a/b/note.txt')).to.equal('hello');
    expect(await dir.stat('a/b/note.txt')).to.include({ name: 'note.txt', kind: 'file', sizeBytes: 5 });
    expect(await readdir(join(base, 'root/a/b'))).to.deep.equal(['note.txt']);
  });

  it('keeps the mode of a file it replaces', async () => {
    await writeFile(join(base, 'root/run.sh'), 'old');
    await chmod(join(base, 'root/run.sh'), 0o750);
    await dir.write('run.sh', 'new');
    expect((await stat(join(base, 'root/run.sh'))).mode & 0o777).to.equal(0o750);
  });

  it('writes a name as long as a name can be, and refuses one byte more by its own name', async () => {
    await dir.write('ü'.repeat(127), 'fits');
    await dir.write('n'.repeat(255), 'fits');
    expect(await dir.readText('n'.repeat(255))).to.equal('fits');
    for (const name of ['n'.repeat(256), 'ü'.repeat(128), `sub/${'n'.repeat(300)}/x`, 'long/'.repeat(500)])
      for (const use of [dir.write(name, ''), dir.read(name), dir.stat(name), dir.list(name), dir.remove(name)]) expect(await errorOf(use)).to.include({ code: 'file_name_too_long', status: 400 });
  });

  it('refuses every path that leaves the folder', async () => {
    for (const path of ['../root-beside/secret', 'sub/../../root-beside/secret', '/etc/passwd', 'a\0b', 'sub/..']) {
      for (const attempt of [dir.read, (at: string) => dir.write(at, 'x'), dir.remove, dir.list, dir.stat]) expect((await errorOf(attempt(path))).message, path).to.match(/^Path traversal denied/);
    }
    expect(() => dir.dir('../root-beside')).to.throw('Path traversal denied');
  });

  it('says in words what a link that leads to itself is, whatever is asked of it', async () => {
    await symlink('round', join(base, 'root/round'));
    const asks = [
      dir.read('round'),
      dir.readText('round/a.txt'),
      dir.write('round', 'x'),
      dir.write('round/a.txt', 'x'),
      dir.list('round'),
      dir.stat('round'),
      dir.remove('round/a.txt'),
      dir.dir('round').list(),
      dir.dir('round').write('a.txt', 'x'),
    ];
    expect(
      await Promise.all(
        asks.map((asked) =>
          asked.then(
            () => 'done',
            (error: { code: string }) => error.code,
          ),
        ),
      ),
    ).to.deep.equal(asks.map(() => 'file_link_denied'));
  });

  it('goes through no link at all for who validated the path by its name', async () => {
    await mkdir(join(base, 'root/real'), { recursive: true });
    await writeFile(join(base, 'root/real/a.txt'), 'a');
    await symlink('real', join(base, 'root/linked'));
    const dir = openDir(join(base, 'root'));
    const codeOf = (work: Promise<unknown>): Promise<string> =>
      work.then(
        () => 'done',
        (error: { code: string }) => error.code,
      );
    for (const path of ['linked/a.txt', 'linked/new.txt', 'linked/deep/new.txt', './linked//a.txt']) {
      expect(await codeOf(dir.write(path, 'b', { noLinks: true })), path).to.equal('file_linked_folder');
      expect(await codeOf(dir.remove(path, { noLinks: true })), path).to.equal('file_linked_folder');
    }
    expect(await codeOf(dir.dir('linked').write('x.txt', 'b', { noLinks: true }))).to.equal('done');
    expect(await codeOf(dir.write('./real//a.txt', 'b', { noLinks: true }))).to.equal('done');
    expect(await codeOf(dir.write('new/deep/a.txt', 'b', { noLinks: true }))).to.equal('done');
    expect(await codeOf(dir.write('linked/a.txt', 'c'))).to.equal('done');
    expect(await codeOf(dir.remove('linked', { noLinks: true }))).to.equal('done');
    expect(await dir.readText('real/a.txt')).to.equal('c');
  });

  it('follows no link out of the folder, whatever is asked of it', async () => {
    await symlink(join(base, 'root-beside'), join(base, 'root/out'));
    await symlink(join(base, 'root-beside/secret'), join(base, 'root/leaf'));
    for (const path of ['out/secret', 'leaf']) {
      for (const attempt of [dir.read, (at: string) => dir.write(at, 'x'), dir.stat]) expect((await errorOf(attempt(path))).message, path).to.contain('resolves outside workspace');
    }
    const attempts = [
      () => dir.list('out'),
      () => dir.write('out/new', 'x'),
      () => dir.write('out/deep/new', 'x'),
      () => dir.remove('out/secret'),
      () => dir.dir('out').list(),
      () => dir.dir('out').write('new', 'x'),
    ];
    for (const attempt of attempts) {
      expect(await errorOf(attempt())).to.include({ code: 'file_outside' });
    }
    expect(await readdir(join(base, 'root-beside'))).to.deep.equal(['secret']);
    expect(await readFile(join(base, 'root-beside/secret'), 'utf8')).to.equal('outside');
  });

  it('makes nothing through a link that leads nowhere, and replaces no link', async () => {
    await symlink(join(base, 'root-beside/new'), join(base, 'root/dangling'));
    await writeFile(join(base, 'root/real'), 'x');
    await symlink('real', join(base, 'root/alias'));
    expect((await errorOf(dir.write('dangling', 'x'))).message).to.contain('Symlink leaf denied');
    expect(await errorOf(dir.write('alias', 'y'))).to.include({ code: 'file_link_denied' });
    expect(await dir.readText('alias')).to.equal('x');
  });

  it('caps what it reads and what it lists', async () => {
    await dir.write('big', 'x'.repeat(2_000));
    expect(await errorOf(dir.read('big', { maxBytes: 1_999 }))).to.include({ code: 'file_too_large' });
    for (let index = 0; index < 5; index++) await dir.write(`sub/${index}`, '');
    expect(await dir.list('sub', { limit: 3 })).to.have.length(3);
    expect((await dir.list('', { recursive: true })).map((entry) => entry.name)).to.deep.equal(['big', 'sub', 'sub/0', 'sub/1', 'sub/2', 'sub/3', 'sub/4']);
  });

  it('says that something is missing or of the wrong kind, but lists a folder that is yet to be made as empty', async () => {
    expect(await errorOf(dir.read('nothing'))).to.include({ code: 'file_missing' });
    expect(await errorOf(dir.list('nothing'))).to.include({ code: 'file_missing' });
    expect(await errorOf(dir.read('sub'))).to.include({ code: 'file_wrong_kind' });
    expect(await dir.stat('nothing')).to.equal(undefined);
    expect(await openDir(join(base, 'later')).list()).to.deep.equal([]);
  });

  it('says of what would be below a file that it is not there', async () => {
    await dir.write('note.txt', 'hello');
    expect([await dir.stat('note.txt/below'), await dir.stat('note.txt/below/it')]).to.deep.equal([undefined, undefined]);
  });

  it('removes files, folders and links, not what links point to', async () => {
    await symlink(join(base, 'root'), join(base, 'root/sub/self'));
    await dir.write('sub/x', '1');
    expect([await dir.remove('sub/self').catch(() => 'refused'), await dir.remove('sub'), await dir.remove('sub')]).to.deep.equal([true, true, false]);
    expect(await errorOf(dir.remove(''))).to.include({ code: 'file_bad_path' });
    expect(await stat(join(base, 'root'))).to.be.an('object');
  });

  it('leaves no half file when a write is refused', async () => {
    await dir.write('kept', 'old');
    for (const path of ['sub', 'kept/below', 'kept/far/below']) expect(await errorOf(dir.write(path, 'x')), path).to.include({ code: 'file_wrong_kind' });
    expect((await readdir(join(base, 'root'))).sort()).to.deep.equal(['kept', 'sub']);
  });
});
