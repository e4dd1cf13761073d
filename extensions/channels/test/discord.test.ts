/** Discord, against a server that plays its gateway and its REST API with their faults. It proves nothing of Discord's own permissions. */
import { DISCORD_GUILD, type DiscordServer, startDiscordServer } from '@svc/fixtures/channels/discord-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { numberedAnswers, until } from './channel-kit.js';

const KEY = 'discord-root-key';
const TOKEN = 'MTA.discord.token-of-the-tests';

interface Delivery {
  readonly status: string;
  readonly message: string;
  readonly reason: string | null;
  readonly chat: string;
  readonly thread: string | null;
  readonly session_id: string | null;
  readonly attempts: number;
}

describe('channels: discord', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let owner: TestHttp;
  let discord: DiscordServer;

  before(async () => {
    discord = await startDiscordServer(TOKEN);
    world = await bootWithModel(numberedAnswers, { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    owner = world.http;
    await configure();
  });
  after(async () => {
    await stopModelKernels();
    await discord.close();
  });

  const configure = (more: object = {}, token = TOKEN) =>
    owner.expect(200, 'POST', '/api/channels/discord/configure', { token, fields: { api_url: discord.url, allowed_users: '42', allowed_guilds: DISCORD_GUILD, ...more } });
  const channel = async () => (await owner.expect(200, 'GET', '/api/channels/discord')).body;
  const inState = (state: string) => until(async () => (await channel()).state === state, `discord is ${state}`);
  const deliveries = async (query: string): Promise<Delivery[]> => (await owner.expect(200, 'GET', `/api/channels/deliveries?channel=discord&${query}`)).body.deliveries;
  const inbound = (message: string, status: string) => until(async () => (await deliveries(`direction=inbound&status=${status}`)).find((one) => one.message === message), `${message} is ${status}`);
  const asked = (text: string): number => world.model.requests.filter(({ body }) => JSON.stringify(body.messages.at(-1)).includes(text)).length;
  const posts = (count: number) => until(() => discord.posted.length >= count, `${count} posts`);

  it('D1 D2 answers in private, once, with a nonce and without mentioning anybody', async () => {
    await inState('connected');
    expect(discord.identified.at(-1)).to.deep.equal({ intents: 37_377 });
    const id = discord.write('hello');
    await posts(1);
    discord.repeat(id);
    expect(discord.posted[0]).to.deep.include({ channel: '701', allowed_mentions: { parse: [], replied_user: true } });
    expect(discord.posted[0]?.nonce).to.match(/^[\w-]{25}$/);
    discord.write('I am a bot', { isBot: true });
    discord.write('I am nobody', { sender: '43' });
    await posts(2);
    expect(discord.posted[1]?.content).to.contain('svc channels allow');
    expect([asked('hello'), asked('I am a bot'), asked('I am nobody')]).to.deep.equal([1, 0, 0]);
    expect((await owner.expect(200, 'POST', '/api/channels/discord/test', { chat_id: 'user:42' })).body).to.deep.include({ status: 'ok' });
    expect(discord.posted.at(-1)).to.deep.include({ channel: '701', content: 'A test of svc.' });
    expect(JSON.stringify(await channel())).not.to.contain(TOKEN);
  });

  it('in a server it answers mentions alone, as a reply, and a thread is a conversation of its own', async () => {
    const before = discord.posted.length;
    discord.write('just chatting', { at: 'general' });
    const id = discord.write('what is new', { at: 'general', mention: true });
    await posts(before + 1);
    expect(discord.posted.at(-1)).to.deep.include({ channel: '702', message_reference: { message_id: id, fail_if_not_exists: false } });
    discord.write('and here', { at: 'thread', mention: true });
    await posts(before + 2);
    expect(discord.posted.at(-1)).to.deep.include({ channel: '703' });
    const [thread, general] = [await inbound('and here', 'answered'), await inbound('what is new', 'answered')];
    expect([thread.chat, thread.thread, general.thread]).to.deep.equal(['702', '703', null]);
    expect(thread.session_id).not.to.equal(general.session_id);
    expect((await inbound('just chatting', 'ignored')).reason).to.contain('not mentioned');
    expect(asked('just chatting')).to.equal(0);
  });

  it('D1 D3 O3 waits as a 429 says, and posts once what it sends again after a lost answer', async () => {
    const before = discord.posted.length;
    discord.fail('/messages', { status: 429, body: { message: 'You are being rate limited.', retry_after: 1.2, global: false } }, { status: 200, body: {}, isAfterwards: true });
    const begun = Date.now();
    discord.write('limited');
    const row = await until(async () => (await deliveries('direction=outbound&status=sent')).find(({ attempts }) => attempts >= 3), 'the answer is sent');
    expect(Date.now() - begun).to.be.greaterThan(1_200);
    expect(row.reason).to.equal(null);
    expect(discord.posted.length, 'posted once').to.equal(before + 1);
    discord.fail('/messages', { status: 403, body: { code: 50_013, message: 'Missing Permissions' } });
    discord.write('not allowed');
    const failed = await until(async () => (await deliveries('direction=outbound&status=failed'))[0], 'a failed answer');
    expect(failed.reason).to.contain('Missing Permissions');
  });

  it('I6 a message that is deleted while its run goes on gets no answer; an edit before it counts', async () => {
    const before = discord.posted.length;
    const slow = discord.write('take your time');
    await until(() => asked('take your time') === 1, 'the model is asked');
    await until(() => discord.typing.at(-1) === '701', 'it shows that it writes');
    const edited = discord.write('fisrt');
    await inbound('fisrt', 'received');
    discord.edit(edited, 'first');
    await inbound('first', 'received');
    const begun = Date.now();
    discord.remove(slow);
    expect((await inbound('take your time', 'ignored')).reason).to.equal('its sender deleted it');
    await posts(before + 1);
    expect(Date.now() - begun, 'the run was stopped').to.be.lessThan(3_500);
    await inbound('first', 'answered');
    expect([asked('fisrt'), asked('first'), discord.posted.some(({ content }) => content.includes('too late'))]).to.deep.equal([0, 1, false]);
  });

  it('G1 resumes after a lost connection and when Discord asks to, and begins anew where the session is invalid', async () => {
    const [identified, resumed, before] = [discord.identified.length, discord.resumed, discord.posted.length];
    discord.drop(0);
    discord.write('during the pause');
    await posts(before + 1);
    discord.operate(7);
    await until(() => discord.resumed === resumed + 2, 'it resumed twice');
    expect(discord.identified.length).to.equal(identified);
    discord.operate(9, false);
    discord.write('while nobody listened', { at: 'general', mention: true });
    await until(() => discord.identified.length === identified + 1, 'a new session');
    await posts(before + 2);
    expect([asked('during the pause'), asked('while nobody listened')]).to.deep.equal([1, 1]);
  });

  it('H1 H2 what was written while the daemon was away is read: in private, in servers, in threads, and nothing older', async () => {
    const before = discord.posted.length;
    await owner.expect(200, 'DELETE', '/api/channels/discord/configure');
    discord.write('before it was set up');
    await configure();
    await inState('connected');
    discord.write('remember this chat');
    await posts(before + 1);
    await inbound('remember this chat', 'answered');
    const identified = discord.identified.length;
    discord.forget();
    discord.drop(4_009);
    discord.write('missed in private');
    discord.write('missed in general', { at: 'general', mention: true });
    discord.write('missed in a thread', { at: 'thread', mention: true });
    await posts(before + 4);
    expect(discord.identified.length).to.equal(identified + 1);
    expect(['missed in private', 'missed in general', 'missed in a thread', 'before it was set up', 'remember this chat'].map(asked)).to.deep.equal([1, 1, 1, 0, 1]);
  });

  it('G2 a connection whose heartbeats are not answered is dead, and the session goes on', async () => {
    const [resumed, identified] = [discord.resumed, discord.identified.length];
    discord.stayMute(true);
    await until(() => discord.resumed > resumed, 'it resumed');
    discord.stayMute(false);
    expect(discord.identified.length).to.equal(identified);
    expect(discord.goodbyes.at(-1)).to.equal(4_000);
  });

  it('C2 a wrong token and refused intents are states with what to do, and it comes back', async () => {
    discord.refuseIntents(true);
    discord.forget();
    discord.drop(4_009);
    await inState('failing');
    expect(await channel()).to.deep.include({ last_error: 'the bot may not use the intents that it asks for (4014)' });
    expect((await channel()).fix).to.contain('Message Content Intent');
    expect((await owner.expect(200, 'POST', '/api/channels/discord/test')).body).to.deep.include({ status: 'error', message: 'the bot may not read the text of messages' });
    discord.refuseIntents(false);
    await inState('connected');
    await configure({}, 'a wrong token');
    await inState('failing');
    expect((await channel()).last_error).to.contain('does not know the token');
    await configure();
    await inState('connected');
  });
});
