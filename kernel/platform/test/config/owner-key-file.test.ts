/** The file with the key that the daemon made: what is taken from it, and what is not. */
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { ownerKeyFile, readOwnerKey } from '@svc/platform/config/file/owner-key-file';
import { expect } from 'chai';

const KEY = `svc_${'aB3-_'.repeat(9).slice(0, 43)}`;

describe('owner.key', () => {
  let home: string;
  let file: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-owner-key-'));
    file = ownerKeyFile(home);
  });
  afterEach(() => rm(home, { recursive: true, force: true }));
  const written = async (text: string, mode = 0o600): Promise<void> => {
    await writeFile(file, text);
    await chmod(file, mode);
  };
  const why = async (): Promise<string> => {
    const found = await readOwnerKey(file);
    return found.kind === 'unusable' ? found.why : found.kind;
  };

  it('gives the key, without the end of its line', async () => {
    await written(`${KEY}\n`);
    expect(await readOwnerKey(file)).to.deep.equal({ kind: 'key', key: KEY });
  });

  it('is none where it is not there', async () => {
    expect(await readOwnerKey(file)).to.deep.equal({ kind: 'none' });
  });

  for (const mode of [0o640, 0o604, 0o620, 0o602, 0o610])
    it(`is not taken with mode ${mode.toString(8)}`, async () => {
      await written(KEY, mode);
      expect(await why()).to.contain('chmod 600');
    });

  for (const [what, text] of [
    ['nothing', ''],
    ['a word', 'svc_short'],
    ['a key with something behind it', `${KEY}\n${KEY}`],
    ['far too much', `${KEY}${' '.repeat(2_000)}`],
  ] as const)
    it(`holds no key where it holds ${what}`, async () => {
      await written(text);
      expect(await why()).to.equal('it holds no key');
    });

  it('is not followed where it is a link, also to a file that would do', async () => {
    const other = join(home, 'other');
    await writeFile(other, KEY, { mode: 0o600 });
    await symlink(other, file);
    expect(await why()).to.equal('it is a link');
  });

  it('is no folder, and a pipe in its place holds up nobody', async () => {
    await mkdir(file);
    expect(await why()).to.equal('it is not a file');
    await rm(file, { recursive: true });
    execFileSync('mkfifo', ['-m', '600', file]);
    expect(await why()).to.equal('it is not a file');
  });

  it('is not taken from another user', async function () {
    if (process.getuid?.() !== 0) return this.skip();
    await written(KEY);
    await chown(file, 1, 1);
    expect(await why()).to.equal('it belongs to another user');
  });
});
