import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { unpack, type UnpackOptions } from '../../src/package/unpack.js';
import { refusal, tempFolder } from '../package-rig.js';
import { paxPath, type RawEntry, rawTar, rawTgz } from '../raw-tar.js';

describe('unpacking a package', () => {
  let root: string;
  let done: () => Promise<void>;
  beforeEach(async () => {
    ({ dir: root, done } = await tempFolder());
    await mkdir(join(root, 'in'));
  });
  afterEach(() => done());

  const unpacked = async (archive: Buffer, options: UnpackOptions = {}): Promise<string> => {
    await writeFile(join(root, 'in', 'a.tgz'), archive);
    await unpack(join(root, 'in', 'a.tgz'), join(root, 'out'), options);
    return join(root, 'out');
  };
  /** The refusal, and that nothing was written for it. */
  const refused = async (entries: readonly RawEntry[] | Buffer, options?: UnpackOptions) => {
    const error = await refusal(unpacked(Buffer.isBuffer(entries) ? entries : rawTgz(entries), options));
    expect(await readdir(root), 'what was written').to.deep.equal(['in']);
    return error;
  };
  const good: RawEntry = { name: 'package/package.json', data: '{}' };

  it('writes files, folders and what may be run', async () => {
    const dir = await unpacked(rawTgz([{ name: 'package/', flag: '5' }, good, { name: 'package/dist/', flag: '5' }, { name: 'package/dist/run', data: 'x', mode: 0o755 }]));
    expect(await readFile(join(dir, 'package.json'), 'utf8')).to.equal('{}');
    expect((await stat(join(dir, 'dist/run'))).mode & 0o777).to.equal(0o755);
    expect((await stat(join(dir, 'package.json'))).mode & 0o777).to.equal(0o644);
  });

  it('takes a name that is longer than a header, and empty files', async () => {
    const long = `dist/${'a'.repeat(120)}.js`;
    const dir = await unpacked(rawTgz([good, paxPath(`package/${long}`), { name: 'package/short', data: 'long' }, { name: 'package/empty' }]));
    expect(await readFile(join(dir, long), 'utf8')).to.equal('long');
    expect(await readFile(join(dir, 'empty'), 'utf8')).to.equal('');
  });

  it('refuses a link, and says which', async () => {
    const error = await refused([good, { name: 'package/secrets', flag: '2', link: '/etc/passwd' }]);
    expect(error.code).to.equal('install_archive_link');
    expect(error.message).to.include('package/secrets').and.include('/etc/passwd');
  });

  it('refuses a hard link', async () => {
    expect((await refused([good, { name: 'package/again', flag: '1', link: 'package/package.json' }])).code).to.equal('install_archive_link');
  });

  for (const [what, flag] of [
    ['a device', '3'],
    ['a block device', '4'],
    ['a pipe', '6'],
    ['an entry of an unknown kind', 'Z'],
  ] as const)
    it(`refuses ${what}`, async () => {
      expect((await refused([good, { name: 'package/odd', flag }])).code).to.equal('install_archive_kind');
    });

  for (const [what, name] of [
    ['leads out of the package', 'package/../../evil.js'],
    ['leads out in the middle', 'package/dist/../../evil.js'],
    ['is absolute', '/etc/evil'],
    ['is absolute below the package', 'package//etc/evil'],
    ['begins with a drive', 'package/C:/evil'],
    ['has a backslash', 'package/..\\evil.js'],
    ['is outside of package/', 'other/evil.js'],
    ['has an empty part', 'package/a/./b'],
    ['has a control character', 'package/a\u0007b'],
    ['has a character that cannot be seen', 'package/a\u200Db'],
    ['turns the reading direction', 'package/a\u202Esj.js'],
    ['is not NFC', 'package/e\u0301.js'],
  ] as const)
    it(`refuses a path that ${what}`, async () => {
      expect((await refused([good, { name, data: 'x' }])).code).to.equal('install_archive_path');
    });

  it('validates the path of a pax header, not the one it hides', async () => {
    expect((await refused([good, paxPath('package/../../evil.js'), { name: 'package/fine.js', data: 'x' }])).code).to.equal('install_archive_path');
  });

  it('refuses names that are no text', async () => {
    const archive = rawTar([good, { name: 'package/aXb', data: 'x' }]);
    const at = archive.indexOf('aXb');
    archive[at + 1] = 0xff;
    const sum = archive.subarray(1024, 1536);
    sum.write('        ', 148);
    sum.write(
      `${sum
        .reduce((total, byte) => total + byte, 0)
        .toString(8)
        .padStart(6, '0')}\0 `,
      148,
    );
    expect((await refused(gzipSync(archive))).code).to.equal('install_archive_path');
  });

  for (const [what, first, second] of [
    ['files', 'package/Read.js', 'package/read.js'],
    ['folders', 'package/Dist/a.js', 'package/dist/b.js'],
    ['letters that fold to two', 'package/straße.js', 'package/STRASSE.js'],
    ['the same file twice', 'package/a.js', 'package/a.js'],
  ] as const)
    it(`refuses names that are one on some systems: ${what}`, async () => {
      expect((await refused([good, { name: first, data: '1' }, { name: second, data: '2' }])).code).to.equal('install_archive_case');
    });

  it('refuses what is both a file and a folder', async () => {
    expect(
      (
        await refused([
          { name: 'package/dist', data: 'x' },
          { name: 'package/dist/index.js', data: 'y' },
        ])
      ).code,
    ).to.equal('install_archive_path');
  });

  const limits = { bytes: 4_000, fileBytes: 3_000, count: 5 };

  it('refuses more bytes than all files may have', async () => {
    const error = await refused([good, { name: 'package/a', data: 'x'.repeat(2_500) }, { name: 'package/b', data: 'x'.repeat(2_500) }], { limits });
    expect(error.code).to.equal('install_archive_size');
    expect(error.message).to.include('4000 bytes');
  });

  it('refuses one file that is too large, by what its header says', async () => {
    expect((await refused([good, { name: 'package/a', size: 3_001 }], { limits })).code).to.equal('install_archive_size');
  });

  it('refuses a few bytes that unpack to many, whatever the headers say', async () => {
    const bomb = gzipSync(Buffer.concat([rawTar([good]).subarray(0, 1024), rawTar([{ ...paxPath('a'), data: Buffer.alloc(100_000, 0x20) }])]));
    expect(bomb.length).to.be.below(2_000);
    expect((await refused(bomb, { limits })).code).to.equal('install_archive_size');
  });

  it('refuses more files and folders than there may be', async () => {
    const many = Array.from({ length: 5 }, (_, index) => ({ name: `package/d${index}/f`, data: '' }));
    expect((await refused(many, { limits })).code).to.equal('install_archive_count');
  });

  it('refuses what is no archive, what is cut off, and what is empty', async () => {
    expect((await refused(Buffer.from('hello'))).message).to.include('not a gzip file');
    expect((await refused(gzipSync(Buffer.alloc(2048, 1)))).message).to.include('not a tar archive');
    const whole = rawTgz([good, { name: 'package/a', data: 'x'.repeat(5_000) }]);
    expect((await refused(whole.subarray(0, whole.length - 30))).message).to.include('ends in the middle');
    expect((await refused(gzipSync(rawTar([good, { name: 'package/a', size: 90_000 }])))).code).to.equal('install_archive_broken');
    expect((await refused(rawTgz([]))).message).to.include('empty');
  });

  it('stops when it is told to', async () => {
    const stopped = unpacked(rawTgz([good]), { signal: AbortSignal.abort(new Error('stopped by hand')) });
    expect(await stopped.catch((error: Error) => error.message)).to.equal('stopped by hand');
    expect(await readdir(root)).to.deep.equal(['in']);
  });
});
