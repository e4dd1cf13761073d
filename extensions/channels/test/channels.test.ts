/** Channels over HTTP, with a model on its wire and platforms that speak their own protocols. */
import { createHash, createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startMosquitto, type Broker } from '@svc/fixtures/channels/mosquitto';
import { startNtfyServer, type NtfyServer } from '@svc/fixtures/channels/ntfy-server';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { expect } from 'chai';
import mqtt, { type MqttClient } from 'mqtt';

const KEYS = { owner: 'channels-root-key', alice: 'channels-alice-key' };
const TOKEN = '123456:ABC-DEF_token';
const SECRET = 'a long and random secret';
const USERS = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${createHash('sha256').update(KEYS.alice).digest('hex')}"\n`;

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Delivery {
  readonly id: string;
  readonly direction: string;
  readonly channel: string;
  readonly chat: string;
  readonly status: string;
  readonly message: string;
  readonly reason: string | null;
  readonly session_id: string | null;
  readonly run_id: string | null;
}

describe('channels', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  let receiver: Server;
  let callback = '';
  let received: Received[] = [];
  let answers: number[] = [];
  let telegram: TelegramServer;
  let ntfy: NtfyServer;
  let broker: Broker;
  const folder = mkdtempSync(path.join(tmpdir(), 'sidecar-'));

  before(async () => {
    receiver = createServer((req, res) => {
      let body = '';
      req.on('data', (piece) => {
        body += piece;
      });
      req.on('end', () => {
        received.push({ headers: req.headers, body });
        res.writeHead(answers.shift() ?? 200).end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    callback = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/answers`;
    telegram = await startTelegramServer(TOKEN);
    ntfy = await startNtfyServer();
    broker = await startMosquitto(43_500 + (process.pid % 400));
    const program = path.resolve('fixtures/channels/sidecar.py');
    const sidecar = `[[sidecar_channels]]\nname = "files"\ncommand = "python3"\nargs = [${JSON.stringify(program)}]\nenv = { SIDECAR_FOLDER = ${JSON.stringify(folder)} }\ndm_policy = "respond"\n`;
    world = await bootWithModel(undefined, {
      config: `api_key = "${KEYS.owner}"\n${OPEN_RATE}[web.fetch]\nssrf_allowed_hosts = ["127.0.0.1"]\n${USERS}${sidecar}`,
      key: KEYS.owner,
    });
    owner = world.http;
    alice = world.kernel.as(KEYS.alice);
  });
  beforeEach(() => {
    received = [];
    answers = [];
  });
  after(async () => {
    await stopModelKernels();
    await Promise.all([telegram.close(), ntfy.close(), broker.close()]);
    receiver.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const until = async <T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> => {
    for (let tries = 0; tries < 600; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const configure = (name: string, body: object) => owner.expect(200, 'POST', `/api/channels/${name}/configure`, body);
  const channel = async (name: string) => (await owner.expect(200, 'GET', `/api/channels/${name}`)).body;
  const inState = (name: string, state: string) => until(async () => ((await channel(name)).state === state ? true : undefined), `${name} is ${state}`);
  const deliveries = async (query = ''): Promise<Delivery[]> => (await owner.expect(200, 'GET', `/api/channels/deliveries${query}`)).body.deliveries;
  const code = async (status: number, method: 'GET' | 'POST' | 'DELETE', at: string, body?: object): Promise<string> => (await owner.expect(status, method, at, body)).body.code;
  const hmac = (body: string): string => `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
  const write = async (message: object, headers: Record<string, string> = {}) => {
    const body = JSON.stringify(message);
    return fetch(`${world.kernel.daemon.url}/api/channels/webhook/webhook`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-webhook-signature': hmac(body), 'x-webhook-timestamp': String(Date.now()), ...headers },
      body,
    });
  };
  const asked = (text: string): number => world.model.requests.filter(({ body }) => JSON.stringify(body).includes(text)).length;

  it('A3 lists what has an adapter, and refuses by name what has none', async () => {
    const { channels, total } = (await alice.expect(200, 'GET', '/api/channels')).body;
    expect(channels.map(({ name }: { name: string }) => name)).to.include.members(['telegram', 'webhook', 'ntfy', 'mqtt', 'files']);
    expect(total).to.equal(channels.length);
    expect(channels[0]).to.deep.include({ name: 'telegram', enabled: false, has_token: false, state: 'off', connected: false });
    const platforms = (await alice.expect(200, 'GET', '/api/channels/registry')).body;
    expect(platforms.length).to.equal(44);
    const status = Object.fromEntries(platforms.map((one: { id: string; status: string }) => [one.id, one.status]));
    expect([status.telegram, status.irc, status.guilded]).to.deep.equal(['available', 'no_adapter', 'closed']);
    expect(await code(404, 'POST', '/api/channels/irc/configure', { fields: { server: 'x', nick: 'y' } })).to.equal('channels_no_adapter');
    expect(await code(404, 'GET', '/api/channels/nothing')).to.equal('channels_not_found');
    expect(await code(409, 'POST', '/api/channels/ntfy/test', {})).to.equal('channels_not_configured');
    const error = async (body: object): Promise<string> => (await owner.expect(400, 'POST', '/api/channels/mqtt/configure', body)).body.error;
    expect(await error({ fields: { broker: 'x' } }))
      .to.contain('broker')
      .and.contain('broker_url');
    expect(await error({ fields: { broker_url: broker.url, topic_in: 'a/#' } })).to.contain('topic_out is missing');
    expect(await error({ fields: { broker_url: broker.url, topic_in: 'a/#', topic_out: 'a/b' } })).to.contain('answers would be answered');
    await alice.expect(403, 'POST', '/api/channels/ntfy/configure', { fields: { topic: 'x' } });
  });

  it('W1 W2 W3 a signed webhook is answered at its callback, once, whatever comes twice or forged', async () => {
    await configure('webhook', { fields: { secret_env: SECRET, callback_url: callback, listen_port: 8461 } });
    const shown = await channel('webhook');
    expect(shown).to.deep.include({ state: 'listening', has_token: true, webhook_endpoint: '/api/channels/webhook/webhook' });
    expect(shown.warnings[0]).to.contain('listen_port');
    expect(JSON.stringify(shown)).not.to.contain(SECRET);
    const message = { sender_id: 'door', sender_name: 'Door', message: 'who rang', metadata: { message_id: 'm-1' } };
    expect([await (await write(message)).json(), await (await write(message)).json()]).to.deep.equal([{ status: 'accepted' }, { status: 'duplicate' }]);
    const { headers, body } = await until(() => received[0], 'the answer');
    expect(headers['x-webhook-signature']).to.equal(hmac(body));
    expect(JSON.parse(body)).to.deep.include({ recipient_id: 'door', recipient_name: 'Door', sender_id: 'svc' });
    expect(asked('who rang')).to.equal(1);
    expect((await write(message, { 'x-webhook-signature': hmac('other') })).status).to.equal(403);
    expect((await write(message, { 'x-webhook-timestamp': String(Date.now() - 600_000) })).status).to.equal(403);
    expect((await write(message, { 'x-webhook-timestamp': 'now' })).status).to.equal(400);
    expect(await (await write({ sender_id: 'door', message: '' })).json()).to.deep.equal({ status: 'ignored' });
    for (const size of [300_000, 5_000_000]) expect((await write({ sender_id: 'door', message: 'x'.repeat(size) })).status).to.equal(413);
    expect(received.length).to.equal(1);
    // No database has to store what PostgreSQL refuses.
    await write({ sender_id: 'a\0b', message: 'zero' });
    await until(async () => (await deliveries('?direction=inbound')).find(({ chat }) => chat === 'a\u{fffd}b'), 'the sender');
    await until(() => received[1], 'its answer');
    received.length = 0;
  });

  it('O2 O4 keeps the order of a chat while it tries again, and a failed message can be sent again', async () => {
    answers = [503];
    await write({ sender_id: 'order', message: 'one' });
    await write({ sender_id: 'order', message: 'two' });
    await until(() => (received.length >= 3 ? true : undefined), 'three attempts');
    const ids = received.map(({ headers }) => headers['idempotency-key']);
    expect(ids[0], 'the first is tried again before the second').to.equal(ids[1]);
    expect(ids[2]).not.to.equal(ids[0]);
    answers = [400];
    await write({ sender_id: 'refused', message: 'three' });
    const failed = await until(async () => (await deliveries('?status=failed'))[0], 'a failed delivery');
    expect(failed).to.deep.include({ direction: 'outbound', channel: 'webhook' });
    expect(failed.reason).to.contain('400');
    expect((await alice.expect(404, 'POST', `/api/channels/deliveries/${failed.id}/retry`)).body.code).to.equal('channels_delivery_not_found');
    const { delivery_id: again } = (await owner.expect(200, 'POST', `/api/channels/deliveries/${failed.id}/retry`)).body;
    await until(async () => (await deliveries('?status=sent')).find(({ id }) => id === again), 'the retry');
    expect(await code(409, 'POST', `/api/channels/deliveries/${again}/retry`)).to.equal('channels_not_retryable');
    await owner.expect(200, 'DELETE', `/api/channels/deliveries/${again}`);
    expect(await code(404, 'DELETE', `/api/channels/deliveries/${again}`)).to.equal('channels_delivery_not_found');
  });

  it('I4 one chat is one conversation, text from outside begins no command, and /new begins another', async () => {
    const session = async (message: string): Promise<Delivery> => {
      await write({ sender_id: 'talker', message });
      return until(async () => (await deliveries('?direction=inbound')).find((one) => one.message === message && one.status === 'answered'), message);
    };
    const first = await session('hello there');
    const second = await session('/agents');
    expect(second.session_id, 'a slash is text of the message').to.equal(first.session_id);
    expect(first.session_id).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-5/);
    expect(asked('/agents')).to.equal(1);
    await session('/new');
    expect((await session('hello again')).session_id).not.to.equal(first.session_id);
    const { cause } = (await owner.expect(200, 'GET', `/api/runs/${first.run_id}`)).body;
    expect(cause).to.deep.include({ kind: 'channel', id: 'webhook' });
  });

  it('B1 bindings say who answers, by position or id', async () => {
    const other = (await owner.expect(201, 'POST', '/api/agents', { manifest: { name: 'doorman' } })).body.agent_id;
    const add = async (match_rule: object, agent = 'doorman') => (await owner.expect(200, 'POST', '/api/bindings', { agent, match_rule })).body;
    await add({ channel: 'webhook' }, world.agent.name);
    const { id } = await add({ channel: 'webhook', peer_id: 'gate' });
    expect((await add({ channel: 'slack' }, 'nobody')).warnings[0]).to.contain('nobody');
    expect(await code(400, 'POST', '/api/bindings', { agent: 'doorman', match_rule: {} })).to.equal('channels_bad_binding');
    await write({ sender_id: 'gate', message: 'at the gate' });
    const row = await until(async () => (await deliveries('?direction=inbound')).find((one) => one.message === 'at the gate' && one.status === 'answered'), 'the answer at the gate');
    expect((row as unknown as { agent_id: string }).agent_id).to.equal(other);
    const listed = (await owner.expect(200, 'GET', '/api/bindings')).body.bindings;
    expect(listed.map((one: { index: number; agent: string }) => [one.index, one.agent])).to.deep.equal([
      [0, world.agent.name],
      [1, 'doorman'],
      [2, 'nobody'],
    ]);
    expect((await owner.expect(200, 'DELETE', `/api/bindings/${id}`)).body).to.deep.include({ status: 'removed', index: 1 });
    expect((await owner.expect(200, 'DELETE', '/api/bindings/1')).body).to.deep.include({ index: 1 });
    await owner.expect(200, 'DELETE', '/api/bindings/0');
    expect(await code(404, 'DELETE', '/api/bindings/0')).to.equal('channels_binding_not_found');
  });

  it('T1 T2 T3 T4 S1 S2 Telegram: 409 and a revoked token are states, text is HTML or plain, senders are allowed by code, and nothing is received twice', async () => {
    telegram.fail('getUpdates', { code: 409, description: 'Conflict: terminated by other getUpdates request' });
    await configure('telegram', { token: TOKEN, fields: { api_url: telegram.url } });
    await inState('telegram', 'failing');
    expect((await channel('telegram')).last_error).to.contain('409');
    await inState('telegram', 'connected');
    const update = telegram.write('hello bot');
    const asking = await until(() => telegram.sent[0], 'the answer with a code');
    const [, given = ''] = /code: (\w{8})/.exec(asking.text) ?? [];
    expect(asked('hello bot')).to.equal(0);
    telegram.write('a second try');
    await until(async () => (await deliveries('?status=ignored')).find(({ message }) => message === 'a second try'), 'the second message is ignored');
    expect(await code(404, 'POST', '/api/channels/senders/allow', { code: 'ABCDEFGH' })).to.equal('channels_no_code');
    expect((await owner.expect(200, 'POST', '/api/channels/senders/allow', { code: given.toLowerCase() })).body).to.deep.include({ sender: '7', state: 'allowed' });
    expect(await code(404, 'POST', '/api/channels/senders/allow', { code: given })).to.equal('channels_no_code');
    telegram.write('I am a bot', { isBot: true });
    telegram.fail('sendMessage', { code: 429, description: 'Too Many Requests', retryAfter: 1 }, { code: 400, description: "Bad Request: can't parse entities: unsupported start tag" });
    const last = telegram.write('what is up');
    await until(() => telegram.sent[1], 'the answer');
    expect([telegram.sent[0]?.parse_mode, telegram.sent[1]?.parse_mode]).to.deep.equal(['HTML', undefined]);
    expect([asked('what is up'), asked('I am a bot'), asked('a second try')]).to.deep.equal([1, 0, 0]);
    telegram.repeat(last);
    await until(() => (telegram.offset > last + 1 ? true : undefined), 'the repeated update is acknowledged');
    expect([telegram.sent.length, asked('what is up')]).to.deep.equal([2, 1]);
    expect(telegram.offset).to.be.greaterThan(update);
    expect((await owner.expect(200, 'POST', '/api/channels/telegram/test', { chat_id: '7', message: 'a test' })).body).to.deep.include({ status: 'ok' });
    expect(telegram.sent.at(-1)).to.deep.include({ chat_id: 7, text: 'a test' });
    const senders = (await owner.expect(200, 'GET', '/api/channels/senders')).body.senders;
    expect(senders.map((one: { sender: string }) => one.sender)).to.deep.equal(['7']);
    await alice.expect(403, 'GET', '/api/channels/senders');
    await owner.expect(200, 'DELETE', `/api/channels/senders/${senders[0].id}`);
    telegram.fail('getUpdates', { code: 401, description: 'Unauthorized' });
    expect((await owner.expect(200, 'POST', '/api/channels/reload')).body.started).to.include('telegram');
    await inState('telegram', 'failing');
    expect((await channel('telegram')).last_error)
      .to.contain('does not know the token (401)')
      .and.not.contain(TOKEN);
    await inState('telegram', 'connected');
    await owner.expect(200, 'DELETE', '/api/channels/telegram/configure');
    expect(await channel('telegram')).to.deep.include({ state: 'off', has_token: false, configured: false });
  });

  it('N1 N2 ntfy: what came while it was down is received, and own messages are not answered', async () => {
    await configure('ntfy', { fields: { topic: 'my-topic', server_url: ntfy.url } });
    await inState('ntfy', 'connected');
    ntfy.publish('my-topic', 'ping from the app');
    await until(() => ntfy.messages[1], 'the answer');
    ntfy.drop();
    ntfy.publish('my-topic', 'while you were away');
    await until(() => ntfy.messages[3], 'the answer to what came meanwhile');
    expect([asked('ping from the app'), ntfy.messages.length, ntfy.messages[1]?.tags]).to.deep.equal([2, 4, ['svc-answer']]);
    expect((await owner.expect(200, 'POST', '/api/channels/ntfy/test')).body.status).to.equal('ok');
    await owner.expect(200, 'DELETE', '/api/channels/ntfy/configure');
  });

  it('M1 M3 MQTT: answers on its topic or the response topic, also what came while it was away', async () => {
    await configure('mqtt', { fields: { broker_url: broker.url, topic_in: 'home/ask', topic_out: 'home/answer' } });
    await inState('mqtt', 'connected');
    const client: MqttClient = await mqtt.connectAsync(broker.url, { protocolVersion: 5 });
    const messages: Array<{ topic: string; text: string; correlation: string | undefined }> = [];
    client.on('message', (topic, payload, packet) => messages.push({ topic, text: String(payload), correlation: packet.properties?.correlationData?.toString() }));
    await client.subscribeAsync(['home/answer', 'me/reply'], { qos: 1 });
    await client.publishAsync('home/ask', 'is it warm', { qos: 1 });
    expect((await until(() => messages[0], 'the answer')).topic).to.equal('home/answer');
    await client.publishAsync('home/ask', JSON.stringify({ sender_id: 's1', message: 'and cold', message_id: '9' }), {
      qos: 1,
      properties: { responseTopic: 'me/reply', correlationData: Buffer.from('c1') },
    });
    expect(await until(() => messages[1], 'the reply')).to.deep.include({ topic: 'me/reply', correlation: 'c1' });
    await client.publishAsync('home/ask', JSON.stringify({ sender_id: 's1', message: 'and cold', message_id: '9' }), { qos: 1 });
    await broker.restart();
    await until(() => (client.connected ? true : undefined), 'the client is back');
    await client.publishAsync('home/ask', 'after the restart', { qos: 1 });
    await until(() => messages[2], 'the answer after the restart');
    expect([asked('is it warm') > 0, messages.length]).to.deep.equal([true, 3]);
    expect((await owner.expect(200, 'POST', '/api/channels/mqtt/test')).body.status).to.equal('ok');
    await client.endAsync();
    await owner.expect(200, 'DELETE', '/api/channels/mqtt/configure');
  });

  it('D1 D2 D3 a sidecar is given its values, survives garbage and comes back when it dies', async () => {
    const saved = (await owner.expect(200, 'POST', '/api/channels/sidecar/files/configure', { values: { SIDECAR_TOKEN: 'for the child alone', SIDECAR_FOLDER: 'ignored' } })).body;
    expect(saved).to.deep.include({ status: 'saved', restart_required: false, shadowed_secrets: ['SIDECAR_FOLDER'] });
    await owner.expect(404, 'POST', '/api/channels/sidecar/nothing/configure', { values: {} });
    await inState('files', 'connected');
    const outs = (): string[] => readdirSync(folder).filter((name) => /^out-[\d-]+$/.test(name));
    writeFileSync(path.join(folder, 'in-1'), 'garbage');
    writeFileSync(path.join(folder, 'in-2'), 'hello from a file');
    const [first = ''] = await until(() => (outs().length > 0 ? outs() : undefined), 'the answer in a file');
    expect(JSON.parse(readFileSync(path.join(folder, first), 'utf8'))).to.deep.include({ channel_id: 'room', token: 'for the child alone' });
    writeFileSync(path.join(folder, 'in-3'), 'die');
    await inState('files', 'failing');
    expect((await channel('files')).last_error).to.contain('told to die');
    rmSync(path.join(folder, 'in-3'));
    await inState('files', 'connected');
    writeFileSync(path.join(folder, 'in-4'), 'hello after that');
    await until(() => (outs().length > 1 ? true : undefined), 'the second answer');
    expect(asked('hello from a file') > 0, 'the first is asked once').to.equal(true);
    expect(outs().length).to.equal(2);
  });

  it('POST /api/comms/send reaches a chat of a channel, and says where nobody is named', async () => {
    const { body } = await owner.expect(200, 'POST', '/api/comms/send', { to: 'webhook:gate', content: 'the backup is done' });
    expect(body).to.deep.include({ ok: true, status: 'queued', response: null, thread_id: null });
    const { body: sent } = await until(() => received[0], 'the message');
    expect(JSON.parse(sent)).to.deep.include({ recipient_id: 'gate', message: 'the backup is done' });
    await until(async () => (await deliveries('?status=sent&direction=outbound')).find(({ message }) => message === 'the backup is done'), 'the delivery is sent');
    expect(await code(409, 'POST', '/api/comms/send', { to: 'telegram:5', content: 'x' })).to.equal('channels_not_configured');
    expect(await code(404, 'POST', '/api/comms/send', { to: 'nowhere:5', content: 'x' })).to.equal('channels_not_found');
    expect(await code(400, 'POST', '/api/comms/send', { to: 'webhook:gate', content: 'x', thread_id: body.message_id })).to.equal('comms_no_thread');
    expect(await code(404, 'POST', '/api/comms/send', { to: 'telegram5', content: 'x' })).to.equal('comms_no_agent');
  });

  it('channel_send needs its capability, and WhatsApp has no gateway', async () => {
    const { body } = await owner.expect(200, 'GET', '/api/tools/channel_send');
    expect(body.name).to.equal('channel_send');
    expect((await owner.expect(200, 'POST', '/api/channels/whatsapp/qr/start')).body).to.deep.include({ available: false, connected: false });
    expect(await code(404, 'GET', '/api/channels/whatsapp/qr/status')).to.equal('channels_no_qr_session');
  });
});
