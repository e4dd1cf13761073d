/** What a message may say besides its text: a side question, incognito, thoughts, attachments; and which session it means. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import sqlite3 from 'sqlite3';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { bootTestKernel, OPEN_RATE } from '@svc/testing';
import { openChat } from './chat-socket.js';
import { type ModelKernel, until, useModelKernel } from './model-kernel.js';

interface Wire {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  readonly tools?: unknown;
  readonly reasoning_effort?: string;
  readonly thinking?: { readonly type: string; readonly budget_tokens: number };
  readonly temperature?: number;
  readonly max_tokens?: number;
  readonly max_completion_tokens?: number;
}

const NOBODY = '00000000-0000-4000-8000-000000000000';
const asked = (one: ModelKernel): Wire => one.model.requests.at(-1)?.body as unknown as Wire;
const say = (one: ModelKernel, body: object) => one.http.post(`/api/agents/${one.agent.id}/message`, body);
const history = async (one: ModelKernel): Promise<string> => (await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}/session`)).text;

/** All that stands in the tables of a daemon that has stopped. */
const rowsOf = async (home: string): Promise<string> => {
  const db = await new Promise<sqlite3.Database>((resolve, reject) => {
    const opened: sqlite3.Database = new sqlite3.Database(join(home, 'data', 'svc.db'), sqlite3.OPEN_READONLY, (error) => (error ? reject(error) : resolve(opened)));
  });
  const all = <T>(sql: string): Promise<T[]> => new Promise((resolve, reject) => db.all<T>(sql, (error, rows) => (error ? reject(error) : resolve(rows))));
  const tables = await all<{ name: string }>("SELECT name FROM sqlite_master WHERE type = 'table'");
  const rows = await Promise.all(tables.map(({ name }) => all(`SELECT * FROM "${name}"`)));
  await new Promise<void>((resolve) => db.close(() => resolve()));
  return JSON.stringify(rows);
};

