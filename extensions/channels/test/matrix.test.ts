/** Matrix over a homeserver that plays its protocol, with its faults. */
import { type MatrixServer, startMatrixServer } from '@svc/fixtures/channels/matrix-server';
import { stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import { matrix } from '../src/adapters/matrix/matrix.js';
import { bootChannels, type ChannelKit, numberedAnswers, until } from './channel-kit.js';

const TOKEN = 'syt_secret_token';
const ROOM = '!room:example.org';

describe('channels: Matrix', function () {
  this.timeout(60_000);
  let kit: ChannelKit;
  let server: MatrixServer;

  before(async () => {
    server = await startMatrixServer(TOKEN);
    kit = await bootChannels('matrix-root-key', { script: numberedAnswers });
  });
  after(async () => {
    await stopModelKernels();
    await server.close();
  });
  const setUp = (more: object = {}) => kit.configure('matrix', { homeserver_url: server.url, access_token_env: TOKEN, ...more });

  it('X1 X2 X3 joins on invitation, and answers what is written from then on, in form and in its thread', async () => {
    await setUp();
    await kit.inState('matrix', 'connected');
    server.invite(ROOM);
    await until(() => (server.joined.has(ROOM) ? true : undefined), 'the bot joined');
    server.write(ROOM, 'hello bot');
    const asking = await until(() => server.sent[0], 'the answer with a code');
    await kit.allow(String(asking.content.body));
    expect(kit.asked('hello bot')).to.equal(0);
    server.write(ROOM, 'what is up');
    const answer = await until(() => server.sent[1], 'the answer');
    expect(answer.content).to.deep.include({ msgtype: 'm.text', format: 'org.matrix.custom.html', 'm.mentions': {} });
    expect(String(answer.content.formatted_body)).to.match(/^<p>/);
    server.write(ROOM, { msgtype: 'm.notice', body: 'I am another bot' });
    server.write(ROOM, { msgtype: 'm.text', body: '* what was up', 'm.relates_to': { rel_type: 'm.replace', event_id: '$e1' } });
    const threaded = server.write(ROOM, {
      msgtype: 'm.text',
      body: 'in a thread',
      'm.relates_to': { rel_type: 'm.thread', event_id: '$root', is_falling_back: true, 'm.in_reply_to': { event_id: '$root' } },
    });
    const inThread = await until(() => server.sent[2], 'the answer in the thread');
    expect(inThread.content['m.relates_to']).to.deep.include({ rel_type: 'm.thread', event_id: '$root', 'm.in_reply_to': { event_id: threaded } });
    server.write(ROOM, { msgtype: 'm.text', body: '> <@ada:example.org> quoted before\n\nmy reply', 'm.relates_to': { 'm.in_reply_to': { event_id: '$e1' } } });
    await kit.incoming('my reply', 'answered');
    expect([kit.asked('I am another bot'), kit.asked('what was up'), kit.asked('quoted before')]).to.deep.equal([0, 0, 0]);
    const [thread, plain] = [await kit.incoming('in a thread', 'answered'), await kit.incoming('what is up', 'answered')];
    expect(thread.session_id).not.to.equal(plain.session_id);
  });

  it('X3 I6 an edit by its sender counts until the agent is asked, and what is taken back gets no answer', async () => {
    const edit = (id: string, body: string) => ({ msgtype: 'm.text', body: `* ${body}`, 'm.new_content': { msgtype: 'm.text', body }, 'm.relates_to': { rel_type: 'm.replace', event_id: id } });
    const slow = server.write(ROOM, 'take your time');
    await until(() => (kit.asked('take your time') > 0 ? true : undefined), 'the model is asked');
    const edited = server.write(ROOM, 'fisrt');
    await kit.incoming('fisrt', 'received');
    server.write(ROOM, edit(edited, 'by somebody else'), { sender: '@eve:example.org' });
    server.write(ROOM, edit(edited, 'first of all'));
    await kit.incoming('first of all', 'received');
    server.write(ROOM, { redacts: slow }, { type: 'm.room.redaction' });
    expect((await kit.incoming('take your time', 'ignored')).reason).to.contain('deleted');
    await kit.incoming('first of all', 'answered');
    expect([kit.asked('fisrt'), kit.asked('by somebody else'), server.sent.some(({ content }) => String(content.body).includes('too late'))]).to.deep.equal([0, 0, false]);
  });

  it('X4 an answer whose outcome was lost is sent again with its transaction, and arrives once', async () => {
    await until(async () => (await kit.deliveries('?direction=outbound')).every(({ status }) => status === 'sent'), 'nothing is on its way');
    const before = server.sent.length;
    server.fail('/send/', { status: 502, errcode: 'M_UNKNOWN', after: true }, { status: 429, errcode: 'M_LIMIT_EXCEEDED', retryAfterMs: 1_000 });
    server.write(ROOM, 'say it once');
    const row = await until(async () => ((await kit.deliveries('?direction=outbound&status=sent')).length === before + 1 ? true : undefined), 'it was sent in the end');
    expect([row, server.sent.length]).to.deep.equal([true, before + 1]);
  });

  it('X1 what came while svc did not listen is answered once, also where the homeserver leaves a gap', async () => {
    await kit.owner.expect(200, 'POST', '/api/channels/reload');
    server.fail('/sync', ...Array.from({ length: 3 }, () => ({ status: 503, errcode: 'M_UNAVAILABLE' })));
    await kit.inState('matrix', 'failing');
    server.timelineLimit = 2;
    for (let number = 1; number <= 9; number += 1) server.write(ROOM, `missed message ${number}`);
    for (let number = 1; number <= 9; number += 1) await kit.incoming(`missed message ${number}`, 'answered');
    expect((await kit.deliveries('?direction=inbound')).filter(({ message }) => message.startsWith('missed')).length).to.equal(9);
    server.timelineLimit = 10;
  });

  it('X2 X3 a group is answered when the bot is meant, encrypted rooms get one notice, and other rooms are left alone', async () => {
    const group = '!group:example.org';
    server.invite(group, { isDirect: false, members: ['@ada:example.org', '@bob:example.org'] });
    await until(() => (server.joined.has(group) ? true : undefined), 'the bot joined the group');
    const before = server.sent.length;
    server.write(group, { msgtype: 'm.text', body: 'among people' });
    await kit.incoming('among people', 'ignored');
    server.write(group, { msgtype: 'm.text', body: 'bot: you there', 'm.mentions': { user_ids: [server.userId] } });
    const answer = await until(() => server.sent[before], 'the answer in the group');
    expect(answer).to.deep.include({ room: group });
    expect(answer.content['m.relates_to']).to.have.property('m.in_reply_to');
    server.write(group, { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'x' }, { type: 'm.room.encrypted' });
    server.write(group, { algorithm: 'm.megolm.v1.aes-sha2', ciphertext: 'y' }, { type: 'm.room.encrypted' });
    const notice = await until(() => server.sent[before + 1], 'the notice');
    expect(notice.content.msgtype).to.equal('m.notice');
    await setUp({ allowed_rooms: [group] });
    await kit.inState('matrix', 'connected');
    server.invite('!other:example.org');
    await until(() => (server.left.has('!other:example.org') ? true : undefined), 'the other room is left');
    server.write(ROOM, 'not any more');
    server.write(group, { msgtype: 'm.text', body: 'bot: still there', 'm.mentions': { user_ids: [server.userId] } });
    await kit.incoming('bot: still there', 'answered');
    expect(kit.asked('not any more')).to.equal(0);
  });

  it('X4 a transaction is trusted for half an hour', () => {
    expect([matrix.isKeyed, matrix.keyedForMs]).to.deep.equal([true, 1_800_000]);
  });

  it('C2 a revoked token is a state with what to do, and a room that is no room is refused', async () => {
    expect((await kit.owner.expect(200, 'POST', '/api/channels/matrix/test')).body).to.deep.include({ status: 'ok', message: `The homeserver knows the bot as ${server.userId}, in 2 rooms.` });
    await kit.configure('matrix', { homeserver_url: server.url, access_token_env: 'another' });
    await kit.inState('matrix', 'failing');
    const shown = await kit.channel('matrix');
    expect(shown.last_error).to.contain('M_UNKNOWN_TOKEN');
    expect(JSON.stringify(shown)).not.to.contain(TOKEN);
    const { body } = await kit.owner.expect(400, 'POST', '/api/channels/matrix/configure', { fields: { homeserver_url: 'matrix', access_token_env: 'x' } });
    expect(body.error).to.contain('homeserver_url');
  });
});
