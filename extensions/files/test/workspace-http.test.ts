/** Workspace files over HTTP: read, written, deleted, and by two editors at once. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestHttp, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { PNG } from './files-kit.js';

describe('a workspace file over HTTP', () => {
  let kernel: TestKernel;
  let http: TestHttp;
  let agent: string;
  before(async () => {
    kernel = await bootTestKernel();
    ({ http } = kernel);
    agent = (await http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  });
  after(stopTestKernels);

  const at = (name: string): string => `/api/agents/${agent}/files/${name}`;
  const onDisk = (name: string): string => join(kernel.home, 'workspaces', agent, name);

  it('is written whole, read, listed and deleted', async () => {
    const written = await http.expect(200, 'PUT', at('docs/plan.md'), { content: '# grüße\n' });
    expect(written.body).to.include({ status: 'ok', name: 'docs/plan.md', size_bytes: 10, created: true });
    expect(written.headers.get('etag')).to.equal(`"${written.body.rev}"`);
    expect(await readFile(onDisk('docs/plan.md'), 'utf8')).to.equal('# grüße\n');

    const read = await http.expect(200, 'GET', at('docs%2Fplan.md'));
    expect(read.body).to.include({ name: 'docs/plan.md', content: '# grüße\n', encoding: 'utf-8', size_bytes: 10, rev: written.body.rev });
    const { files, total, truncated } = (await http.expect(200, 'GET', `/api/agents/${agent}/files`)).body;
    expect([total, truncated, files[0]]).to.deep.equal([
      1,
      false,
      { name: 'docs/plan.md', exists: true, size_bytes: 10, kind: 'workspace', modified_at: read.body.modified_at, rev: written.body.rev },
    ]);

    expect((await http.expect(200, 'PUT', at('docs/plan.md'), { content: '' })).body).to.include({ size_bytes: 0, created: false });
    expect((await http.expect(200, 'DELETE', at('docs/plan.md'))).body).to.include({ status: 'ok', name: 'docs/plan.md' });
    expect((await http.delete(at('docs/plan.md'))).body.code).to.equal('files_not_found');
    expect((await http.get(at('docs/plan.md'))).status).to.equal(404);
  });

  it('F2 in UTF-16 is text, and stays in its encoding when it is written back', async () => {
    const bytes = Buffer.from('\uFEFFGrüße\r\n', 'utf16le');
    await http.expect(200, 'PUT', at('win.txt'), { content: bytes.toString('base64'), encoding: 'base64' });
    expect((await http.expect(200, 'GET', at('win.txt'))).body).to.include({ content: 'Grüße\r\n', encoding: 'utf-16le' });
    await http.expect(200, 'PUT', at('win.txt'), { content: 'Grüße\r\n', encoding: 'utf-16le' });
    expect((await readFile(onDisk('win.txt'))).equals(bytes)).to.equal(true);
    await http.expect(200, 'PUT', at('win.txt'), { content: 'Grüße\r\n', encoding: 'utf-16be' });
    expect((await readFile(onDisk('win.txt'))).equals(Buffer.from(bytes).swap16())).to.equal(true);
    await http.expect(200, 'DELETE', at('win.txt'));
  });

  it('F2 may be bytes: written in base64, and given raw, whole or in part', async () => {
    await http.expect(200, 'PUT', at('dot.png'), { content: PNG.toString('base64'), encoding: 'base64' });
    expect((await http.expect(200, 'GET', at('dot.png'))).body).to.include({ encoding: 'base64', content: PNG.toString('base64') });
    for (const [path, headers] of [
      [`${at('dot.png')}?raw=1`, {}],
      [at('dot.png'), { accept: 'application/octet-stream' }],
    ] as const) {
      const raw = await http.raw('GET', path, undefined, headers);
      expect(Buffer.from(await raw.arrayBuffer()).equals(PNG)).to.equal(true);
      expect([raw.headers.get('content-type'), raw.headers.get('x-content-type-options')]).to.deep.equal(['image/png', 'nosniff']);
    }
    const part = await http.raw('GET', `${at('dot.png')}?raw=true`, undefined, { range: 'bytes=1-3' });
    expect([part.status, await part.text()]).to.deep.equal([206, 'PNG']);
    const etag = (await http.raw('GET', `${at('dot.png')}?raw=1`, undefined)).headers.get('etag') ?? '';
    expect((await http.raw('GET', `${at('dot.png')}?raw=1`, undefined, { 'if-none-match': etag })).status).to.equal(304);
    for (const content of ['not base64!', 'AAA', '=A==']) expect((await http.put(at('dot.png'), { content, encoding: 'base64' })).body.code, content).to.equal('files_bad_content');
  });

  it('V1 that an agent wrote is never a page of this service', async () => {
    await http.expect(200, 'PUT', at('page.html'), { content: '<script>alert(1)</script>' });
    const { headers } = await http.raw('GET', `${at('page.html')}?raw=1`, undefined);
    expect(headers.get('content-type')).to.equal('application/octet-stream');
    expect(headers.get('content-disposition')).to.match(/^attachment; filename="page.html"/);
    expect(headers.get('content-security-policy')).to.contain('sandbox');
  });

  it('F4 that two people edit keeps the first change: the second is told what stands there', async () => {
    const { rev } = (await http.expect(200, 'PUT', at('shared.md'), { content: 'one' })).body;
    const both = await Promise.all(['two', 'six'].map((content) => http.put(at('shared.md'), { content, expected: rev })));
    expect(both.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    const lost = both.find(({ status }) => status === 409);
    const now = (await http.expect(200, 'GET', at('shared.md'))).body;
    expect(lost?.body).to.include({ code: 'files_changed' });
    expect(lost?.body.error).to.contain(now.rev);
    expect((await http.put(at('shared.md'), { content: 'three', expected: null })).status).to.equal(409);
    expect((await http.put(at('shared.md'), { content: 'three', expected: now.rev })).status).to.equal(200);
  });

  it('F4 obeys If-Match and If-None-Match, when it is written and when it is deleted', async () => {
    const first = await http.expect(200, 'PUT', at('tagged.md'), { content: 'one' }, { 'if-none-match': '*' });
    const tag = first.headers.get('etag') ?? '';
    expect((await http.put(at('tagged.md'), { content: 'two' }, { 'if-none-match': '*' })).body.code).to.equal('files_precondition_failed');
    expect((await http.put(at('tagged.md'), { content: 'two!' }, { 'if-match': `"other", ${tag}` })).status).to.equal(200);
    expect((await http.put(at('tagged.md'), { content: 'three' }, { 'if-match': tag })).status).to.equal(412);
    expect((await http.put(at('absent.md'), { content: 'x' }, { 'if-match': '*' })).status).to.equal(412);
    expect((await http.delete(at('tagged.md'), { 'if-match': tag })).status).to.equal(412);
    expect((await http.delete(at('tagged.md'), { 'if-match': '*' })).status).to.equal(200);
  });

  it('has a name that every system takes, or is not written', async () => {
    for (const [name, status] of [
      ['..%2Fescape.txt', 403],
      ['a%2F..%2F..%2Fescape.txt', 403],
      ['%2Fetc%2Fpasswd', 403],
      ['..%5Cescape.txt', 403],
      ['C%3A%5Cx', 403],
      ['a%00b', 403],
      ['a%0Ab', 400],
      ['a%07b', 400],
      ['a%7Fb', 400],
      ['a%E2%80%AEb', 400],
      ['con', 400],
      ['sub%2FAUX.txt', 400],
      ['com1.log', 400],
      ['trailing.', 400],
      ['trailing%20', 400],
      ['dir.%2Fx', 400],
      ['sub%2F', 400],
      ['n'.repeat(300), 400],
      [`${'d'.repeat(200)}%2F`.repeat(8), 400],
    ] as const) {
      const answer = await http.put(at(name), { content: 'x' });
      expect([answer.status, /^(files_outside_workspace|files_bad_name)$/.test(answer.body.code)], `${name}: ${answer.text}`).to.deep.equal([status, true]);
      expect((await http.get(at(name))).status, `GET ${name}`).to.be.within(400, 404);
      expect((await http.delete(at(name))).status, `DELETE ${name}`).to.be.within(400, 404);
    }
    // Names that only look so.
    for (const name of ['console.log', 'nullable.ts', '.env', 'a..b', 'naïve file.txt', '%25.txt'])
      expect((await http.put(at(encodeURIComponent(decodeURIComponent(name))), { content: 'x' })).status, name).to.equal(200);
  });

  it('F1 is not reached through a link that leads out, to read, to write or to delete', async () => {
    await http.expect(200, 'PUT', at('own.txt'), { content: 'mine' });
    await mkdir(join(kernel.home, 'elsewhere'), { recursive: true });
    await writeFile(join(kernel.home, 'elsewhere', 'secret.txt'), 'not yours');
    await symlink(join(kernel.home, 'elsewhere'), onDisk('way'));
    await symlink(join(kernel.home, 'elsewhere', 'secret.txt'), onDisk('link.txt'));
    for (const name of ['way/secret.txt', 'link.txt']) {
      for (const method of ['GET', 'DELETE']) expect((await http.send(method, at(name), undefined)).status, `${method} ${name}`).to.equal(403);
      expect((await http.get(`${at(name)}?raw=1`)).status).to.equal(403);
      expect((await http.put(at(name), { content: 'changed' })).status).to.equal(403);
    }
    expect((await http.put(at('way/new.txt'), { content: 'x' })).status).to.equal(403);
    expect(await readFile(join(kernel.home, 'elsewhere', 'secret.txt'), 'utf8')).to.equal('not yours');
  });

  it('is a file: a folder is neither read, written nor deleted', async () => {
    await http.expect(200, 'PUT', at('folder/inside.txt'), { content: 'x' });
    for (const answer of [await http.get(at('folder')), await http.get(`${at('folder')}?raw=1`), await http.delete(at('folder')), await http.put(at('folder'), { content: 'x' })])
      expect([answer.status, answer.body.code]).to.deep.equal([400, 'files_not_a_file']);
    expect((await http.put(at('folder/inside.txt/deeper.txt'), { content: 'x' })).status).to.be.within(400, 404);
    expect((await http.expect(200, 'GET', at('folder/inside.txt'))).body.content).to.equal('x');
  });

  it('has 1 MiB at most, 32,768 bytes where it says who the agent is', async () => {
    expect((await http.put(at('big.txt'), { content: '\u0001'.repeat(1_048_576) })).status).to.equal(200);
    const big = await http.put(at('big.txt'), { content: 'x'.repeat(1_048_577) });
    expect([big.status, big.body.code]).to.deep.equal([413, 'files_too_large_to_write']);
    expect((await http.put(at('big.txt'), { content: 'x'.repeat(7_000_000) })).status).to.equal(413);
    for (const name of ['SOUL.md', '.identity/SOUL.md']) {
      expect((await http.put(at(name), { content: 'ü'.repeat(16_384) })).status, name).to.equal(200);
      expect((await http.put(at(name), { content: `x${'ü'.repeat(16_384)}` })).status, name).to.equal(413);
    }
    const { files } = (await http.expect(200, 'GET', `/api/agents/${agent}/files`)).body;
    expect(files.filter(({ kind }: { kind: string }) => kind === 'identity').map(({ name }: { name: string }) => name)).to.deep.equal(['.identity/SOUL.md', 'SOUL.md']);
  });

  it('of more than four megabytes is given raw only', async () => {
    await writeFile(onDisk('large.bin'), Buffer.alloc(5_000_000, 1));
    expect((await http.get(at('large.bin'))).body.code).to.equal('files_too_large');
    expect((await (await http.raw('GET', `${at('large.bin')}?raw=1`, undefined)).arrayBuffer()).byteLength).to.equal(5_000_000);
  });

  it('takes a body that says what it means, and no other', async () => {
    for (const body of [{}, { content: 7 }, { content: 'x', encoding: 'latin1' }, { content: 'x', expected: 7 }, 'text', null])
      expect((await http.put(at('x.txt'), body)).status, JSON.stringify(body)).to.equal(400);
    expect((await http.put('/api/agents/00000000-0000-4000-8000-000000000000/files/x.txt', { content: 'x' })).status).to.equal(404);
  });

  it('beyond a thousand is not listed, and the list says so', async () => {
    await mkdir(onDisk('many'), { recursive: true });
    await Promise.all(Array.from({ length: 1_001 }, (_, index) => writeFile(onDisk(`many/${index}`), '')));
    const { files, truncated } = (await http.expect(200, 'GET', `/api/agents/${agent}/files`)).body;
    expect([files.length <= 1_000, truncated]).to.deep.equal([true, true]);
  });
});