describe('a message beside the conversation', () => {
  const bootWithModel = useModelKernel();

  for (const [how, body] of [
    ['ephemeral', { message: 'what is a quokka?', ephemeral: true }],
    ['/btw', { message: '/btw what is a quokka?' }],
  ] as const) {
    it(`B2 reads nothing, adds nothing and has no tools: ${how}`, async () => {
      const one = await bootWithModel(() => ({ text: 'an animal' }));
      await say(one, { message: 'my name is Ada' });

      const { status, body: answer } = await say(one, body);

      expect([status, answer.response, answer.session_id]).to.deep.equal([200, 'an animal', one.agent.session_id]);
      const last = asked(one).messages.filter(({ role }) => role !== 'system');
      expect(last).to.deep.equal([{ role: 'user', content: 'what is a quokka?' }]);
      expect(asked(one).tools).to.equal(undefined);
      expect(await history(one))
        .to.contain('Ada')
        .and.not.to.contain('quokka');
    });
  }

  it('B2 refuses a tool that the model names all the same', async () => {
    const one = await bootWithModel([{ toolCalls: [{ name: 'file_write', args: { path: 'x.txt', content: 'x' } }] }, { text: 'well' }]);

    expect((await say(one, { message: '/btw write it' })).body.response).to.equal('well');

    expect(JSON.stringify(asked(one).messages)).to.contain('A side question uses no tools.');
    expect((await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}/files`)).text).not.to.contain('x.txt');
  });

  it('B3 reads the conversation, uses tools, and adds no word to it: incognito', async () => {
    const one = await bootWithModel([{ text: 'hello Ada' }, { toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'the secret answer' }]);
    await say(one, { message: 'my name is Ada' });

    const { body } = await say(one, { message: 'the secret question', incognito: true });

    expect([body.response, body.session_id]).to.deep.equal(['the secret answer', one.agent.session_id]);
    expect(JSON.stringify(asked(one).messages))
      .to.contain('Ada')
      .and.to.contain('the secret question');
    expect(await history(one))
      .to.contain('Ada')
      .and.not.to.contain('secret');
  });

  it('B3 leaves no word in any row, however it ends', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-incognito-'));
    try {
      const one = await bootWithModel([{ text: 'plain answer' }, { toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'a secret answer' }, { status: 400, message: 'no' }], { home });
      await say(one, { message: 'plain question' });
      await say(one, { message: 'a secret question', incognito: true });
      await say(one, { message: 'another secret question', incognito: true });
      await one.kernel.stop();

      expect(await rowsOf(home))
        .to.contain('plain question')
        .and.to.contain('plain answer')
        .and.not.to.contain('secret');
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('B3 also when it fails, and on the socket', async () => {
    const one = await bootWithModel([{ status: 400, message: 'no' }]);
    expect((await say(one, { message: 'the secret question', incognito: true })).status).to.equal(500);
    one.model.script({ text: 'the secret answer' });
    const chat = await openChat(one.kernel.url, one.agent.id);
    chat.send({ type: 'message', content: 'the secret question', incognito: true });
    expect((await chat.next('response')).content).to.equal('the secret answer');
    chat.send({ type: 'message', content: 'kept?', incognito: 'yes' });
    expect((await chat.next('error')).content).to.contain('incognito');
    chat.socket.close();
    expect(await history(one)).not.to.contain('secret');
  });

  it('B1 runs while the conversation is busy', async () => {
    let free: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      free = resolve;
    });
    const one = await bootWithModel(async (request) => {
      if (JSON.stringify(request.body).includes('long work')) await busy;
      return { text: 'done' };
    });
    const long = say(one, { message: 'long work' });
    await until(() => one.model.requests.length === 1);

    expect((await say(one, { message: '/btw quick?' })).body.response).to.equal('done');
    free();
    expect((await long).body.response).to.equal('done');
  });
});

describe('the session a message names', () => {
  const bootWithModel = useModelKernel();

  it('S7 is there, on every channel that names one: an unknown one begins nothing', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    for (const path of ['message', 'message/stream']) {
      const refused = await one.http.expect(404, 'POST', `/api/agents/${one.agent.id}/${path}`, { message: 'hello', session_id: NOBODY });
      expect(refused.body.code).to.equal('sessions_session_not_found');
    }
    await one.http.expect(404, 'GET', `/api/agents/${one.agent.id}/session?session_id=${NOBODY}`);
    await one.http.expect(404, 'GET', `/api/agents/${one.agent.id}/sessions/${NOBODY}/stream`);
    expect(await openChat(one.kernel.url, one.agent.id, { query: `?session_id=${NOBODY}` }).catch((error: Error) => error.message)).to.contain('404');
    const chat = await openChat(one.kernel.url, one.agent.id);
    chat.send({ type: 'message', content: 'hello', session_id: NOBODY });
    expect(await chat.next('error')).to.include({ reason: 'sessions_session_not_found' });
    chat.socket.close();
    expect(one.model.requests).to.have.length(0);
    await one.http.expect(200, 'POST', `/api/agents/${one.agent.id}/message`, { message: 'hello', session_id: one.agent.session_id });
  });

  it('is begun by POST sessions, once for one id, and not with the id of another agent', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    const sessions = `/api/agents/${one.agent.id}/sessions`;
    const made = (await one.http.expect(200, 'POST', sessions, { label: 'second talk' })).body;
    expect(made.label).to.equal('second talk');
    expect((await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}`)).body.session_id).to.equal(made.session_id);
    const named = { session_id: NOBODY, activate: false };
    expect((await one.http.expect(200, 'POST', sessions, named)).body.session_id).to.equal(NOBODY);
    await say(one, { message: 'kept', session_id: NOBODY });
    await one.http.expect(200, 'POST', sessions, named);
    expect((await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}/session?session_id=${NOBODY}`)).text).to.contain('kept');
    expect((await one.http.expect(200, 'GET', `/api/agents/${one.agent.id}`)).body.session_id).to.equal(made.session_id);

    const { agent_id: other } = (await one.http.expect(201, 'POST', '/api/agents', { name: 'other' })).body;
    await one.http.expect(409, 'POST', `/api/agents/${other}/sessions`, named);
    await one.http.expect(404, 'POST', `/api/agents/${other}/message`, { message: 'hello', session_id: NOBODY });
  });
});

describe('what a message asks for that is not there', () => {
  const bootWithModel = useModelKernel();

  it('is refused by name: attachments that nobody sent, and thoughts of a model that has none', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    expect((await say(one, { message: 'look', attachments: [{ file_id: NOBODY }] })).body.code).to.equal('upload_not_found');
    expect((await say(one, { message: 'look', attachments: [] })).status).to.equal(200);
    expect((await say(one, { message: 'look', thinking: true })).body.code).to.equal('run_cannot_think');
    const chat = await openChat(one.kernel.url, one.agent.id);
    chat.send({ type: 'message', content: 'look', attachments: [{ file_id: NOBODY }] });
    expect(await chat.next('error')).to.include({ code: 'upload_access_denied', reason: 'upload_not_found' });
    chat.send({ type: 'command', command: 'think', args: 'on' });
    expect(await chat.next('error')).to.include({ reason: 'command_cannot_think' });
    chat.socket.close();
    expect(one.model.requests).to.have.length(1);
  });
});

describe('/think', () => {
  const bootWithModel = useModelKernel();

  it('switches reasoning for its session, as a message can for itself', async () => {
    const one = await bootWithModel(() => ({ text: 'ok' }));
    await one.http.expect(200, 'POST', `/api/agents/${one.agent.id}/message`, { message: '/model openai/gpt-5-mini' });
    const effort = async (body: object): Promise<string | undefined> => {
      await one.http.expect(200, 'POST', `/api/agents/${one.agent.id}/message`, body);
      return asked(one).reasoning_effort;
    };

    expect(await effort({ message: 'one' })).to.equal(undefined);
    expect(await effort({ message: 'two', thinking: true })).to.equal('high');
    expect((await say(one, { message: '/think' })).body.response).to.contain('thinks before it answers');
    expect(await effort({ message: 'three' })).to.equal('high');
    expect(await effort({ message: 'four', thinking: false })).to.equal(undefined);
    await say(one, { message: '/new' });
    expect(await effort({ message: 'five' })).to.equal(undefined);
    await say(one, { message: '/think on' });
    await say(one, { message: '/think off' });
    expect(await effort({ message: 'six' })).to.equal(undefined);
    expect((await say(one, { message: '/think maybe' })).body.code).to.equal('command_bad_argument');
  });

  it('gives a Claude room to think, without a temperature, in a round of tools as well', async () => {
    const claude = await startAnthropicServer([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'noon' }]);
    const kernel = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-6"\n[provider_urls]\nanthropic = "${claude.url}"\n`,
      env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    });
    const { agent_id: id } = (await kernel.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'deep', thinking: { budget_tokens: 2_000 }, model: { max_tokens: 1_000 } } })).body;

    await kernel.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: 'what time is it?' });

    const [first, second] = claude.requests.map(({ body }) => body as unknown as Wire);
    expect(first).to.deep.include({ thinking: { type: 'adaptive' }, max_tokens: 3_000 });
    expect(first).not.to.have.property('temperature');
    expect(second).to.deep.include({ thinking: { type: 'adaptive' } });
    await kernel.stop();
    await claude.close();
  });
});

