import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDir } from '@svc/platform/adapters/files/files-adapter';
import { expect } from 'chai';
import { workspacePath } from '../src/workspace/names.js';
import { createFilesService } from '../src/workspace/service.js';

const AGENT = '11111111-1111-4111-8111-111111111111';

const failure = async (work: Promise<unknown>): Promise<{ code: string; status: number }> => {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error && 'code' in error && 'status' in error) return { code: String(error.code), status: Number(error.status) };
    throw error;
  }
  throw new Error('nothing was thrown');
};

describe('files', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-files-'));
  });
  afterEach(() => rm(home, { recursive: true }));

  it('F1 refuses every name that leads out, as the router has decoded it', () => {
    for (const name of ['../x', 'a/../../x', '/etc/passwd', '..', 'a\\..\\x', 'C:\\x', '\\x', 'a\0b', '']) expect(() => workspacePath(name), name).to.throw(/Path traversal denied/);
    expect(workspacePath('a/./b..c.txt')).to.equal('a/b..c.txt');
  });

  it('F1 refuses a link that leads out of the workspace', async () => {
    const workspaces = openDir(home);
    await workspaces.dir(AGENT).write('own.txt', 'mine');
    await writeFile(join(home, 'outside.txt'), 'not yours');
    await symlink(join(home, 'outside.txt'), join(home, AGENT, 'link.txt'));
    expect((await failure(createFilesService(workspaces).read(AGENT, 'link.txt'))).status).to.equal(403);
  });

  it('F2 gives text as text and other bytes in base64', async () => {
    const workspaces = openDir(home);
    await workspaces.dir(AGENT).write('sub/note.md', '\uFEFFgrüße');
    await workspaces.dir(AGENT).write('raw.bin', new Uint8Array([0, 255, 1]));
    await workspaces.dir(AGENT).write('latin.txt', new Uint8Array([0x67, 0xfc]));
    const files = createFilesService(workspaces);
    expect(await files.read(AGENT, 'sub/note.md')).to.include({ name: 'sub/note.md', content: '\uFEFFgrüße', encoding: 'utf-8', size_bytes: 10 });
    expect(await files.read(AGENT, 'raw.bin')).to.include({ name: 'raw.bin', content: 'AP8B', encoding: 'base64', size_bytes: 3 });
    expect((await files.read(AGENT, 'latin.txt')).encoding).to.equal('base64');
  });

  it('lists files with their folders, sizes and kinds', async () => {
    const workspaces = openDir(home);
    await workspaces.dir(AGENT).write('sub/note.md', 'four');
    await workspaces.dir(AGENT).write('.identity/SOUL.md', 'x');
    const { files: listed } = await createFilesService(workspaces).list(AGENT);
    expect(listed.map(({ name, kind, size_bytes, exists }) => ({ name, kind, size_bytes, exists }))).to.deep.equal([
      { name: '.identity/SOUL.md', kind: 'identity', size_bytes: 1, exists: true },
      { name: 'sub/note.md', kind: 'workspace', size_bytes: 4, exists: true },
    ]);
  });

  it('F3 shows a workspace nobody wrote to as empty, and a missing file or folder as missing', async () => {
    const files = createFilesService(openDir(home));
    expect(await files.list(AGENT)).to.deep.equal({ files: [], truncated: false });
    expect(await failure(files.read(AGENT, 'x.txt'))).to.deep.equal({ code: 'files_not_found', status: 404 });
    await openDir(home).dir(AGENT).write('sub/a', '');
    expect((await failure(files.read(AGENT, 'sub'))).code).to.equal('files_not_a_file');
  });
});
