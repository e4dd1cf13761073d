/** One agent, written to on three real servers: a room on Synapse, a topic of Mosquitto, and mail on GreenMail. */
import { type GreenMail, noGreenMail, startGreenMail } from '@svc/fixtures/channels/greenmail';
import { type Broker, startMosquitto } from '@svc/fixtures/channels/mosquitto';
import { type MatrixPerson, noSynapse, startSynapse, type Synapse } from '@svc/fixtures/channels/synapse';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import mqtt from 'mqtt';
import { createTransport } from 'nodemailer';
import { bootChannels, type ChannelKit, numberedAnswers, until } from './channel-kit.js';
import { type Mailbox, mailboxOf } from './mailbox.js';

const MAIL_BOT = 'bot@mail.test';
const MAIL_ADA = 'ada@mail.test';
/** More than one answer to a sync holds. */
const GAP = 120;
const port = (first: number): number => first + 2 * (process.pid % 1_000);

describe('channels: a room on Synapse, a broker and a mail server', function () {
  this.timeout(180_000);
  let kit: ChannelKit;
  let synapse: Synapse;
  let ada: MatrixPerson;
  let bot: MatrixPerson;
  let mail: GreenMail;
  let mailbox: Mailbox;
  let broker: Broker;
  let room = '';

  before(async function () {
    const missing = noSynapse() ?? noGreenMail();
    if (missing !== undefined) {
      Object.assign(this.test ?? {}, { skipReason: missing });
      this.skip();
    }
    [synapse, mail, broker] = await Promise.all([startSynapse(port(47_000)), startGreenMail(['bot:pw@mail.test', 'ada:pw@mail.test'], port(43_000)), startMosquitto(port(49_000))]);
    mailbox = mailboxOf(MAIL_ADA, 'pw', mail.imapPort);
    [ada, bot] = [await synapse.register('ada'), await synapse.register('bot')];
    kit = await bootChannels('real-places-root-key', { script: numberedAnswers });
  });
  after(async () => {
    await stopModelKernels();
    await Promise.all([synapse?.close(), mail?.close(), broker?.close()]);
    await mailbox?.close();
  });

  const setUp = (more: object = {}) => kit.configure('matrix', { homeserver_url: synapse.url, access_token_env: bot.token, ...more });
  const said = async (by: MatrixPerson = bot) => (await ada.events(room)).filter(({ sender, type }) => sender === by.userId && type === 'm.room.message');
  /** The `count`th message of the bot in the room. */
  const saidNumber = (count: number) => until(async () => (await said())[count - 1], `message ${count} of the bot`);
  const isJoined = async (): Promise<boolean> => Object.keys((await ada.call<{ readonly joined: object }>('GET', `/rooms/${encodeURIComponent(room)}/joined_members`)).joined).includes(bot.userId);

  it('X1 X2 X3 the bot joins a room on Synapse and answers there, in threads too', async () => {
    await setUp();
    await kit.inState('matrix', 'connected');
    expect((await kit.owner.expect(200, 'POST', '/api/channels/matrix/test')).body).to.deep.include({ status: 'ok' });
    room = await ada.createRoom({ is_direct: true, invite: [bot.userId], preset: 'trusted_private_chat' });
    await until(isJoined, 'the bot joined');
    await ada.write(room, 'hello bot');
    await kit.allow(String((await saidNumber(1)).content.body));
    await ada.write(room, 'what is up');
    const answer = await saidNumber(2);
    expect(answer.content).to.deep.include({ msgtype: 'm.text', format: 'org.matrix.custom.html' });
    const root = await ada.write(room, 'the root of a thread');
    await saidNumber(3);
    const threaded = await ada.write(room, { msgtype: 'm.text', body: 'in a thread', 'm.relates_to': { rel_type: 'm.thread', event_id: root } });
    expect((await saidNumber(4)).content['m.relates_to']).to.deep.include({ rel_type: 'm.thread', event_id: root, 'm.in_reply_to': { event_id: threaded } });
    const [plain, inThread] = [await kit.incoming('what is up', 'answered'), await kit.incoming('in a thread', 'answered')];
    expect(plain.session_id).not.to.equal(inThread.session_id);
  });

  it('X3 I6 an edit counts until the agent is asked, and a message that is taken back gets no answer', async () => {
    const slow = await ada.write(room, 'take your time');
    await until(() => (kit.asked('take your time') > 0 ? true : undefined), 'the model is asked');
    const edited = await ada.write(room, 'fisrt');
    await kit.incoming('fisrt', 'received');
    await ada.write(room, { msgtype: 'm.text', body: '* first', 'm.new_content': { msgtype: 'm.text', body: 'first of all' }, 'm.relates_to': { rel_type: 'm.replace', event_id: edited } });
    await kit.incoming('first of all', 'received');
    await ada.call('PUT', `/rooms/${encodeURIComponent(room)}/redact/${encodeURIComponent(slow)}/taken-back`, {});
    expect((await kit.incoming('take your time', 'ignored')).reason).to.contain('deleted');
    await kit.incoming('first of all', 'answered');
    expect(kit.asked('fisrt')).to.equal(0);
  });

  it('X4 Synapse takes a message once, whatever is sent again with its transaction', async () => {
    const sent = async () => bot.call<{ readonly event_id: string }>('PUT', `/rooms/${encodeURIComponent(room)}/send/m.room.message/a-transaction`, { msgtype: 'm.notice', body: 'once' });
    expect((await sent()).event_id).to.equal((await sent()).event_id);
    expect((await said()).filter(({ content }) => content.body === 'once').length).to.equal(1);
  });

  it('X1 C2 what was written while svc did not listen is answered once, also where Synapse leaves a gap', async () => {
    await synapse.stop();
    await kit.inState('matrix', 'failing');
    expect((await kit.channel('matrix')).last_error).to.be.a('string');
    await synapse.start();
    await kit.inState('matrix', 'connected');
    await ada.write(room, 'after the homeserver was away');
    await kit.incoming('after the homeserver was away', 'answered');
    await setUp({ user_id: '@nobody:synapse.test' });
    await kit.inState('matrix', 'failing');
    await synapse.unlimited(ada);
    await ada.write(room, 'before the gap');
    for (let number = 0; number < GAP; number += 1) await ada.write(room, { msgtype: 'm.notice', body: `notice ${number}` });
    await ada.write(room, 'behind the gap');
    await setUp();
    await kit.incoming('before the gap', 'answered');
    await kit.incoming('behind the gap', 'answered');
    expect((await kit.deliveries('?direction=inbound')).filter(({ message }) => message.includes('the gap')).map(({ message }) => message)).to.have.members(['before the gap', 'behind the gap']);
    expect(kit.asked('notice 1')).to.equal(0);
  });

  it('E6 M1 X3 one agent answers in the room, over Mosquitto and by mail, in three conversations that say where they came from', async () => {
    const fields = { username: MAIL_BOT, password_env: 'pw', imap_host: '127.0.0.1', imap_port: mail.imapPort, smtp_host: '127.0.0.1', smtp_port: mail.smtpPort, security: 'none' };
    await kit.configure('email', { ...fields, allowed_users: [MAIL_ADA] });
    await kit.configure('mqtt', { broker_url: broker.url, topic_in: 'home/ask', topic_out: 'home/answer' });
    for (const name of ['email', 'mqtt', 'matrix']) await kit.inState(name, 'connected');
    const client = await mqtt.connectAsync(broker.url, { protocolVersion: 5 });
    const published: string[] = [];
    client.on('message', (_topic, payload) => published.push(String(payload)));
    await client.subscribeAsync('home/answer', { qos: 1 });
    const before = (await said()).length;
    const transport = createTransport({ host: '127.0.0.1', port: mail.smtpPort, ignoreTLS: true, auth: { user: MAIL_ADA, pass: 'pw' } });
    const [, , { messageId }] = await Promise.all([
      ada.write(room, 'from the room'),
      client.publishAsync('home/ask', 'from the broker', { qos: 1 }),
      transport.sendMail({ from: MAIL_ADA, to: MAIL_BOT, subject: 'Three places', text: 'from the mailbox' }),
    ]);
    const rows = [await kit.incoming('from the room', 'answered'), await kit.incoming('from the broker', 'answered'), await kit.incoming('Three places\n\nfrom the mailbox', 'answered')];
    await until(async () => ((await said()).length > before ? true : undefined), 'the answer in the room');
    await until(() => (published.length === 1 ? true : undefined), 'the answer over the broker');
    const [answer = ''] = await until(async () => ((await mailbox.letters()).length > 0 ? mailbox.letters() : undefined), 'the answer by mail');
    expect(answer).to.contain(`In-Reply-To: ${messageId}`);
    expect(new Set(rows.map(({ agent_id: id }) => id)).size).to.equal(1);
    const { sessions } = (await kit.owner.expect(200, 'GET', '/api/sessions')).body;
    const labels = rows.map(({ session_id: id }) => String(sessions.find((one: { session_id: string }) => one.session_id === id)?.label).split(':')[0]);
    expect(labels).to.deep.equal(['matrix', 'mqtt', 'email']);
    for (const { channel, chat, session_id: id } of rows) {
      const { messages } = (await kit.owner.expect(200, 'GET', `/api/agents/${kit.world.agent.id}/session?session_id=${id}`)).body;
      expect(messages.findLast(({ role }: { role: string }) => role === 'User').via).to.deep.include({ channel, chat });
    }
    transport.close();
    await client.endAsync();
  });

  it('X2 C2 encrypted rooms get one notice, and a token that ended is a state with what to do', async () => {
    const sealed = await ada.createRoom({
      is_direct: true,
      invite: [bot.userId],
      preset: 'trusted_private_chat',
      initial_state: [{ type: 'm.room.encryption', state_key: '', content: { algorithm: 'm.megolm.v1.aes-sha2' } }],
    });
    await until(async () => Object.keys((await ada.call<{ readonly joined: object }>('GET', `/rooms/${encodeURIComponent(sealed)}/joined_members`)).joined).includes(bot.userId), 'the bot joined');
    const ciphertext = { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'x', sender_key: 'x', session_id: 'x', device_id: 'x' };
    for (let times = 0; times < 2; times += 1) await ada.write(sealed, ciphertext, 'm.room.encrypted');
    const notices = async () => (await ada.events(sealed)).filter(({ sender, type }) => sender === bot.userId && type === 'm.room.message');
    await until(async () => ((await notices()).length > 0 ? true : undefined), 'the notice');
    await bot.call('POST', '/logout', {});
    await kit.inState('matrix', 'failing');
    expect((await kit.channel('matrix')).last_error).to.contain('M_UNKNOWN_TOKEN');
    expect((await notices()).length).to.equal(1);
  });
});
