/** A key that is taken away, or a role that becomes less, while its owner is connected. */
import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bootTestKernel, OPEN_RATE, type TestHttp, type TestKernel } from '@svc/testing';
import { expect } from 'chai';
import { type ProviderServer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { openChat } from '../clients/chat-socket.js';
import { MODEL_KEY, modelConfig, stopModelKernels, until } from '../clients/model-kernel.js';

const KEYS = { owner: 'root-key-0', alice: 'alice-key-1', bob: 'bob-key-2' };
const person = (name: 'alice' | 'bob', role: string): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS[name]).digest('hex')}"\n`;
const bearer = (name: keyof typeof KEYS) => ({ authorization: `Bearer ${KEYS[name]}` });

describe('a person whose key is taken away', () => {
  let kernel: TestKernel;
  let model: ProviderServer;
  let alice: TestHttp;
  let agentId: string;
  const config = (people: string): string => `api_key = "${KEYS.owner}"\n${OPEN_RATE}${modelConfig(model.url)}${people}`;
  const settle = async (people: string): Promise<void> => {
    await writeFile(join(kernel.home, 'config.toml'), config(people));
    await kernel.daemon.reloadConfig();
  };

  beforeEach(async () => {
    model = await startOpenAiServer({ text: 'hello' });
    kernel = await bootTestKernel({ config: config(person('alice', 'user') + person('bob', 'user')), env: { OPENAI_API_KEY: MODEL_KEY } });
    alice = kernel.as(KEYS.alice);
    agentId = (await alice.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "alices-agent"\n' })).body.agent_id;
  });
  afterEach(async () => {
    await stopModelKernels();
    await model.close();
  });

  it('loses the open socket with 4401, and no message of theirs begins a run any more; others keep theirs', async () => {
    const chat = await openChat(kernel.url, agentId, { headers: bearer('alice') });
    chat.send({ type: 'message', content: 'hi' });
    await chat.next('response');
    const bobs = (await kernel.as(KEYS.bob).expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "bobs-agent"\n' })).body.agent_id;
    const other = await openChat(kernel.url, bobs, { headers: bearer('bob') });
    const asked = model.requests.length;

    await settle(person('bob', 'user'));
    chat.send({ type: 'message', content: 'and once more' });

    expect(await chat.closed()).to.equal(4401);
    other.send({ type: 'message', content: 'I am still here' });
    await other.next('response');
    expect(model.requests.slice(asked).map((one) => JSON.stringify(one.body.messages).includes('once more'))).to.deep.equal([false]);
    other.socket.close();
  });

  it('is hung up on in the middle of a stream, while the run goes on for whoever may see it', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    model.script(async () => {
      await held;
      return { text: 'the end of the story' };
    });
    const streaming = alice.events('POST', `/api/agents/${agentId}/message/stream`, { message: 'tell me' }).then(
      (events) => events.map((event) => event.event),
      () => ['hung up'],
    );
    await until(() => model.requests.length > 0);

    await settle(person('bob', 'user'));

    expect(await streaming).to.not.include('done');
    release();
    const owner = kernel.as(KEYS.owner);
    await until(async () => (await owner.get(`/api/agents/${agentId}/session`)).text.includes('the end of the story'));
  });

  it('who becomes a viewer may keep no socket through which messages are sent', async () => {
    const chat = await openChat(kernel.url, agentId, { headers: bearer('alice') });
    await settle(person('alice', 'viewer') + person('bob', 'user'));
    expect(await chat.closed()).to.equal(4403);
  });

  it('who was owner of an open daemon is nobody as soon as a key is set', async () => {
    await stopModelKernels();
    kernel = await bootTestKernel({ config: `${OPEN_RATE}${modelConfig(model.url)}` });
    const [agent] = (await kernel.http.expect(200, 'GET', '/api/agents')).body.agents;
    const chat = await openChat(kernel.url, agent.id);
    await settle('');
    expect(await chat.closed()).to.equal(4401);
  });
});
