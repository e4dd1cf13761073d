/** A provider's key, set at run time or in the environment, is seen by that provider alone. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { openChat } from '../clients/chat-socket.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { call, walk } from '../conformance/route-walk.js';

const CANARY = 'sk-canary-5f2b91c07ad84e6699';
const ENV_CANARY = 'sk-from-the-environment-83c1f7';
const API_KEY = 'svc-own-key-4470aa';

/** As it stands, and as it would stand in encodings that a careless hand uses. */
const disguises = (secret: string): string[] => {
  const bytes = Buffer.from(secret);
  // Base64 of a text inside other text begins at any of three offsets; the middle is the same in each.
  const inner = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(4, -4),
  );
  return [secret, bytes.toString('hex'), encodeURIComponent(secret), ...inner, secret.slice(0, -4), secret.slice(4)];
};
const SEARCHED = [CANARY, ENV_CANARY].flatMap(disguises);

const expectSilent = (text: string, where: string): void => {
  for (const secret of SEARCHED) expect(text.includes(secret), `${where} holds a provider key`).to.equal(false);
};

const filesIn = async (dir: string): Promise<string[]> =>
  (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));

describe('a provider key', () => {
  afterEach(stopModelKernels);

  /** Speaks by every channel there is, and gives back all that was answered. */
  const useEverything = async (svc: ModelKernel): Promise<string> => {
    const message = `/api/agents/${svc.agent.id}/message`;
    const received: string[] = [];
    const keep = (answer: { text: string; headers: Headers }) => received.push(answer.text, JSON.stringify([...answer.headers]));
    keep(await svc.http.post(message, { message: 'what is the key?' }));
    received.push(JSON.stringify(await svc.http.events('POST', `${message}/stream`, { message: 'and streamed?' })));
    keep(await svc.http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content: 'and here?' }] }));
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    for (const text of ['/providers', '/models', '/usage', 'over the socket?']) {
      chat.send(text);
      await chat.next('response', 'error');
    }
    received.push(JSON.stringify(chat.frames));
    chat.socket.close();
    for (const one of walk(svc.kernel, { id: svc.agent.id, name: 'openai', session_id: svc.agent.session_id }).filter((each) => each.method === 'GET' && !each.isSocket))
      keep(await call(svc.kernel.http, one));
    return received.join('\n');
  };

  it('goes to its provider and nowhere else: no answer, log, prompt or file but the vault', async () => {
    const config = `[log]\nlevel = "debug"\n${OPEN_RATE}`;
    const svc = await bootWithModel({ text: 'I do not know any key.' }, { config, env: { OPENAI_API_KEY: ENV_CANARY } });
    const set = await svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: CANARY });
    expectSilent(set.text, 'the answer to setting it');
    expectSilent(await useEverything(svc), 'an answer');
    // The provider refuses it now, and quotes it.
    svc.model.script({ requireKey: 'sk-another' });
    expectSilent(await useEverything(svc), 'an answer about the refusal');
    // As a whole sentence around it, and as an HTML page of a proxy.
    svc.model.script({ status: 500, message: `upstream said: invalid key ${CANARY} for project`, headers: { 'x-debug': CANARY } });
    expectSilent(await useEverything(svc), 'an answer of a provider that talks too much');
    svc.model.script({ status: 502, body: `<html><body>Bad gateway. Authorization: Bearer ${CANARY}</body></html>` });
    expectSilent(await useEverything(svc), 'an answer of a proxy that talks too much');

    expect(svc.model.requests.length).to.be.above(8);
    for (const request of svc.model.requests) {
      expect(request.headers.authorization).to.equal(`Bearer ${CANARY}`);
      expectSilent(JSON.stringify({ ...request, headers: { ...request.headers, authorization: '' } }), 'a request to the model');
    }
    await svc.kernel.daemon.stop('to look at its files');
    const files = await filesIn(svc.kernel.home);
    expect(files.some((file) => file.endsWith('vault.enc'))).to.equal(true);
    expect(files.some((file) => file.endsWith('.log'))).to.equal(true);
    for (const file of files) expectSilent(await readFile(file, 'latin1'), file);
  });

  it('is not to be had by tools: not from the environment of a program, nor from files', async () => {
    const svc = await bootWithModel({ text: 'x' }, { env: { OPENAI_API_KEY: ENV_CANARY, SVC_API_KEY: '' } });
    await svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: CANARY });
    const manifest = 'name = "curious"\n[capabilities]\ntools = ["*"]\nshell = ["*"]\nfile_system = true\nnetwork = ["*"]\n';
    const { body } = await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: manifest });
    svc.model.script([
      {
        toolCalls: [
          { name: 'shell_exec', args: { command: 'env' } },
          { name: 'shell_exec', args: { command: 'cat /proc/self/environ' } },
          { name: 'file_read', args: { path: '../../data/vault.enc' } },
          { name: 'file_read', args: { path: '../../config.toml' } },
          { name: 'web_fetch', args: { url: `${svc.kernel.url}/api/providers` } },
        ],
      },
      { text: 'nothing' },
    ]);
    await svc.http.expect(200, 'POST', `/api/agents/${body.agent_id}/message`, { message: 'look around' });
    const reported = ((svc.model.requests.at(-1)?.body.messages ?? []) as Array<{ role: string; content: string }>).filter((entry) => entry.role === 'tool');
    expect(reported).to.have.length(5);
    expect(reported[0]?.content, 'the program ran').to.contain('PATH=');
    for (const result of reported) expectSilent(result.content, 'the result of a tool');
  });

  it("nor is the daemon's own key in any answer, log or file but config.toml; its last good copy has the hash, and is for the owner's eyes", async function () {
    // Every route is called once.
    this.timeout(180_000);
    const kernel = await bootTestKernel({ config: `api_key = "${API_KEY}"\n[log]\nlevel = "debug"\n${OPEN_RATE}` });
    const http = kernel.as(API_KEY);
    for (const one of walk(kernel).filter((each) => !each.isSocket)) {
      const answer = await call(http, one, { authorization: `Bearer ${API_KEY}` });
      expect(`${answer.text} ${JSON.stringify([...answer.headers])}`, one.template).to.not.contain(API_KEY);
    }
    await kernel.daemon.stop('to look at its files');
    const copy = join(kernel.home, 'data', 'config-last-good.json');
    expect((await stat(copy)).mode & 0o777).to.equal(0o600);
    for (const file of await filesIn(kernel.home)) if (!file.endsWith('config.toml')) expect((await readFile(file, 'latin1')).includes(API_KEY), file).to.equal(false);
  });
});
