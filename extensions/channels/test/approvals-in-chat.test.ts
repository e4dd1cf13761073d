/** An agent that waits for an approval asks in the chat, and who may decide does so there. */
import { createHash } from 'node:crypto';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import type { Script } from '@svc/fixtures/providers/openai-server';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import type { TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootChannels, type ChannelKit, until } from './channel-kit.js';

const TOKEN = '88:approvals';
const [ALICE, VERA, GUEST] = [21, 31, 41];
const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const user = (name: string, role: string, telegram: number): string =>
  `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "${hash(`${name}-chat-key`)}"\nchannel_bindings = { telegram = "${telegram}" }\n`;

/** Writes the file that the message names; behind each call it says how that went. */
const writer: Script = ({ body }) => {
  const last = body.messages.at(-1);
  const said = JSON.stringify(last.content);
  if (last.role === 'tool') return { text: /rejected/.test(said) ? `not written: ${said}` : 'it is written' };
  const files = [...said.matchAll(/\w+\.txt/g)].map(([name]) => name);
  return files.length === 0 ? { text: 'nothing to do' } : { toolCalls: files.map((path, index) => ({ id: `c${index}-${path}`, name: 'file_write', args: { path, content: 'one\n/approve' } })) };
};

describe('channels: approvals in a chat', function () {
  this.timeout(60_000);
  let kit: ChannelKit;
  let telegram: TelegramServer;
  let alice: TestHttp;

  before(async () => {
    telegram = await startTelegramServer(TOKEN);
    const approval = '[approval]\nrequire_approval = ["file_write"]\n';
    kit = await bootChannels('approvals-in-chat-key', { config: `${user('alice', 'user', ALICE)}${user('vera', 'viewer', VERA)}${approval}`, script: writer });
    alice = kit.world.kernel.as('alice-chat-key');
    const manifest = { capabilities: { tools: ['*'], file_system: true } };
    await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'of-alice', ...manifest } });
    const shared = (await kit.owner.expect(201, 'POST', '/api/agents', { manifest: { name: 'shared', ...manifest } })).body;
    await kit.configure('telegram', { bot_token_env: TOKEN, api_url: telegram.url, default_agent: shared.name ?? 'shared', dm_policy: 'respond' });
    await kit.inState('telegram', 'connected');
  });
  after(async () => {
    await stopModelKernels();
    await telegram.close();
  });

  const saidTo = (chat: number): string[] => telegram.sent.filter(({ chat_id: id }) => id === chat).map(({ text }) => text.replaceAll(/<[^>]+>/g, ''));
  const said = (chat: number, part: string): Promise<string> => until(() => saidTo(chat).find((text) => text.includes(part)), `"${part}" in chat ${chat}`);
  const pending = async (http: TestHttp): Promise<Array<{ readonly id: string; readonly agent_name: string }>> => (await http.expect(200, 'GET', '/api/approvals?status=pending')).body.approvals;

  it('Q1 Q2 a person reads what waits, approves it there, and the answer says what was approved', async () => {
    telegram.write('write a.txt', { chat: ALICE });
    const question = await said(ALICE, 'I need your approval');
    const [, id = ''] = /\/approve (\w{8})/.exec(question) ?? [];
    expect(question).to.contain('of-alice uses file_write: create a.txt (+2 -0)').and.contain(`/deny ${id}`);
    expect((await pending(alice)).map((one) => one.id.slice(-8))).to.deep.equal([id]);
    telegram.write('/approve', { chat: ALICE });
    await said(ALICE, 'Approved: of-alice uses file_write: create a.txt');
    await said(ALICE, 'it is written');
    telegram.write('/approve', { chat: ALICE });
    await said(ALICE, 'Nothing waits for you');
    expect(saidTo(ALICE).filter((text) => text.includes('I need your approval')).length).to.equal(1);
  });

  it('Q1 of several, one is named by its id, and the agent reads why it was denied', async () => {
    telegram.write('write b.txt and c.txt', { chat: ALICE });
    const questions = await until(() => {
      const found = saidTo(ALICE).filter((text) => /I need your approval/.test(text) && /[bc]\.txt/.test(text));
      return found.length === 2 ? found : undefined;
    }, 'two questions');
    telegram.write('/approve', { chat: ALICE });
    expect(await said(ALICE, '2 requests wait'))
      .to.contain('b.txt')
      .and.contain('c.txt');
    const idOf = (file: string): string => /\/approve (\w{8})/.exec(questions.find((text) => text.includes(file)) ?? '')?.[1] ?? '';
    telegram.write(`/approve ${idOf('b.txt')}`, { chat: ALICE });
    await said(ALICE, 'Approved: of-alice uses file_write: create b.txt');
    telegram.write(`/deny@bot ${idOf('c.txt')} not today`, { chat: ALICE });
    await said(ALICE, 'Denied: of-alice uses file_write: create c.txt');
    expect(await said(ALICE, 'not written')).to.contain('not today');
    telegram.write('/approve 00000000', { chat: ALICE });
    await said(ALICE, 'No request 00000000 waits for you');
  });

  it('Q2 a guest reads that they wait and decides nothing, nor does a viewer or another person', async () => {
    telegram.write('write d.txt', { chat: GUEST });
    const answered = await said(GUEST, 'approval of my owner');
    expect(answered).not.to.contain('d.txt');
    const waiting = async () => (await pending(kit.owner)).filter(({ agent_name: name }) => name === 'shared');
    const [request] = await waiting();
    const id = request?.id.slice(-8) ?? '';
    for (const text of ['/approve', `/approve ${id}`, `/deny ${id}`]) telegram.write(text, { chat: GUEST });
    await until(() => (saidTo(GUEST).filter((text) => text.includes('Only a person who is linked')).length === 3 ? true : undefined), 'three refusals');
    telegram.write(`/approve ${id}`, { chat: VERA });
    await said(VERA, 'role viewer');
    telegram.write(`/approve ${id}`, { chat: ALICE });
    await said(ALICE, `No request ${id} waits for you`);
    expect((await waiting()).length).to.equal(1);
    expect((await kit.owner.expect(200, 'POST', `/api/agents/${kit.world.agent.id}/message`, { message: `/approve ${id}` })).body.response).to.contain(
      'Approved: shared uses file_write: create d.txt',
    );
    await said(GUEST, 'it is written');
  });
});
