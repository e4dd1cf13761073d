/** Uploads over HTTP: what is taken, what is refused, and what comes back. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OPEN_RATE, type TestHttp, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { until } from '@svc/test/clients/model-kernel';
import { GIF, JPEG, PNG, filesBelow, hangUpAfter, pdfOf, sendBody, sendEndlessly, sendForm } from './files-kit.js';

const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2', carol: 'carol-key-3' };
const person = (name: 'alice' | 'bob' | 'carol', role: string): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const NOBODY = '00000000-0000-4000-8000-000000000000';

const utf16 = (text: string): Buffer => Buffer.from(`\uFEFF${text}`, 'utf16le');

describe('an upload', () => {
  let kernel: TestKernel;
  let http: TestHttp;
  let agent: string;
  before(async () => {
    kernel = await bootTestKernel();
    ({ http } = kernel);
    agent = (await http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  });
  after(stopTestKernels);

  const stored = () => filesBelow(kernel, 'data/uploads');
  const bytesOf = async (fileId: string, headers: Record<string, string> = {}) => {
    const response = await http.raw('GET', `/api/uploads/${fileId}`, undefined, headers);
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it('comes as a form or as a body, and comes back as it was', async () => {
    const form = await sendForm(http, agent, { bytes: PNG, type: 'image/png', name: 'dot.png' });
    expect([form.status, form.body.filename, form.body.content_type, form.body.size]).to.deep.equal([200, 'dot.png', 'image/png', PNG.length]);
    const body = await sendBody(http, agent, 'größe', { 'content-type': 'text/markdown; charset=utf-8', 'x-filename': encodeURIComponent('grüße.md') });
    expect([body.status, body.body.filename, body.body.content_type, body.body.size]).to.deep.equal([200, 'grüße.md', 'text/markdown', 7]);

    const picture = await bytesOf(form.body.file_id);
    expect(picture.bytes.equals(PNG)).to.equal(true);
    expect(picture.headers.get('content-type')).to.equal('image/png');
    expect(picture.headers.get('content-disposition')).to.equal(`inline; filename="dot.png"; filename*=UTF-8''dot.png`);
    const text = await bytesOf(body.body.file_id);
    expect(text.bytes.toString()).to.equal('größe');
    expect(text.headers.get('content-type')).to.equal('text/markdown; charset=utf-8');
    expect(text.headers.get('content-disposition')).to.equal(`attachment; filename="gr__e.md"; filename*=UTF-8''gr%C3%BC%C3%9Fe.md`);
  });

  it('is described as a form and as a body', async () => {
    const { paths } = (await http.expect(200, 'GET', '/api/openapi.json')).body;
    const { content } = paths['/api/agents/{id}/upload'].post.requestBody;
    expect(Object.keys(content)).to.deep.equal(['multipart/form-data', '*/*']);
    expect(content['*/*'].schema).to.deep.equal({ type: 'string', format: 'binary' });
  });

  it('comes from curl, where there is curl', async function () {
    const run = promisify(execFile);
    if (!(await run('curl', ['--version']).catch(() => undefined))) return this.skip();
    const file = join(kernel.home, 'notes.md');
    await writeFile(file, '# notes\n');
    const { stdout } = await run('curl', ['-s', '-F', `file=@${file}`, '-F', 'comment=hello', `${http.url}/api/agents/${agent}/upload`]);
    expect(JSON.parse(stdout)).to.include({ filename: 'notes.md', content_type: 'text/markdown', size: 8 });
  });

  it('V2 that is a script or a style has no address at which a page could take it for one', async () => {
    for (const type of ['text/javascript', 'application/javascript', 'application/x-javascript', 'text/ecmascript', 'text/jscript', 'text/css', 'text/x-component', 'application/typescript']) {
      const { body } = await sendBody(http, agent, 'alert(1)', { 'content-type': type });
      const { headers } = await bytesOf(body.file_id);
      expect([headers.get('content-type'), headers.get('x-content-type-options')], type).to.deep.equal(['text/plain; charset=utf-8', 'nosniff']);
    }
  });

  it('V1 of a type that a browser runs is never shown in place, and stands in a sandbox', async () => {
    for (const [type, text] of [
      ['text/javascript', 'alert(1)'],
      ['application/xml', '<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>'],
      ['text/plain', '<script>alert(1)</script>'],
    ] as const) {
      const { body } = await sendBody(http, agent, text, { 'content-type': type });
      const { headers } = await bytesOf(body.file_id);
      expect(headers.get('content-disposition'), type).to.match(/^attachment/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
      expect(headers.get('content-security-policy')).to.contain('sandbox').and.contain("default-src 'none'");
    }
    const { body } = await sendForm(http, agent, { bytes: pdfOf('x'), type: 'application/pdf', name: 'x.pdf' });
    expect((await bytesOf(body.file_id)).headers.get('content-disposition')).to.match(/^attachment/);
  });

  it('gives a part where Range asks for one, and nothing to whoever has it', async () => {
    const { body } = await sendBody(http, agent, '0123456789', { 'content-type': 'text/plain' });
    const whole = await bytesOf(body.file_id);
    expect([whole.headers.get('accept-ranges'), whole.headers.get('content-length')]).to.deep.equal(['bytes', '10']);
    const part = await bytesOf(body.file_id, { range: 'bytes=2-4' });
    expect([part.status, part.bytes.toString(), part.headers.get('content-range')]).to.deep.equal([206, '234', 'bytes 2-4/10']);
    expect((await bytesOf(body.file_id, { range: 'bytes=-3' })).bytes.toString()).to.equal('789');
    expect((await bytesOf(body.file_id, { range: 'bytes=10-' })).status).to.equal(416);
    expect((await bytesOf(body.file_id, { 'if-none-match': whole.headers.get('etag') ?? '' })).status).to.equal(304);
  });

  it('C1 takes every type of the list, and says what its bytes are', async () => {
    const riff = (what: string) => Buffer.concat([Buffer.from('RIFF\x10\0\0\0', 'latin1'), Buffer.from(what), Buffer.alloc(8)]);
    const files: ReadonlyArray<readonly [declared: string, bytes: Buffer, kept: string]> = [
      ['image/png', PNG, 'image/png'],
      ['image/jpg', JPEG, 'image/jpeg'],
      ['image/gif', GIF, 'image/gif'],
      ['image/webp', riff('WEBP'), 'image/webp'],
      ['audio/mpeg', Buffer.from('ID3\x04\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'), 'audio/mpeg'],
      ['audio/mp3', Buffer.from('fffb9000000000000000000000000000', 'hex'), 'audio/mpeg'],
      ['audio/wav', riff('WAVE'), 'audio/wav'],
      ['audio/x-wav', riff('WAVE'), 'audio/x-wav'],
      ['audio/ogg', Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0', 'latin1'), 'audio/ogg'],
      ['audio/mp4', Buffer.from('\0\0\0\x20ftypM4A \0\0\0\0\0\0', 'latin1'), 'audio/mp4'],
      ['audio/webm', Buffer.from('1a45dfa39f4286810142f7810142f281', 'hex'), 'audio/webm'],
      ['audio/flac', Buffer.from('fLaC\0\0\0\x22\0\0\0\0\0\0\0\0\0', 'latin1'), 'audio/flac'],
      ['application/pdf', pdfOf('x'), 'application/pdf'],
      ['text/x-rust', Buffer.from('fn main() {}'), 'text/x-rust'],
      ['text/css', Buffer.from('a{}'), 'text/css'],
      ...['json', 'x-ipynb+json', 'xml', 'yaml', 'toml', 'sql', 'graphql', 'javascript', 'typescript'].map((name) => [`application/${name}`, Buffer.from('x'), `application/${name}`] as const),
      ['application/octet-stream', PNG, 'image/png'],
      ['application/octet-stream', Buffer.from('just words'), 'text/plain'],
    ];
    for (const [declared, bytes, kept] of files) {
      const answer = await sendBody(http, agent, bytes, { 'content-type': declared });
      expect([answer.status, answer.body.content_type], `${declared}: ${answer.text}`).to.deep.equal([200, kept]);
    }
    const byName = await sendBody(http, agent, '{"cells": []}', { 'content-type': 'application/octet-stream', 'x-filename': 'a.ipynb' });
    expect(byName.body.content_type).to.equal('application/x-ipynb+json');
  });

  for (const [what, of] of [
    ['little', utf16],
    ['big', (text: string) => utf16(text).swap16()],
  ] as const)
    it(`C1 in UTF-16 with a byte order mark (${what}-endian) is text, with and without a type`, async () => {
      for (const type of ['text/csv', 'application/octet-stream']) {
        const answer = await sendBody(http, agent, of('wort;klicks\nGrüße 😀;12\n'), { 'content-type': type, 'x-filename': 'keywords.csv' });
        expect([answer.status, answer.body.content_type], answer.text).to.deep.equal([200, 'text/csv']);
      }
    });

  it('C1 whose type lies is refused, with both types named', async () => {
    const before = (await stored()).length;
    for (const [declared, bytes, found] of [
      ['image/png', JPEG, 'image/jpeg'],
      ['image/png', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'of another kind'],
      ['image/jpeg', Buffer.concat([PNG, Buffer.alloc(200_000)]), 'image/png'],
      ['audio/mpeg', PNG, 'image/png'],
      ['application/pdf', Buffer.from('%PDX-1.4 and more words'), 'of another kind'],
      ['text/plain', PNG, 'image/png'],
      ['text/plain', pdfOf('x'), 'application/pdf'],
      ['text/plain', Buffer.from('a\0b'), 'no UTF-8 text'],
      ['application/json', Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), 'no UTF-8 text'],
      ['text/plain', Buffer.concat([utf16('odd'), Buffer.from('x')]), 'no UTF-16LE text'],
      ['text/plain', utf16('a\0b'), 'no UTF-16LE text'],
      ['text/plain', Buffer.from('cut within a letter: ü').subarray(0, -1), 'no UTF-8 text'],
    ] as const) {
      const answer = await sendBody(http, agent, bytes, { 'content-type': declared });
      expect([answer.status, answer.body.code], `${declared}: ${answer.text}`).to.deep.equal([400, 'upload_type_mismatch']);
      expect(answer.body.error).to.contain(declared).and.contain(found);
    }
    expect(await stored()).to.have.length(before);
  });

  it('of a type that is not taken, or of no bytes, is refused', async () => {
    for (const type of ['text/html', 'text/xml', 'image/svg+xml', 'application/zip', 'video/x-msvideo', 'application/xhtml+xml', 'text/xsl', 'nonsense'])
      expect((await sendBody(http, agent, 'x', { 'content-type': type })).body.code, type).to.equal('upload_type_unsupported');
    for (const name of ['page.html', 'drawing.svg'])
      expect((await sendBody(http, agent, '<x/>', { 'content-type': 'application/octet-stream', 'x-filename': name })).body.code).to.equal('upload_type_unsupported');
    expect((await sendBody(http, agent, Buffer.from([1, 0, 2]), { 'content-type': 'application/octet-stream' })).body.code).to.equal('upload_type_unsupported');
    expect((await sendBody(http, agent, '', { 'content-type': 'text/plain' })).body.code).to.equal('upload_empty');
    expect((await sendForm(http, agent, { bytes: new Uint8Array(), type: 'image/png', name: 'a.png' })).body.code).to.equal('upload_empty');
  });

  it('has a name that any system can show, whatever it was sent with', async () => {
    for (const [sent, kept] of [
      ['../../etc/passwd', 'passwd'],
      ['C:\\temp\\a.txt', 'a.txt'],
      ['a\tb\u0007c\u202Etxt.exe', 'abctxt.exe'],
      ['con.txt', '_con.txt'],
      ['..', 'upload'],
      ['.hidden', 'hidden'],
      ['trailing. . ', 'trailing'],
      ['a:b*c?.txt', 'a_b_c_.txt'],
      [`${'n'.repeat(300)}.txt`, `${'n'.repeat(196)}.txt`],
      ['', 'upload'],
    ] as const) {
      const answer = await sendBody(http, agent, 'x', { 'content-type': 'text/plain', 'x-filename': encodeURIComponent(sent) });
      expect(answer.body.filename, JSON.stringify(sent)).to.equal(kept);
      const { headers } = await bytesOf(answer.body.file_id);
      expect(headers.get('content-disposition')).to.contain(encodeURIComponent(kept).replaceAll('*', '%2A'));
    }
    expect((await sendBody(http, agent, PNG, { 'content-type': 'image/png' })).body.filename).to.equal('upload.png');
    expect((await sendBody(http, agent, 'x', { 'content-type': 'text/plain', 'x-filename': '100%' })).body.filename).to.equal('100%');
    expect((await sendForm(http, agent, { bytes: PNG, type: 'image/png', name: 'bild mit "ü".png' })).body.filename).to.equal('bild mit _ü_.png');
  });

  it('of eleven megabytes is refused with 413 before it has been read', async () => {
    const before = (await stored()).length;
    const eleven = Buffer.alloc(11 * 1_048_576, 0x61);
    const announced = await sendBody(http, agent, eleven, { 'content-type': 'text/plain' });
    expect([announced.status, announced.body.code]).to.deep.equal([413, 'upload_too_large']);
    expect((await sendForm(http, agent, { bytes: eleven, type: 'text/plain', name: 'a.txt' })).body.code).to.equal('upload_too_large');
    expect((await sendBody(http, agent, Buffer.alloc(10 * 1_048_576, 0x61), { 'content-type': 'text/plain' })).status).to.equal(200);
    // Without a length it is counted.
    const endless = await sendEndlessly(http, `/api/agents/${agent}/upload`, { 'content-type': 'text/plain' });
    expect(endless.status).to.equal(413);
    expect(endless.sent).to.be.lessThan(32 * 1_048_576);
    expect(await stored()).to.have.length(before + 1);
  });

  it('whose sender hangs up leaves nothing', async () => {
    const before = await stored();
    const begun = async (): Promise<void> => until(async () => (await stored()).length > before.length);
    await hangUpAfter(http, `/api/agents/${agent}/upload`, 'content-type: text/plain\r\ncontent-length: 500000', Buffer.alloc(200_000, 0x61), begun);
    await until(async () => (await stored()).length === before.length);
    const form = Buffer.concat([Buffer.from('--XX\r\ncontent-disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'), Buffer.alloc(200_000, 0x61)]);
    await hangUpAfter(http, `/api/agents/${agent}/upload`, 'content-type: multipart/form-data; boundary=XX\r\ncontent-length: 500000', form, begun);
    await until(async () => (await stored()).length === before.length);
  });

  it('is kept once however often it comes, and goes with the last that has its bytes', async () => {
    const bytes = `only here ${Date.now()}`;
    const send = () => sendBody(http, agent, bytes, { 'content-type': 'text/plain' });
    const before = (await stored()).length;
    const [one, two] = await Promise.all([send(), send()]);
    expect(await stored()).to.have.length(before + 1);

    expect((await http.expect(200, 'DELETE', `/api/uploads/${one.body.file_id}`)).body).to.deep.equal({ status: 'deleted', file_id: one.body.file_id });
    expect((await bytesOf(one.body.file_id)).status).to.equal(404);
    expect((await bytesOf(two.body.file_id)).bytes.toString()).to.equal(bytes);
    await http.expect(200, 'DELETE', `/api/uploads/${two.body.file_id}`);
    expect(await stored()).to.have.length(before);
    expect((await http.delete(`/api/uploads/${two.body.file_id}`)).status).to.equal(404);
  });

  it('that is being read when it is deleted is read to its end', async () => {
    const { body } = await sendBody(http, agent, Buffer.alloc(9_000_000, 0x62), { 'content-type': 'text/plain' });
    const response = await http.raw('GET', `/api/uploads/${body.file_id}`, undefined);
    await http.expect(200, 'DELETE', `/api/uploads/${body.file_id}`);
    expect((await response.arrayBuffer()).byteLength).to.equal(9_000_000);
  });

  it('that nobody sent is 404, and what is no id is 400', async () => {
    for (const method of ['GET', 'DELETE'] as const) {
      expect((await http.send(method, `/api/uploads/${NOBODY}`, undefined)).body.code).to.equal('upload_not_found');
      expect((await http.send(method, '/api/uploads/..%2f..%2fsvc.db', undefined)).body.code).to.equal('upload_invalid_id');
    }
    expect((await sendBody(http, NOBODY, 'x', { 'content-type': 'text/plain' })).status).to.equal(404);
    expect((await sendBody(http, 'no-id', 'x', { 'content-type': 'text/plain' })).status).to.equal(400);
  });

  it('whose bytes somebody took off the disk is not found, without a word about where they were', async () => {
    const { body } = await sendBody(http, agent, 'will be lost', { 'content-type': 'text/plain' });
    const [path] = await filesOf('will be lost');
    await rm(join(kernel.home, 'data/uploads', path ?? ''));
    const { status, bytes } = await bytesOf(body.file_id);
    expect([status, bytes.toString().includes('bytes"')]).to.deep.equal([404, false]);
  });

  const filesOf = async (text: string): Promise<string[]> => {
    const { readFile } = await import('node:fs/promises');
    const found = [];
    for (const path of await stored()) if ((await readFile(join(kernel.home, 'data/uploads', path))).toString() === text) found.push(path);
    return found;
  };
});

