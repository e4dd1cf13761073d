/** Answers of jobs that go to chats and mailboxes, with platforms that speak their own protocols. */
import { createHash } from 'node:crypto';
import { type TestMailServer, startMailServer } from '@svc/fixtures/channels/mail-server';
import { type NtfyServer, startNtfyServer } from '@svc/fixtures/channels/ntfy-server';
import { startTelegramServer, type TelegramServer } from '@svc/fixtures/channels/telegram-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';

const TOKEN = '55:jobs';
const ALICE_KEY = 'to-chats-alice-key';
const ALICE_CHAT = 21;
const OWN = 'bot@mail.test';
const PASSWORD = 'four secret words 77';
const OWNER_KEY = 'to-chats-root-key';

interface Delivered {
  readonly to: string;
  readonly status: string;
  readonly reason: string | null;
}

interface FireBody {
  readonly status: string;
  readonly output: string | null;
  readonly delivered: string | null;
  readonly deliveries: readonly Delivered[];
}

describe('answers of jobs that go to chats', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let owner: TestHttp;
  let alice: TestHttp;
  let telegram: TelegramServer;
  let ntfy: NtfyServer;
  let mail: TestMailServer;
  let hers: string;

  before(async () => {
    [telegram, ntfy, mail] = await Promise.all([startTelegramServer(TOKEN), startNtfyServer(), startMailServer({ username: OWN, password: PASSWORD })]);
    const hash = createHash('sha256').update(ALICE_KEY).digest('hex');
    const users = `[[users]]\nname = "alice"\nrole = "user"\napi_key_hash = "sha256:${hash}"\nchannel_bindings = { telegram = "${ALICE_CHAT}" }\n`;
    world = await bootWithModel(() => ({ text: 'good news' }), { config: `api_key = "${OWNER_KEY}"\n${OPEN_RATE}${users}[capabilities]\nuser = ["file_system", "channels_send"]\n`, key: OWNER_KEY });
    [owner, alice] = [world.http, world.kernel.as(ALICE_KEY)];
    hers = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'hers', capabilities: { tools: ['cron_create', 'schedule_create'] } } })).body.agent_id;
    await configure('telegram', { bot_token_env: TOKEN, api_url: telegram.url });
    await configure('ntfy', { topic: 'jobs', server_url: ntfy.url });
    await configure('email', { username: OWN, password_env: PASSWORD, imap_host: '127.0.0.1', imap_port: mail.imapPort, smtp_host: '127.0.0.1', smtp_port: mail.smtpPort, security: 'none' });
  });
  after(async () => {
    await stopModelKernels();
    await Promise.all([telegram.close(), ntfy.close(), mail.close()]);
  });

  const configure = (name: string, fields: object) => owner.expect(200, 'POST', `/api/channels/${name}/configure`, { fields });
  const until = async <T>(look: () => Promise<T | undefined> | T | undefined, what: string): Promise<T> => {
    for (let tries = 0; tries < 800; tries += 1) {
      const found = await look();
      if (found !== undefined) return found;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
    throw new Error(`it never came: ${what}`);
  };
  const bodyOf = (fields: object) => ({ name: 'News', schedule: 'every 1h', prompt: 'what is new?', ...fields });
  const job = async (fields: object, http = owner): Promise<string> => (await http.expect(200, 'POST', '/api/cron/jobs', bodyOf(fields))).body.job_id;
  const newestFire = async (id: string, http = owner): Promise<FireBody> => (await http.expect(200, 'GET', `/api/cron/jobs/${id}/fires`)).body.fires[0];
  const why = async (id: string, http = owner): Promise<string> => (await http.expect(200, 'GET', `/api/cron/jobs/${id}/status`)).body.why;
  /** Runs it, and answers with its fire once nothing is on its way. */
  const ran = async (id: string, http = owner): Promise<FireBody> => {
    await http.expect(200, 'POST', `/api/schedules/${id}/run`);
    return until(async () => {
      const fire = await newestFire(id, http);
      return fire.deliveries.length > 0 && fire.deliveries.every(({ status }) => status !== 'waiting') ? fire : undefined;
    }, 'the end of all deliveries');
  };
  const refused = async (status: number, fields: object, http = owner): Promise<string> => (await http.expect(status, 'POST', '/api/cron/jobs', bodyOf(fields))).body.code;

  it('T1 T2 are refused by name where nothing could be sent, and where somebody may not', async () => {
    const mine = { agent_id: world.agent.name };
    expect(await refused(409, { ...mine, delivery: 'slack:C1' })).to.equal('channels_not_configured');
    expect(await refused(404, { ...mine, delivery: 'nowhere:1' })).to.equal('channels_not_found');
    expect(await refused(400, { ...mine, delivery: 'telegram' })).to.equal('channels_no_recipient');
    expect(await refused(400, { ...mine, delivery: 'to whom it may concern' })).to.equal('schedules_bad_target');
    expect(await refused(400, { ...mine, delivery_targets: ['email'] })).to.equal('schedules_bad_target');
    expect(await refused(400, { prompt: undefined, action: { kind: 'system_event', text: 'x' }, delivery: 'last_channel' })).to.equal('schedules_unsupported');
    for (const delivery of ['ntfy', 'email:ada@home.test', { kind: 'channel', channel_type: 'telegram', recipient: '7' }])
      expect(await refused(403, { agent_id: hers, delivery }, alice), JSON.stringify(delivery)).to.equal('schedules_channel_denied');
    const granted = (await alice.expect(201, 'POST', '/api/agents', { manifest: { name: 'granted', capabilities: { channels_send: ['ntfy'] } } })).body.agent_id;
    expect(await refused(403, { agent_id: granted, delivery: 'telegram:7' }, alice)).to.equal('schedules_channel_denied');
    const id = await job({ agent_id: granted, delivery: 'ntfy' }, alice);
    expect((await alice.expect(403, 'PUT', `/api/cron/jobs/${id}`, { agent_id: hers })).body.code, 'another agent has other rights').to.equal('schedules_channel_denied');
    await alice.expect(200, 'DELETE', `/api/agents/${granted}`);
  });

  it('E1 go to chats and by mail once, and are delivered when the platform took them', async () => {
    const id = await job({
      agent_id: world.agent.name,
      delivery: { kind: 'channel', channel_type: 'telegram', recipient: '7' },
      delivery_targets: ['ntfy', { kind: 'email', to: 'ada@home.test', subject_template: 'Today: {job}' }],
    });
    const shown = (await owner.expect(200, 'GET', `/api/schedules/${id}`)).body;
    expect([shown.delivery, shown.delivery_targets[0]]).to.deep.equal([
      { kind: 'channel', channel: 'telegram', to: '7' },
      { kind: 'channel', channel: 'ntfy' },
    ]);
    const fire = await ran(id);
    expect(fire).to.include({ status: 'ok', delivered: '3/3' });
    expect(fire.deliveries.map(({ to, status, reason }) => [to, status, reason])).to.deep.equal([
      ['telegram:7', 'sent', null],
      ['ntfy', 'sent', null],
      ['email:ada@home.test', 'sent', null],
    ]);
    expect(telegram.sent.map(({ chat_id: chat, text }) => [String(chat), text])).to.deep.equal([['7', 'good news']]);
    expect(ntfy.messages.map(({ message }) => message)).to.deep.equal(['good news']);
    expect([mail.sent.length, mail.sent[0]?.to, mail.sent[0]?.raw.includes('Subject: Today: News')]).to.deep.equal([1, ['ada@home.test'], true]);
    expect(await why(id)).to.contain('3/3 targets took its answer.');
  });

  it('E4 say why a platform did not take them', async () => {
    telegram.fail('sendMessage', { code: 400, description: 'Bad Request: chat not found' });
    const id = await job({ agent_id: world.agent.name, delivery: 'telegram:404404' });
    const { delivered, deliveries } = await ran(id);
    expect([delivered, deliveries[0]?.status]).to.deep.equal(['0/1', 'failed']);
    expect(deliveries[0]?.reason).to.contain('chat not found');
    expect(await why(id)).to.match(/0\/1 targets took its answer\. To telegram:404404 it did not arrive: .*chat not found/);
  });

  it('the last channel is where the person wrote to the agent, and nobody’s before that', async () => {
    const id = await job({ agent_id: hers, delivery: 'last_channel' }, alice);
    const [before] = (await ran(id, alice)).deliveries;
    expect([before?.status, before?.reason]).to.deep.equal(['failed', 'nobody has written to the agent in a chat yet']);
    const from = telegram.sent.length;
    telegram.write('hello', { chat: ALICE_CHAT });
    await until(() => (telegram.sent.length > from ? true : undefined), 'the answer in the chat');
    expect((await ran(id, alice)).delivered).to.equal('1/1');
    expect(telegram.sent.slice(from).map(({ chat_id: chat }) => Number(chat))).to.deep.equal([ALICE_CHAT, ALICE_CHAT]);
    // A guest's, whose messages belong to the owner of the channel.
    const ofOwner = await job({ agent_id: world.agent.name, delivery: 'last_channel' });
    ntfy.publish('jobs', 'hello from a sensor');
    await until(() => (ntfy.messages.at(-1)?.message === 'good news' && ntfy.messages.at(-2)?.message === 'hello from a sensor' ? true : undefined), 'the answer to the sensor');
    const { deliveries } = await ran(ofOwner);
    expect([deliveries[0]?.status, ntfy.messages.at(-2)?.message]).to.deep.equal(['sent', 'good news']);
  });

  it('agents name the chat that they are in, and others only where they may', async () => {
    const say = async (args: object): Promise<string> => {
      world.model.script([
        {
          toolCalls: [
            { name: 'cron_create', args: { name: 'Reminder', schedule: { kind: 'every', every_secs: 3_600 }, action: { kind: 'agent_turn', message: 'the time has come' }, ...args } },
          ] as never,
        },
        { text: 'done so' },
      ]);
      const [from, sent] = [world.model.requests.length, telegram.sent.length];
      telegram.write('remind me', { chat: ALICE_CHAT });
      await until(() => (telegram.sent.length > sent ? true : undefined), 'the answer');
      return JSON.stringify(world.model.requests.slice(from).map(({ body }) => body.messages.at(-1)));
    };
    expect(await say({ delivery: { kind: 'last_channel' } })).to.contain('next ');
    const { jobs } = (await alice.expect(200, 'GET', '/api/cron/jobs')).body;
    expect(jobs.find(({ name }: { name: string }) => name === 'Reminder').delivery).to.deep.equal({ kind: 'channel', channel: 'telegram', to: String(ALICE_CHAT) });
    expect(await say({ delivery: 'telegram:999' })).to.contain('channels_send');
    expect((await alice.expect(200, 'GET', '/api/cron/jobs')).body.jobs.filter(({ name }: { name: string }) => name === 'Reminder')).to.have.length(1);
    world.model.script(() => ({ text: 'good news' }));
  });

  it('wait while channels is off, and are refused then', async () => {
    const id = await job({ agent_id: world.agent.name, delivery: 'ntfy' });
    const from = ntfy.messages.length;
    await owner.expect(200, 'POST', '/api/extensions/channels/disable');
    expect(await refused(400, { agent_id: world.agent.name, delivery: 'ntfy' })).to.equal('schedules_no_channels');
    await owner.expect(200, 'POST', `/api/schedules/${id}/run`);
    const waiting = await until(async () => (await newestFire(id)).deliveries.find(({ reason }) => reason !== null), 'the reason');
    expect([waiting.status, waiting.reason]).to.deep.equal(['waiting', 'the extension channels is off']);
    await owner.expect(200, 'POST', '/api/extensions/channels/enable');
    await until(async () => ((await newestFire(id)).delivered === '1/1' ? true : undefined), 'the delivery');
    expect(ntfy.messages.slice(from).map(({ message }) => message)).to.deep.equal(['good news']);
  });
});
