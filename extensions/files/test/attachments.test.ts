/** Files put with a message: what of them reaches the model, on the wires that models speak, and what stays in the conversation. */
import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type TestHttp, OPEN_RATE, bootTestKernel } from '@svc/testing';
import { expect } from 'chai';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { openChat } from '@svc/test/clients/chat-socket';
import { type ModelKernel, useModelKernel } from '@svc/test/clients/model-kernel';
import { GIF, PNG, filesBelow, pdfOf, sendForm } from './files-kit.js';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const PNG_URL = `data:image/png;base64,${PNG.toString('base64')}`;

interface WirePart {
  readonly type: string;
  readonly text?: string;
  readonly image_url?: { readonly url: string };
}

const upload = async (http: TestHttp, agentId: string, bytes: Uint8Array | string, type: string, name: string): Promise<string> => {
  const answer = await sendForm(http, agentId, { bytes: typeof bytes === 'string' ? Buffer.from(bytes) : bytes, type, name });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.file_id;
};

describe('an attachment', () => {
  const bootWithModel = useModelKernel();

  const say = (one: ModelKernel, body: object, headers: Record<string, string> = {}) => one.http.post(`/api/agents/${one.agent.id}/message`, body, headers);
  const send = (one: ModelKernel, bytes: Uint8Array | string, type: string, name: string) => upload(one.http, one.agent.id, bytes, type, name);
  /** What the model was given as the newest message of a person. */
  const lastAsked = (one: ModelKernel): WirePart[] => one.model.requests.at(-1)?.body.messages.findLast((message: { role: string }) => message.role === 'user').content;
  const textOf = (parts: readonly WirePart[]): string => parts.map(({ text }) => text ?? '').join('\n');
  const history = async (one: ModelKernel) => (await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}/session`)).body.messages;

  it('T1 that is a picture is seen by the model, now and in the messages after it', async () => {
    const one = await bootWithModel(() => ({ text: 'a dot' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    expect((await say(one, { message: 'what is it?', attachments: [{ file_id: id }] })).body.response).to.equal('a dot');
    const path = `uploads/${id.slice(-12)}-dot.png`;
    expect(lastAsked(one)).to.deep.equal([
      { type: 'text', text: 'what is it?' },
      { type: 'image_url', image_url: { url: PNG_URL } },
      { type: 'text', text: `[Attached image: dot.png (${PNG.length} bytes)]\n[in your workspace: ${path}]` },
    ]);
    await say(one, { message: 'and its colour?' });
    expect(one.model.requests.at(-1)?.body.messages[0].role).to.equal('system');
    expect(JSON.stringify(one.model.requests.at(-1)?.body)).to.contain(PNG_URL);
    expect((await readFile(join(one.kernel.home, 'workspaces', one.agent.id, path))).equals(PNG)).to.equal(true);
  });

  it('T2 that is UTF-16 is read as the text that it is, also by the tools of the agent', async () => {
    let id = '';
    const one = await bootWithModel(({ body }) =>
      body.messages.at(-1).role === 'tool' ? { text: 'done' } : { toolCalls: [{ name: 'file_read', args: { path: `uploads/${id.slice(-12)}-keywords.csv` } }] },
    );
    id = await send(one, Buffer.from('\uFEFFwort;klicks\nGrüße;12\n', 'utf16le'), 'text/csv', 'keywords.csv');
    await say(one, { message: 'read it', attachments: [{ file_id: id }] });
    expect(textOf(lastAsked(one))).to.contain('wort;klicks\nGrüße;12');
    expect(one.model.requests.at(-1)?.body.messages.at(-1).content).to.contain('wort;klicks\nGrüße;12');
  });

  it('is seen and read on the wire of Anthropic too', async () => {
    const claude = await startAnthropicServer({ text: 'seen' });
    const kernel = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-6"\n[provider_urls]\nanthropic = "${claude.url}"\n`,
      env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    });
    try {
      const agent = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
      const picture = await upload(kernel.http, agent, PNG, 'image/png', 'dot.png');
      const notes = await upload(kernel.http, agent, 'the key is under the blue pot', 'text/markdown', 'notes.md');
      const paper = await upload(kernel.http, agent, pdfOf('the blue pot is broken'), 'application/pdf', 'paper.pdf');
      await kernel.http.expect(200, 'POST', `/api/agents/${agent}/message`, { message: 'look', attachments: [picture, notes, paper].map((file_id) => ({ file_id })) });
      const { content } = claude.requests.at(-1)?.body.messages.at(-1) ?? {};
      expect(content[1]).to.deep.equal({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG.toString('base64') } });
      expect(textOf(content)).to.contain('the key is under the blue pot').and.contain('the blue pot is broken');
    } finally {
      await claude.close();
    }
  });

  it('T2 that is text or a PDF is read by the model, under a head that names it and where it lies', async () => {
    const one = await bootWithModel(() => ({ text: 'read' }));
    const notes = await send(one, 'line one\nline zwei: ü\n', 'text/markdown', 'notes.md');
    const paper = await send(one, pdfOf('first page', 'second page'), 'application/pdf', 'paper.pdf');
    const sound = await send(one, Buffer.from('OggS\0\x02\0\0\0\0\0\0\0\0\0\0\0', 'latin1'), 'audio/ogg', 'hum.ogg');
    await say(one, { message: 'sum up', attachments: [{ file_id: notes, filename: 'my notes.md' }, { file_id: paper, content_type: 'image/png' }, { file_id: sound }] });
    const [said, text, pdf, audio] = lastAsked(one);
    expect(said?.text).to.equal('sum up');
    expect(text?.text).to.equal(`[Attached file: my notes.md (23 bytes)]\n[in your workspace: uploads/${notes.slice(-12)}-my notes.md]\nline one\nline zwei: ü\n`);
    expect(pdf?.text).to.equal(`[Attached PDF: paper.pdf (${pdfOf('first page', 'second page').length} bytes)]\n[in your workspace: uploads/${paper.slice(-12)}-paper.pdf]\nfirst page\n\nsecond page`);
    expect(audio?.text).to.match(/^\[Attached file: hum\.ogg \(audio\/ogg, 17 bytes\); its content is not shown here\]/);
  });

  it('T3 is a file of its own beside another of the same name and size that came a moment before', async () => {
    const one = await bootWithModel(() => ({ text: 'read' }));
    const ids = [await send(one, 'rm notes', 'text/plain', 'run.txt'), await send(one, 'ls notes', 'text/plain', 'run.txt')];
    for (const id of ids) await say(one, { message: 'look', attachments: [{ file_id: id }] });
    const folder = join(one.kernel.home, 'workspaces', one.agent.id, 'uploads');
    const copies = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
    expect(copies.sort()).to.deep.equal(['ls notes', 'rm notes']);
  });

  it('T3 lies where the tools of the agent find it', async () => {
    const one = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { recursive: true } }] }, { text: 'there' }]);
    const id = await send(one, 'words', 'text/plain', 'a.txt');
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    expect(JSON.stringify(one.model.requests.at(-1)?.body.messages.at(-1))).to.contain(`uploads/${id.slice(-12)}-a.txt (5 bytes)`);
    // What the agent does to its copy changes nothing of the upload.
    const copy = join(one.kernel.home, 'workspaces', one.agent.id, 'uploads', `${id.slice(-12)}-a.txt`);
    await writeFile(copy, 'other words');
    expect((await one.http.get(`/api/uploads/${id}`)).text).to.equal('words');
    await say(one, { message: 'again', attachments: [{ file_id: id }] });
    expect(await readdir(join(one.kernel.home, 'workspaces', one.agent.id, 'uploads'))).to.deep.equal([`${id.slice(-12)}-a.txt`]);
    expect(await readFile(copy, 'utf8')).to.equal('words');
  });

  it('that the workspace cannot take is read all the same', async () => {
    const one = await bootWithModel(() => ({ text: 'read' }));
    const outside = join(one.kernel.home, 'outside');
    await mkdir(outside);
    await mkdir(join(one.kernel.home, 'workspaces', one.agent.id), { recursive: true });
    await symlink(outside, join(one.kernel.home, 'workspaces', one.agent.id, 'uploads'));
    const id = await send(one, 'words', 'text/plain', 'a.txt');
    expect((await say(one, { message: 'look', attachments: [{ file_id: id }] })).status).to.equal(200);
    expect(textOf(lastAsked(one)))
      .to.contain('words')
      .and.contain('could not be copied');
    expect(await readdir(outside)).to.deep.equal([]);
  });

  it('needs no words beside it, on every channel', async () => {
    const one = await bootWithModel(() => ({ text: 'seen' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    expect((await say(one, { message: '', attachments: [{ file_id: id }] })).body.response).to.equal('seen');
    const events = await one.http.events('POST', `/api/agents/${one.agent.id}/message/stream`, { message: 'look', attachments: [{ file_id: id }] });
    expect(events.at(-1)?.event).to.equal('done');
    const chat = await openChat(one.kernel.url, one.agent.id);
    chat.send({ type: 'message', attachments: [{ file_id: id }] });
    expect((await chat.next('response')).content).to.equal('seen');
    chat.socket.close();
    expect(JSON.stringify(one.model.requests.at(-1)?.body).split(PNG_URL)).to.have.length(4);
    expect((await say(one, { message: '', attachments: [] })).body.code).to.equal('run_empty_message');
  });

  it('stands in the history by its id and name, and its content in neither the history nor the log of the conversation', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const ids = [await send(one, PNG, 'image/png', 'dot.png'), await send(one, 'the secret word', 'text/csv', 'table.csv')];
    await say(one, { message: 'look', attachments: ids.map((file_id) => ({ file_id })) });
    const [said] = await history(one);
    expect(said).to.deep.include({
      role: 'User',
      content: 'look',
      images: [{ media_type: 'image/png', file_id: ids[0], filename: 'dot.png' }],
      attachments: [{ file_id: ids[1], filename: 'table.csv', content_type: 'text/csv', size: 15 }],
    });
    const inline = { media_type: 'image/gif', data: GIF.toString('base64') };
    await say(one, { message: 'and this', images: [inline] });
    expect((await history(one))[2].images).to.deep.equal([inline]);
    const sessions = one.kernel.daemon.parts.storage.dbFor({ id: 'sessions', tables: ['sessions', 'entries'] });
    const rows = await sessions.system('a test').select<{ body: string }>({ from: 'entries', limit: 100 });
    expect(JSON.stringify(rows)).to.not.contain(PNG.toString('base64'));
  });

  it('of somebody else, deleted or made up is refused by name, and nothing is begun', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const [kept, gone] = [await send(one, 'kept', 'text/plain', 'a.txt'), await send(one, 'gone', 'text/plain', 'b.txt')];
    await one.http.expect(200, 'DELETE', `/api/uploads/${gone}`);
    for (const id of [gone, NOBODY, 'no-id', '../../svc.db']) {
      const answer = await say(one, { message: 'look', attachments: [{ file_id: kept }, { file_id: id }] });
      expect([answer.status, answer.body.code], id).to.deep.equal([404, 'upload_not_found']);
      expect(answer.body.error).to.contain(id);
    }
    expect(one.model.requests).to.deep.equal([]);
    expect(await filesBelow(one.kernel, `workspaces/${one.agent.id}`)).to.deep.equal([]);
    for (const attachments of ['x', [{}], [{ file_id: '' }], [{ file_id: 7 }], Array.from({ length: 21 }, () => ({ file_id: kept }))])
      expect((await say(one, { message: 'look', attachments })).status).to.equal(400);
  });

  it('that was deleted since gives way to a note, and the conversation goes on', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    await one.http.expect(200, 'DELETE', `/api/uploads/${id}`);
    expect((await say(one, { message: 'again' })).status).to.equal(200);
    const sent = JSON.stringify(one.model.requests.at(-1)?.body);
    expect(sent).to.contain('There was a picture here').and.not.contain('image_url');
    expect((await history(one))[0].images).to.deep.equal([{ media_type: 'image/png', file_id: id, filename: 'dot.png' }]);
  });

  it('that is a picture is refused for a model that takes none, and noted when the conversation goes on with one', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }), { config: OPEN_RATE });
    const id = await send(one, PNG, 'image/png', 'dot.png');
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    await say(one, { message: '/model openai/gpt-5-nano' });
    for (const body of [
      { message: 'look', attachments: [{ file_id: id }] },
      { message: 'look', images: [{ media_type: 'image/png', data: PNG.toString('base64') }] },
    ])
      expect((await say(one, body)).body.code).to.equal('run_cannot_see');
    expect((await say(one, { message: 'go on' })).status).to.equal(200);
    expect(one.model.requests.at(-1)?.body.model).to.equal('gpt-5-nano');
    expect(JSON.stringify(one.model.requests.at(-1)?.body))
      .to.contain('There was a picture here')
      .and.not.contain('image_url');
  });

  it('is the same message again under the same key, also when it was deleted since; another one is a conflict', async () => {
    const one = await bootWithModel(() => ({ text: 'once' }));
    const [first, second] = [await send(one, 'one', 'text/plain', 'a.txt'), await send(one, 'two', 'text/plain', 'a.txt')];
    const headers = { 'idempotency-key': 'k1' };
    const run = (await say(one, { message: 'look', attachments: [{ file_id: first }] }, headers)).body.run_id;
    expect((await say(one, { message: 'look', attachments: [{ file_id: second }] }, headers)).status).to.equal(409);
    expect((await say(one, { message: 'look' }, headers)).status).to.equal(409);
    await one.http.expect(200, 'DELETE', `/api/uploads/${first}`);
    expect((await say(one, { message: 'look', attachments: [{ file_id: first }] }, headers)).body.run_id).to.equal(run);
    expect(one.model.requests).to.have.length(1);
  });

  it('beside the conversation leaves nothing: no copy, and no word in the conversation', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    for (const how of [{ ephemeral: true }, { incognito: true }]) {
      await say(one, { message: 'look', attachments: [{ file_id: id }], ...how });
      expect(JSON.stringify(lastAsked(one)))
        .to.contain(PNG_URL)
        .and.not.contain('workspace');
    }
    expect(await filesBelow(one.kernel, `workspaces/${one.agent.id}`)).to.deep.equal([]);
    expect(await history(one)).to.deep.equal([]);
  });

  it('T2 of many letters is cut, and says so', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const long = await send(one, 'ü'.repeat(200_001), 'text/plain', 'long.txt');
    const fits = await send(one, 'y'.repeat(200_000), 'text/plain', 'fits.txt');
    await say(one, { message: 'read', attachments: [{ file_id: fits }] });
    expect(textOf(lastAsked(one)))
      .to.contain('y'.repeat(200_000))
      .and.not.contain('[cut:');
    await say(one, { message: 'read', attachments: [{ file_id: long }], ephemeral: true });
    expect(lastAsked(one)[1]?.text).to.match(/\]\nü{200000}\n\[cut: the first 200,000 characters are shown, of 400,002 bytes\]$/);
    await say(one, { message: 'read', attachments: [long, fits, long].map((file_id) => ({ file_id })), ephemeral: true });
    expect(textOf(lastAsked(one)).length).to.be.within(400_000, 401_000);
  });

  it('that is no good PDF, or one that cannot be read, hurts nobody and says why', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const note = async (bytes: Buffer): Promise<string> => {
      const id = await send(one, bytes, 'application/pdf', 'x.pdf');
      expect((await say(one, { message: 'read', attachments: [{ file_id: id }], ephemeral: true })).status).to.equal(200);
      return lastAsked(one)[1]?.text ?? '';
    };
    const good = pdfOf('some words', 'more');
    expect(await note(Buffer.from('%PDF-1.7\nnothing that a PDF has'))).to.contain('it is damaged, or no PDF');
    expect(await note(Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(100_000, 0xff)]))).to.contain('it is damaged, or no PDF');
    expect(await note(pdfOf(''))).to.contain('none of its 1 pages has any; it may be scanned');
    // Without its end the pages are found one by one.
    expect(await note(good.subarray(0, good.lastIndexOf('xref\n')))).to.contain('some words');
    // A page tree that goes in a circle.
    const circle = Buffer.from(pdfOf('x').toString('latin1').replace('/Kids [4 0 R]', '/Kids [2 0 R]'), 'latin1');
    expect(await note(circle)).to.match(/\[its text is not here|\[page 1 cannot be read\]/);
    expect(await note(good)).to.contain('some words\n\nmore');
  });

  it('P1 of many pictures shows the newest that a request can carry, and notes the others', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const picture = (fill: number): Buffer => Buffer.concat([PNG, Buffer.alloc(9_000_000, fill)]);
    const ids = [await send(one, picture(1), 'image/png', 'first.png'), await send(one, picture(2), 'image/png', 'second.png')];
    for (const id of ids) expect((await say(one, { message: 'look', attachments: [{ file_id: id }] })).status).to.equal(200);
    const messages: Array<{ content: WirePart[] }> = one.model.requests.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'user');
    expect(messages.map(({ content }) => content[1]?.type)).to.deep.equal(['text', 'image_url']);
    expect(messages[1]?.content[1]?.image_url?.url).to.contain(picture(2).subarray(-30).toString('base64').slice(0, 20));
  }).timeout(20_000);

  it('P2 is read once for all steps of a run', async () => {
    const one = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'done' }]);
    const id = await send(one, PNG, 'image/png', 'dot.png');
    const gone: Promise<unknown>[] = [];
    const before = one.model.requests.length;
    one.model.script((request) => {
      if (request.index === before) gone.push(one.http.delete(`/api/uploads/${id}`));
      return request.index < before + 2 ? { toolCalls: [{ name: 'system_time', args: {} }], delayMs: 100 } : { text: 'done' };
    });
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    await Promise.all(gone);
    for (const { body } of one.model.requests) expect(JSON.stringify(body)).to.contain(PNG_URL);
  });

  it('goes from the workspace with its agent, while what the agent made stays', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    await one.http.expect(200, 'PUT', `/api/agents/${one.agent.id}/files/uploads/own.txt`, { content: 'mine' });
    await one.http.expect(200, 'DELETE', `/api/agents/${one.agent.id}?erase=true`);
    expect(await filesBelow(one.kernel, `workspaces/${one.agent.id}`)).to.deep.equal(['uploads/own.txt']);
    expect(await filesBelow(one.kernel, 'data/uploads')).to.deep.equal([]);
  });

  it('keeps no agent from being erased by what stands in the place of its folder, or of itself', async () => {
    for (const [name, leadsTo] of [
      ['uploads', '/tmp'],
      ['uploads', 'uploads'],
      ['uploads/0123456789ab-x', '/etc/passwd'],
    ] as const) {
      const one = await bootWithModel(() => ({ text: 'ok' }));
      const id = await send(one, PNG, 'image/png', 'dot.png');
      const folder = join(one.kernel.home, 'workspaces', one.agent.id);
      await mkdir(join(folder, dirname(name)), { recursive: true });
      await symlink(leadsTo, join(folder, name));
      expect((await say(one, { message: 'look', attachments: [{ file_id: id }] })).status, leadsTo).to.equal(200);
      await one.http.expect(200, 'DELETE', `/api/agents/${one.agent.id}?erase=true`);
      expect(await filesBelow(one.kernel, 'data/uploads')).to.deep.equal([]);
    }
  });

  it('is refused by name where nothing keeps uploads, and taken again once something does', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const id = await send(one, PNG, 'image/png', 'dot.png');
    await say(one, { message: 'look', attachments: [{ file_id: id }] });
    await one.kernel.daemon.kernel.disable('files');
    expect((await say(one, { message: 'look', attachments: [{ file_id: id }] })).body.code).to.equal('run_attachments_unsupported');
    expect((await say(one, { message: 'go on' })).status).to.equal(200);
    expect(JSON.stringify(one.model.requests.at(-1)?.body)).to.contain('There was a picture here');
    await one.kernel.daemon.kernel.enable('files');
    await say(one, { message: 'and now' });
    expect(JSON.stringify(one.model.requests.at(-1)?.body)).to.contain(PNG_URL);
  });
});
