/** Files of workspaces that people deleted: gone for everybody, and back where they were. */
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { bootTestKernel, OPEN_RATE, stopTestKernels, type TestAnswer, type TestKernel } from '@svc/testing';

const FILES = { id: 'files', tables: ['uploads', 'blobs'] };
const CANARY = 'canary-grebe-5520';
const MANY_BYTES = 2 * 1_048_576;

const refusalOf = ({ status, body }: TestAnswer): [number, string] => [status, body.code];

describe('a deleted file', () => {
  let svc: TestKernel;
  let agent: string;
  beforeEach(async () => {
    svc = await bootTestKernel({ config: `${OPEN_RATE}[uploads]\nmax_owner_bytes = 8_000_000\n` });
    agent = (await svc.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  });
  afterEach(() => stopTestKernels());

  const at = (name: string): string => `/api/agents/${agent}/files/${name}`;
  const put = (name: string, content: string) => svc.http.expect(200, 'PUT', at(name), { content });
  const drop = async (name: string): Promise<{ file_id: string; restorable_until: string }> => (await svc.http.expect(200, 'DELETE', at(name))).body;
  const binned = async (): Promise<Array<{ file_id: string; path: string; size: number }>> => (await svc.http.expect(200, 'GET', `/api/uploads?deleted=only&agent_id=${agent}`)).body.rows;
  const restore = (name: string, id: string) => svc.http.put(at(name), { restore: id });
  const homeHolds = async (text: string): Promise<string[]> => {
    const files = (await readdir(svc.home, { recursive: true, withFileTypes: true })).filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
    const held = await Promise.all(files.map(async (file) => ((await readFile(file)).includes(text) ? [path.relative(svc.home, file)] : [])));
    return held.flat();
  };

  it('is in no list of the workspace or of uploads, and comes back as it was, also empty, large or no text', async () => {
    await svc.http.expect(200, 'PUT', at('a/bytes.bin'), { content: Buffer.from([0, 1, 2, 255]).toString('base64'), encoding: 'base64' });
    await put('empty.txt', '');
    const large = path.join(svc.home, 'workspaces', agent, 'large.txt');
    await writeFile(large, 'x'.repeat(MANY_BYTES));
    const names = ['a/bytes.bin', 'empty.txt', 'large.txt'];
    const ids = new Map<string, string>();
    for (const name of names) {
      const gone = await drop(name);
      expect(Date.parse(gone.restorable_until) - Date.now()).to.be.within(29.9 * 86_400_000, 30 * 86_400_000);
      expect(refusalOf(await svc.http.get(at(name)))).to.deep.equal([404, 'files_not_found']);
      expect((await svc.http.get(`/api/uploads/${gone.file_id}`)).status).to.equal(404);
      ids.set(name, gone.file_id);
    }
    expect((await svc.http.expect(200, 'GET', `/api/agents/${agent}/files`)).body.files).to.deep.equal([]);
    expect((await svc.http.expect(200, 'GET', '/api/uploads')).body.rows).to.deep.equal([]);
    expect((await binned()).map(({ path: name, size }) => [name, size])).to.deep.equal([
      ['large.txt', MANY_BYTES],
      ['empty.txt', 0],
      ['a/bytes.bin', 4],
    ]);
    for (const [name, id] of ids) expect((await restore(name, id)).status, name).to.equal(200);
    expect(Buffer.from((await svc.http.expect(200, 'GET', at('a/bytes.bin'))).body.content, 'base64')).to.deep.equal(Buffer.from([0, 1, 2, 255]));
    expect((await svc.http.expect(200, 'GET', at('empty.txt'))).body.content).to.equal('');
    expect((await readFile(large)).byteLength).to.equal(MANY_BYTES);
    expect(await binned()).to.deep.equal([]);
  });

  it('comes back under another name where something is at its place now, and never through a link or into git', async () => {
    await put('notes.md', 'first');
    const { file_id: id } = await drop('notes.md');
    await put('notes.md', 'second');
    expect(refusalOf(await restore('notes.md', id))).to.deep.equal([409, 'files_already_there']);
    await symlink('/tmp', path.join(svc.home, 'workspaces', agent, 'out'));
    expect((await restore('out/notes.md', id)).status).to.be.oneOf([400, 403, 409]);
    expect(refusalOf(await restore('.git/config', id))).to.deep.equal([403, 'files_git_folder']);
    expect((await svc.http.expect(200, 'GET', at('notes.md'))).body.content).to.equal('second');
    await restore('old/notes.md', id);
    expect((await svc.http.expect(200, 'GET', at('old/notes.md'))).body.content).to.equal('first');
  });

  it('counts among the uploads of its owner, and is not deleted where it has no room', async () => {
    const large = (name: string) => writeFile(path.join(svc.home, 'workspaces', agent, name), 'y'.repeat(5_000_000));
    await put('a', '');
    for (const name of ['one', 'two']) await large(name);
    await drop('one');
    expect(refusalOf(await svc.http.delete(at('two')))).to.deep.equal([413, 'files_bin_full']);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${agent}/files`)).body.files.map((file: { name: string }) => file.name)).to.deep.equal(['a', 'two']);
    expect((await svc.http.expect(200, 'DELETE', `${at('two')}?erase=true`)).body).to.include({ file_id: null, restorable_until: null });
    expect((await readdir(path.join(svc.home, 'data/uploads'), { recursive: true })).filter((name) => name.endsWith('bytes'))).to.have.length(1);
  });

  it('is erased by its id, with its time and with the person, from the whole home', async () => {
    const db = svc.daemon.parts.storage.dbFor(FILES);
    for (const name of ['asked', 'overdue', 'left']) await put(name, `${CANARY} ${name}`);
    const [asked, overdue] = [await drop('asked'), await drop('overdue')];
    await drop('left');
    expect(await homeHolds(`${CANARY} asked`)).to.have.length(1);
    await svc.http.expect(200, 'DELETE', `/api/uploads/${asked.file_id}`);
    expect(await homeHolds(`${CANARY} asked`)).to.deep.equal([]);
    await db.commit([db.update('uploads', ['id'], [{ id: overdue.file_id, keep_until: '2020-01-01T00:00:00.000Z' }])]);
    expect((await binned()).map((file) => file.path)).to.deep.equal(['left']);
    expect(refusalOf(await restore('overdue', overdue.file_id))).to.deep.equal([404, 'upload_not_found']);
    const ownerId = (await db.system('a test').first<{ owner_id: string }>({ from: 'uploads', where: { path: 'left' } }))?.owner_id ?? '';
    expect(await svc.daemon.parts.purges.purge({ ownerId })).to.include({ complete: true });
    expect(await homeHolds(CANARY)).to.deep.equal([]);
    expect([await db.system('a test').count('uploads'), await db.system('a test').count('blobs')]).to.deep.equal([0, 0]);
  });

  it('goes into the bin and out of it with its agent', async () => {
    const { agent_id } = (await svc.http.expect(201, 'POST', '/api/agents', { name: 'grebe' })).body;
    agent = agent_id;
    await put('plan.md', 'the plan');
    const { file_id: id } = await drop('plan.md');
    await svc.http.expect(200, 'DELETE', `/api/agents/${agent}`);
    expect((await svc.http.expect(200, 'GET', '/api/uploads?deleted=only')).body.rows).to.deep.equal([]);
    // Bytes that only the bin refers to stay, whatever else is erased.
    await svc.daemon.parts.purges.purge({ ownerId: 'user:somebody' });
    await svc.http.expect(200, 'PUT', `/api/agents/${agent}/resume`);
    expect((await restore('plan.md', id)).status).to.equal(200);
    expect((await svc.http.expect(200, 'GET', at('plan.md'))).body.content).to.equal('the plan');
  });

  it('is erased at once where [trash] days is 0', async () => {
    await stopTestKernels();
    svc = await bootTestKernel({ config: `${OPEN_RATE}[trash]\ndays = 0\n` });
    agent = (await svc.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    await put('a', 'b');
    expect((await svc.http.expect(200, 'DELETE', at('a'))).body).to.include({ file_id: null, restorable_until: null });
    expect(await binned()).to.deep.equal([]);
  });
});