describe('uploads of several people', () => {
  afterEach(stopTestKernels);

  const boot = async (more = '') => {
    const kernel = await bootTestKernel({
      config: `api_key = "${KEYS.owner}"\n${more}${OPEN_RATE}${person('alice', 'user')}${person('bob', 'user')}${person('carol', 'viewer')}`,
    });
    const as = (name: keyof typeof KEYS): TestHttp => kernel.as(KEYS[name]);
    const auth = (name: keyof typeof KEYS) => ({ authorization: `Bearer ${KEYS[name]}` });
    const agent = (await as('alice').expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "alices"\n' })).body.agent_id;
    return { kernel, as, auth, agent };
  };

  it('U4 are seen by whose they are and by admins, and found by nobody else', async () => {
    const { kernel, as, auth, agent } = await boot();
    const sent = await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png', name: 'a.png' }, auth('alice'));
    expect(sent.status).to.equal(200);
    const path = `/api/uploads/${sent.body.file_id}`;
    for (const name of ['alice', 'owner'] as const) {
      expect((await as(name).get(path)).status, name).to.equal(200);
      expect((await as(name).expect(200, 'GET', '/api/uploads')).body.rows.map((row: { file_id: string }) => row.file_id)).to.deep.equal([sent.body.file_id]);
    }
    for (const name of ['bob', 'carol'] as const) {
      expect((await as(name).get(path)).status, name).to.equal(404);
      expect((await as(name).expect(200, 'GET', '/api/uploads')).body.rows).to.deep.equal([]);
    }
    expect((await as('bob').delete(path)).status).to.equal(404);
    expect((await as('carol').delete(path)).status).to.equal(403);
    expect((await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png' }, auth('bob'))).status).to.equal(404);
    expect((await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png' }, auth('carol'))).status).to.equal(403);
    expect((await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png' })).status).to.equal(401);
    // What an admin sends to her agent is hers.
    const given = await sendForm(kernel.http, agent, { bytes: GIF, type: 'image/gif' }, auth('owner'));
    expect((await as('alice').get(`/api/uploads/${given.body.file_id}`)).status).to.equal(200);
    expect((await as('alice').expect(200, 'GET', `/api/uploads?agent_id=${agent}&limit=1`)).body.rows).to.have.length(1);
  });

  it('take no more room than an owner has, and say how to make some', async () => {
    const { kernel, as, auth, agent } = await boot('max_upload_size_bytes = 2000\n[uploads]\nmax_owner_bytes = 10000\n');
    const send = (text: string) => sendForm(kernel.http, agent, { bytes: Buffer.from(text), type: 'text/plain', name: 'a.txt' }, auth('alice'));
    expect((await send('x'.repeat(2_001))).body.code).to.equal('upload_too_large');
    const first = await send('x'.repeat(800));
    expect((await send('y'.repeat(900))).status).to.equal(200);
    const refused = await send('z'.repeat(200));
    expect([refused.status, refused.body.code]).to.deep.equal([413, 'upload_quota_exceeded']);
    expect(refused.body.hint).to.contain('/api/uploads').and.contain('max_owner_bytes');
    await as('alice').expect(200, 'DELETE', `/api/uploads/${first.body.file_id}`);
    expect((await send('z'.repeat(200))).status).to.equal(200);
  });

  it('go with their owner, and the copies in workspaces too', async () => {
    const { kernel, as, auth, agent } = await boot();
    const sent = await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png', name: 'a.png' }, auth('alice'));
    await as('alice').expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'look', attachments: [{ file_id: sent.body.file_id }] });
    await as('alice').expect(200, 'PUT', `/api/agents/${agent}/files/own.txt`, { content: 'mine' });
    expect(await filesBelow(kernel, `workspaces/${agent}/uploads`)).to.have.length(1);
    const ownerId =
      (
        await kernel.daemon.parts.storage
          .dbFor({ id: 'files', tables: ['uploads'] })
          .system('a test')
          .select<{ owner_id: string }>({ from: 'uploads', limit: 1 })
      )[0]?.owner_id ?? '';
    expect((await kernel.daemon.parts.purges.purge({ ownerId })).complete).to.equal(true);
    expect((await as('owner').get(`/api/uploads/${sent.body.file_id}`)).status).to.equal(404);
    expect([await filesBelow(kernel, 'data/uploads'), await filesBelow(kernel, `workspaces/${agent}`)]).to.deep.equal([[], ['own.txt']]);
  });

  it('go with their agent, bytes and all, but for what another has too', async () => {
    const { kernel, as, auth, agent } = await boot();
    const other = (await as('alice').expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    const gone = await sendForm(kernel.http, agent, { bytes: Buffer.from('only there'), type: 'text/plain', name: 'a.txt' }, auth('alice'));
    await sendForm(kernel.http, agent, { bytes: PNG, type: 'image/png' }, auth('alice'));
    const kept = await sendForm(kernel.http, other, { bytes: PNG, type: 'image/png' }, auth('alice'));
    expect(await filesBelow(kernel, 'data/uploads')).to.have.length(2);

    await as('alice').expect(200, 'DELETE', `/api/agents/${agent}?erase=true`);
    expect((await as('alice').get(`/api/uploads/${gone.body.file_id}`)).status).to.equal(404);
    expect(await filesBelow(kernel, 'data/uploads')).to.have.length(1);
    expect((await as('alice').get(`/api/uploads/${kept.body.file_id}`)).status).to.equal(200);
  });
});
