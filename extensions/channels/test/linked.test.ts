/** Senders who are people of svc, and whoever claims to be one. */
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import type { TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { bootChannels, type ChannelKit, type Delivery, until } from './channel-kit.js';

const TOKEN = '77:linked';
const SECRET = 'a secret of a webhook';
const ALICE = 21;
const hash = (key: string): string => `sha256:${createHash('sha256').update(key).digest('hex')}`;
const user = (name: string, role: string, more = ''): string => `[[users]]\nname = "${name}"\nrole = "${role}"\napi_key_hash = "${hash(`${name}-linked-key`)}"\n${more}`;

describe('channels: linked people', function () {
  this.timeout(60_000);
  let kit: ChannelKit;
  let telegram: TelegramServer;
  const people = new Map<string, TestHttp>();
  const agents = new Map<string, string>();
  const folder = mkdtempSync(path.join(tmpdir(), 'linked-'));

  before(async () => {
    telegram = await startTelegramServer(TOKEN);
    const users = [
      user('alice', 'user', `channel_bindings = { telegram = ["${ALICE}", "u1"], webhook = "${ALICE}" }\n`),
      user('mallory', 'user'),
      user('vera', 'viewer', 'channel_bindings = { telegram = "31" }\n'),
      user('twin', 'user', 'channel_bindings = { telegram = "51" }\n'),
      user('other', 'user', 'channel_bindings = { telegram = "51" }\n'),
    ].join('');
    const program = path.resolve('fixtures/channels/sidecar.py');
    const sidecar = `[[sidecar_channels]]\nname = "telegram2"\nchannel_type = "telegram"\ncommand = "python3"\nargs = [${JSON.stringify(program)}]\nenv = { SIDECAR_FOLDER = ${JSON.stringify(folder)} }\ndm_policy = "respond"\n`;
    kit = await bootChannels('linked-root-key', { config: `${users}${sidecar}` });
    people.set('owner', kit.owner);
    for (const name of ['alice', 'mallory', 'vera']) people.set(name, kit.world.kernel.as(`${name}-linked-key`));
    for (const name of ['alice', 'mallory']) agents.set(name, (await as(name).expect(201, 'POST', '/api/agents', { manifest: { name: `of-${name}` } })).body.agent_id);
    agents.set('owner', kit.world.agent.id);
    await kit.configure('telegram', { bot_token_env: TOKEN, api_url: telegram.url });
    await kit.configure('webhook', { secret_env: SECRET });
    await kit.inState('telegram', 'connected');
  });
  after(async () => {
    await stopModelKernels();
    await telegram.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const as = (name: string): TestHttp => people.get(name) ?? kit.owner;
  const command = (name: string, message: string) => as(name).post(`/api/agents/${agents.get(name)}/message`, { message });
  const seenBy = async (name: string, message: string): Promise<Delivery | undefined> =>
    (await as(name).expect(200, 'GET', '/api/channels/deliveries?direction=inbound')).body.deliveries.find((one: Delivery) => one.message === message);
  const answerTo = (chat: number, text: string): Promise<string> => {
    const before = telegram.sent.length;
    telegram.write(text, { chat });
    return until(() => telegram.sent.slice(before).find(({ chat_id: id }) => id === chat)?.text, `an answer to "${text}"`);
  };
  const codeIn = (text: string): string => /\/link (\w{8})/.exec(text)?.[1] ?? '';
  const said = (chat: number, part: string) => until(() => telegram.sent.find(({ chat_id: id, text }) => id === chat && text.includes(part)), `"${part}" in chat ${chat}`);

  it('U1 B3 who is named for the channel acts as that person: their agent, their rows, their commands, no text from outside', async () => {
    await answerTo(ALICE, 'good morning from alice');
    const row = await kit.incoming('good morning from alice', 'answered');
    expect(await seenBy('alice', 'good morning from alice')).to.include({ agent_id: agents.get('alice') });
    expect(await seenBy('mallory', 'good morning from alice')).to.equal(undefined);
    const run = (await as('alice').expect(200, 'GET', `/api/runs/${row.run_id}`)).body;
    expect(run.cause).to.deep.include({ kind: 'channel', id: 'telegram' });
    await as('mallory').expect(404, 'GET', `/api/runs/${row.run_id}`);
    const agentsSeen = await answerTo(ALICE, '/agents');
    expect(agentsSeen).to.contain('of-alice').and.not.contain('of-mallory').and.not.contain(kit.world.agent.name);
    expect(await answerTo(ALICE, '/nonsense')).to.contain('Unknown command');
    expect([kit.asked('/agents'), kit.asked('/nonsense')]).to.deep.equal([0, 0]);
  });

  it('U1 who is named calls skills by /name, and a guest sends words alone', async () => {
    await kit.owner.expect(200, 'POST', '/api/skills/create', { name: 'greeting', description: 'Says how to greet.', prompt_context: 'Say ahoy and nothing else.' });
    const prompts = () => JSON.stringify(kit.world.model.requests.filter(({ body }) => JSON.stringify(body).includes('/greeting Ada'))).split('calls the skill greeting').length - 1;
    await answerTo(ALICE, '/greeting Ada');
    expect(prompts()).to.equal(1);
    writeFileSync(path.join(folder, 'in-3'), '/greeting Ada from a guest');
    await kit.incoming('/greeting Ada from a guest', 'answered');
    expect(prompts()).to.equal(1);
    await kit.owner.expect(200, 'POST', '/api/skills/uninstall', { name: 'greeting' });
  });

  it('U1 nobody becomes somebody by an id that is linked on another channel or account, or that they named themselves', async () => {
    const body = JSON.stringify({ sender_id: String(ALICE), sender_name: 'Alice', message: 'I am alice, over a webhook' });
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    await fetch(`${kit.world.kernel.daemon.url}/api/channels/webhook/webhook`, { method: 'POST', headers: { 'content-type': 'application/json', 'x-webhook-signature': signature }, body });
    await kit.inState('telegram2', 'connected');
    writeFileSync(path.join(folder, 'in-1'), 'I am alice, on another account');
    for (const message of ['I am alice, over a webhook', 'I am alice, on another account']) {
      expect(await kit.incoming(message, 'answered')).to.include({ agent_id: agents.get('owner') });
      expect(await seenBy('alice', message), message).to.equal(undefined);
    }
    writeFileSync(path.join(folder, 'in-2'), '/budget');
    await kit.incoming('/budget', 'answered');
    expect(kit.asked('/budget') > 0, 'a command of a guest is text').to.equal(true);
    const twice = await answerTo(51, 'two people name me');
    expect(twice, 'nobody, where several are named').to.contain('svc channels allow');
    expect(readdirSync(folder).some((name) => name.startsWith('out-') && readFileSync(path.join(folder, name), 'utf8').includes('of-alice'))).to.equal(false);
  });

  it('U2 U4 a code links once, by a login alone, and /unlink makes a guest of them again', async () => {
    const code = codeIn(await answerTo(40, 'hello, I am new'));
    expect(code).to.match(/^\w{8}$/);
    expect(await answerTo(ALICE, `/link ${code}`), 'a chat takes no code').to.contain('You act as alice');
    const asked = await command('alice', `/link ${code.toLowerCase()}`);
    expect([asked.status, asked.body.response]).to.deep.include(200);
    expect(asked.body.response).to.contain('Ada (40) on telegram acts as you');
    await said(40, 'You act as alice');
    const again = await command('mallory', `/link ${code}`);
    expect([again.status, again.body.code]).to.deep.equal([404, 'channels_no_code']);
    await kit.owner.expect(404, 'POST', '/api/channels/senders/allow', { code });
    await answerTo(40, 'now I am alice');
    await kit.incoming('now I am alice', 'answered');
    expect(await seenBy('alice', 'now I am alice')).to.include({ agent_id: agents.get('alice') });
    const listed = (await kit.owner.expect(200, 'GET', '/api/channels/senders')).body.senders;
    expect(listed.find(({ sender }: { sender: string }) => sender === '40')).to.include({ person: 'user:alice', state: 'waiting' });
    expect(JSON.stringify(listed)).not.to.contain(code);
    expect(await answerTo(40, '/unlink')).to.contain('guest');
    telegram.write('and now a guest', { chat: 40 });
    await kit.incoming('and now a guest', 'ignored');
    expect(kit.asked('and now a guest')).to.equal(0);
  });

  it('U2 U3 a stolen code makes the sender the thief and nobody else, and says so; a viewer cannot use it', async () => {
    const code = codeIn(await answerTo(41, 'who are you'));
    expect((await command('vera', `/link ${code}`)).status).to.be.oneOf([403, 404]);
    expect((await command('mallory', `/link ${code}`)).status).to.equal(200);
    expect((await said(41, 'You act as mallory')).text).to.contain('/unlink');
    await answerTo(41, 'my secret plan');
    await kit.incoming('my secret plan', 'answered');
    expect([(await seenBy('mallory', 'my secret plan'))?.agent_id, await seenBy('alice', 'my secret plan')]).to.deep.equal([agents.get('mallory'), undefined]);
    expect((await command('mallory', '/unlink')).body.response).to.contain('1 chat is');
    telegram.write('a guest again', { chat: 41 });
    await kit.incoming('a guest again', 'ignored');
    expect((await command('mallory', '/link')).body.response).to.contain('private chat');
    expect((await command('mallory', '/link NOTACODE')).body.code).to.equal('channels_no_code');
  });

  it('U3 a viewer may not write to agents from a chat either, and a group has no code and no shared conversation', async () => {
    expect(await answerTo(31, 'may I?')).to.contain('The role viewer');
    expect(kit.asked('may I?')).to.equal(0);
    await kit.owner.expect(200, 'POST', '/api/channels/telegram/configure', { fields: { bot_token_env: TOKEN, api_url: telegram.url, dm_policy: 'respond' } });
    await kit.inState('telegram', 'connected');
    telegram.write('/link', { chat: -9, sender: 61, group: true });
    expect((await said(-9, 'private chat')).text).not.to.match(/\w{8}$/);
    telegram.write('/start of the guest', { chat: -9, sender: 61, group: true });
    telegram.write('/btw of alice', { chat: -9, sender: ALICE, group: true });
    const [guest, person] = [await kit.incoming('/start of the guest', 'answered'), await kit.incoming('/btw of alice', 'answered')];
    expect([guest.session_id === person.session_id, guest.agent_id, person.agent_id]).to.deep.equal([false, agents.get('owner'), agents.get('alice')]);
    const fresh = codeIn(await answerTo(62, '/link'));
    expect(codeIn(await answerTo(62, '/link')), 'one code a day').to.equal(fresh);
    const asOwner = (await command('owner', `/link ${fresh}`)).body.response;
    expect(asOwner).to.contain('acts as you');
    telegram.write('/agents', { chat: 62 });
    await said(62, 'of-mallory');
  });

  it('U3 U5 who is disabled or taken out of the settings is a guest with the next message', async () => {
    const row = {
      id: 'user:alice',
      owner_id: 'user:alice',
      name: 'alice',
      email: null,
      source: 'users',
      role: null,
      set_role: null,
      disabled: 1,
      created_at: '2026-01-01T00:00:00.000Z',
      seen_at: null,
    };
    const db = kit.world.kernel.daemon.parts.storage.dbFor({ id: 'auth', tables: ['people'] });
    await db.commit([db.insert('people', [row])]);
    await until(async () => (await as('alice').get('/api/agents')).status === 401, 'auth reads that she is disabled');
    await answerTo(ALICE, 'am I still alice');
    expect((await kit.incoming('am I still alice', 'answered')).agent_id).to.equal(agents.get('owner'));
    await db.commit([db.remove('people', { id: row.id }, { expect: 1 })]);
    await until(async () => (await as('alice').get('/api/agents')).status === 200, 'she is enabled again');
    await answerTo(ALICE, 'alice again');
    expect((await kit.incoming('alice again', 'answered')).agent_id).to.equal(agents.get('alice'));
  });
});
