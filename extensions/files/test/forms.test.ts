/** Forms made by hand, right and wrong: one file comes of them, or a refusal that says why, and nothing is left behind. */
import { type TestHttp, type TestKernel, bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { PNG, filesBelow, sendForm, sendRawForm } from './files-kit.js';

const part = (head: string, body: string | Buffer): string => `--XX\r\n${head}\r\n\r\n${typeof body === 'string' ? body : body.toString('latin1')}\r\n`;
const file = (body: string | Buffer, name = 'a.txt', type = 'text/plain', field = 'file'): string =>
  part(`content-disposition: form-data; name="${field}"; filename="${name}"\r\ncontent-type: ${type}`, body);
const field = (name: string, value = 'x'): string => part(`content-disposition: form-data; name="${name}"`, value);
const END = '--XX--\r\n';

describe('a form with a file', () => {
  let kernel: TestKernel;
  let http: TestHttp;
  let agent: string;
  before(async () => {
    kernel = await bootTestKernel();
    ({ http } = kernel);
    agent = (await http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
  });
  after(stopTestKernels);

  const left = (): Promise<string[]> => filesBelow(kernel, 'data/uploads');
  const send = (body: string, type?: string) => sendRawForm(http, agent, body, type);

  it('M1 may hold other fields, a preamble and an epilogue', async () => {
    for (const body of [
      field('comment') + file('x1') + END,
      file('x2') + field('comment') + END,
      `to be ignored\r\n${file('x3')}${END}so is this`,
      file('x4') + END.trimEnd(),
      file(`x5 --XX within \r\n--X`) + END,
    ]) {
      const answer = await send(body);
      expect([answer.status, answer.body.filename], answer.text).to.deep.equal([200, 'a.txt']);
    }
    const quoted = await send(file('x6') + END, 'Multipart/Form-Data; charset=utf-8; boundary="XX"');
    expect(quoted.status).to.equal(200);
    expect((await send(file(PNG, 'a.png', 'image/png') + END)).body.content_type).to.equal('image/png');
  });

  it('gives the name as it was meant: in UTF-8, in the extended form, and without folders', async () => {
    const named = async (name: string): Promise<string> => (await send(file('name', Buffer.from(name).toString('latin1')) + END)).body.filename;
    expect(await named('grüße.txt')).to.equal('grüße.txt');
    expect(await named('../../up.txt')).to.equal('up.txt');
    expect(await named('C:\\\\dir\\\\win.txt')).to.equal('win.txt');
    expect(await named('a%22b%0D%0Ac.txt')).to.equal('a_bc.txt');
    expect(await named('bell\u0007 and \u0001.txt')).to.equal('bell and .txt');
    const extended = part(`content-disposition: form-data; name="file"; filename*=UTF-8''na%C3%AFve.txt\r\ncontent-type: text/plain`, 'name');
    expect((await send(extended + END)).body.filename).to.equal('naïve.txt');
  });

  for (const [what, body, code] of [
    ['no part at all', END, 'upload_no_file'],
    ['nothing', '', 'upload_'],
    ['fields only', field('comment') + END, 'upload_no_file'],
    ['text in the field file', field('file', 'just words') + END, 'upload_no_file'],
    ['a file in another field', file('x', 'a.txt', 'text/plain', 'picture') + END, 'upload_no_file'],
    ['two files', file('one') + file('two') + END, 'upload_one_file'],
    ['two files, one in another field', file('one') + file('two', 'b.txt', 'text/plain', 'other') + END, 'upload_one_file'],
    ['a thousand fields', Array.from({ length: 1_000 }, (_, index) => field(`f${index}`)).join('') + file('x') + END, 'upload_form_invalid'],
    ['a thousand fields behind its file', file('x') + Array.from({ length: 1_000 }, (_, index) => field(`f${index}`)).join('') + END, 'upload_form_invalid'],
    ['a field of 100 kB', field('big', 'x'.repeat(100_000)) + file('x') + END, 'upload_form_invalid'],
    ['a file without an end', file('x'), 'upload_form_invalid'],
    ['a file cut in its middle', file('x'.repeat(100_000)).slice(0, 50_000), 'upload_form_invalid'],
    ['a file cut in its head', '--XX\r\ncontent-disposition: form-data; name="fi', 'upload_'],
    ['another boundary than it says', (file('x') + END).replaceAll('--XX', '--YY'), 'upload_'],
    ['a name behind 200 kB of other headers', part(`x-long: ${'x'.repeat(200_000)}\r\ncontent-disposition: form-data; name="file"; filename="a.txt"`, 'x') + END, 'upload_no_file'],
    ['no bytes in its file', file('') + END, 'upload_empty'],
    ['a file that lies about its type', file('words', 'a.png', 'image/png') + END, 'upload_type_mismatch'],
    ['a file that is not taken', file('<p>', 'a.html', 'text/html') + END, 'upload_type_unsupported'],
  ] as const)
    it(`M1 M2 with ${what} is refused, and leaves nothing`, async () => {
      const before = await left();
      const answer = await send(body);
      expect([answer.status, answer.body.code.startsWith(code)], answer.text).to.deep.equal([400, true]);
      expect(await left()).to.deep.equal(before);
    });

  it('without a boundary is refused', async () => {
    for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary'])
      expect((await send(file('x') + END, type)).body.code, type).to.equal('upload_form_invalid');
  });

  it('of another multipart kind is no form, and no type that is taken', async () => {
    expect((await send(file('x') + END, 'multipart/mixed; boundary=XX')).body.code).to.equal('upload_type_unsupported');
  });

  it('that was refused does not keep the next from being taken on the same connection', async () => {
    for (let round = 0; round < 5; round++) {
      expect((await send(file('one') + file('two') + END)).status).to.equal(400);
      expect((await sendForm(http, agent, { bytes: PNG, type: 'image/png', name: 'a.png' })).status).to.equal(200);
    }
  });
});