describe('/compact', () => {
  const bootWithModel = useModelKernel();

  it('summarises all but the newest messages now, and says when there is nothing to do', async () => {
    const one = await bootWithModel((request) => ({ text: JSON.stringify(request.body).includes('Summarise the conversation') ? 'They counted.' : 'ok' }));
    expect((await say(one, { message: '/compact' })).body.response).to.contain('never summarised');
    for (let i = 0; i < 15; i++) await say(one, { message: `number ${i}` });

    expect((await say(one, { message: '/compact' })).body.response).to.match(/^\d+ messages were summarised/);

    await say(one, { message: 'and now' });
    const sent = JSON.stringify(asked(one).messages);
    expect(sent).to.contain('They counted.').and.to.contain('number 14').and.not.to.contain('number 2"');
  });

  it('changes nothing and says why when no model can summarise', async () => {
    const kernel = await bootTestKernel();
    const id = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents[0].id;
    for (let i = 0; i < 15; i++) await kernel.http.expect(200, 'POST', `/api/agents/${id}/message`, { message: `number ${i}` });

    const refused = await kernel.http.post(`/api/agents/${id}/session/compact`);

    expect([refused.status, refused.body.code]).to.deep.equal([500, 'sessions_compaction_failed']);
    expect(refused.body.error).to.contain('mock provider cannot summarise');
    const { body } = await kernel.http.expect(200, 'GET', `/api/agents/${id}/session`);
    expect([body.compacted_summary, body.message_count]).to.deep.equal([null, 30]);
  });
});
