/** Slack, against a server that plays its Web API and socket mode with their faults. It proves nothing of Slack's own scopes. */
import { createHmac } from 'node:crypto';
import { SLACK_BOT, type SlackServer, startSlackServer } from '@svc/fixtures/channels/slack-server';
import { bootWithModel, type ModelKernel, stopModelKernels } from '@svc/test/clients/model-kernel';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { expect } from 'chai';
import { textOf } from '../src/adapters/slack/messages.js';
import { numberedAnswers, until } from './channel-kit.js';

const KEY = 'slack-root-key';
const TOKENS = { app: 'xapp-1-token-of-the-tests', bot: 'xoxb-1-token-of-the-tests' };

interface Delivery {
  readonly status: string;
  readonly message: string;
  readonly reason: string | null;
  readonly sender: string | null;
  readonly thread: string | null;
  readonly session_id: string | null;
}

describe('channels: slack', function () {
  this.timeout(60_000);
  let world: ModelKernel;
  let owner: TestHttp;
  let slack: SlackServer;

  before(async () => {
    slack = await startSlackServer(TOKENS);
    world = await bootWithModel(numberedAnswers, { config: `api_key = "${KEY}"\n${OPEN_RATE}`, key: KEY });
    owner = world.http;
    await configure();
  });
  after(async () => {
    await stopModelKernels();
    await slack.close();
  });

  const configure = (more: object = {}) =>
    owner.expect(200, 'POST', '/api/channels/slack/configure', { fields: { app_token_env: TOKENS.app, bot_token_env: TOKENS.bot, api_url: slack.url, dm_policy: 'respond', ...more } });
  const channel = async () => (await owner.expect(200, 'GET', '/api/channels/slack')).body;
  const inState = (state: string) => until(async () => (await channel()).state === state, `slack is ${state}`);
  const deliveries = async (query: string): Promise<Delivery[]> => (await owner.expect(200, 'GET', `/api/channels/deliveries?channel=slack&${query}`)).body.deliveries;
  const inbound = (message: string, status: string) => until(async () => (await deliveries(`direction=inbound&status=${status}`)).find((one) => one.message === message), `${message} is ${status}`);
  const asked = (text: string): number => world.model.requests.filter(({ body }) => JSON.stringify(body.messages.at(-1)).includes(text)).length;
  const posts = (count: number) => until(() => slack.posted.length >= count, `${count} posts`);

  it('reads a message of beginnings without an end in a moment', () => {
    const begun = Date.now();
    expect(textOf({ text: `${'<'.repeat(60_000)}@U1|Ada> and <#C1|general>` }, { userId: 'U2' })).to.match(/^<+@Ada and #general$/);
    expect(Date.now() - begun).to.be.lessThan(500);
  });

  it('K1 Y1 answers in private, acknowledges each envelope, and answers once what comes twice', async () => {
    await inState('connected');
    const ts = slack.write('hello &amp; <https://example.com|welcome>');
    await posts(1);
    slack.repeat(ts);
    await until(() => slack.acknowledged.length === 2, 'both envelopes are acknowledged');
    slack.write('I am a bot', { isBot: true });
    slack.write('the next one');
    await posts(2);
    expect(slack.posted[0]).to.deep.include({ channel: 'D1' });
    expect([asked('hello & welcome (https://example.com)'), asked('I am a bot'), slack.posted.length]).to.deep.equal([1, 0, 2]);
    expect((await inbound('the next one', 'answered')).sender).to.equal('Ada');
    expect((await owner.expect(200, 'POST', '/api/channels/slack/test', { chat_id: 'C1', message: 'a test' })).body).to.deep.include({ status: 'ok' });
    expect(slack.posted.at(-1)).to.deep.include({ channel: 'C1', text: 'a test' });
    expect(JSON.stringify(await channel()))
      .not.to.contain(TOKENS.app)
      .and.not.to.contain(TOKENS.bot);
  });

  it('L1 a mention in a channel begins a thread, and what is written there goes on without one', async () => {
    const before = slack.posted.length;
    slack.write('just chatting', { at: 'channel' });
    const ts = slack.write('what is new', { at: 'channel', mention: true });
    await posts(before + 1);
    expect(slack.posted.at(-1)).to.deep.include({ channel: 'C1', thread_ts: ts });
    slack.write('tell me more', { at: 'channel', thread: ts });
    await posts(before + 2);
    const [first, second] = [await inbound('what is new', 'answered'), await inbound('tell me more', 'answered')];
    expect([first.session_id, first.thread]).to.deep.equal([second.session_id, ts]);
    expect((await inbound('just chatting', 'ignored')).reason).to.contain('not mentioned');
    expect([asked('what is new'), asked('just chatting'), slack.posted.length]).to.deep.equal([1, 0, before + 2]);
  });

  it('O4 waits as a 429 says, and fails at once where Slack knows no such channel', async () => {
    const before = slack.posted.length;
    slack.fail('chat.postMessage', { status: 429, retryAfter: 2 });
    const begun = Date.now();
    slack.write('limited');
    await posts(before + 1);
    expect(Date.now() - begun).to.be.greaterThan(2_000);
    slack.fail('chat.postMessage', { error: 'missing_scope', needed: 'chat:write' });
    slack.write('without a scope');
    expect((await until(async () => (await deliveries('direction=outbound&status=failed'))[0], 'a failed answer')).reason).to.contain('chat:write');
  });

  it('I6 a message that is deleted while its run goes on gets no answer; an edit before it counts', async () => {
    const before = slack.posted.length;
    const slow = slack.write('take your time');
    await until(() => asked('take your time') === 1, 'the model is asked');
    const edited = slack.write('fisrt');
    await inbound('fisrt', 'received');
    slack.edit(edited, 'first');
    await inbound('first', 'received');
    const begun = Date.now();
    slack.remove(slow);
    await posts(before + 1);
    expect(Date.now() - begun, 'the run was stopped').to.be.lessThan(3_500);
    expect((await inbound('take your time', 'ignored')).reason).to.equal('its sender deleted it');
    await inbound('first', 'answered');
    expect([asked('fisrt'), asked('first'), slack.posted.some(({ text }) => text.includes('too late'))]).to.deep.equal([0, 1, false]);
  });

  it('K2 opens the next connection before Slack ends the old one, and loses nothing', async () => {
    const [opened, before] = [slack.opened, slack.posted.length];
    slack.disconnect('refresh_requested');
    slack.write('on the old line');
    await until(() => slack.opened === opened + 1 && slack.connected === 2, 'two connections');
    slack.write('on the new line');
    await posts(before + 2);
    expect((await channel()).state).to.equal('connected');
    expect([asked('on the old line'), asked('on the new line')]).to.deep.equal([1, 1]);
  });

  it('Y2 what was written while the connection was away is read, in chats and in threads, and nothing older', async () => {
    await owner.expect(200, 'DELETE', '/api/channels/slack/configure');
    slack.write('before it was set up');
    await configure();
    await inState('connected');
    const before = slack.posted.length;
    const thread = slack.write('a thread', { at: 'channel', mention: true });
    await posts(before + 1);
    slack.fail('users.conversations', { status: 429, retryAfter: 1 });
    slack.drop();
    slack.write('missed in private');
    slack.write('missed in the thread', { at: 'channel', thread });
    slack.write('missed in the channel', { at: 'channel', mention: true });
    await posts(before + 4);
    expect(['missed in private', 'missed in the thread', 'missed in the channel', 'before it was set up', 'a thread'].map(asked)).to.deep.equal([1, 1, 1, 0, 1]);
  });

  it('V1 Slack calls svc where the signing secret is stored: signed, once, and nothing forged, old or without form', async () => {
    const SECRET = 'a signing secret of slack';
    await configure({ signing_secret_env: SECRET });
    await inState('connected');
    expect(await channel()).to.include({ webhook_endpoint: '/api/channels/slack/webhook' });
    expect((await owner.expect(200, 'POST', '/api/channels/slack/test')).body.message).to.contain('It calls');
    const secs = (): number => Math.floor(Date.now() / 1_000);
    const call = (body: string, { stamp = String(secs()), secret = SECRET, path: at = 'slack' } = {}) =>
      fetch(`${world.kernel.daemon.url}/api/channels/${at}/webhook`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-slack-request-timestamp': stamp, 'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${stamp}:${body}`).digest('hex')}` },
        body,
      });
    expect(await (await call(JSON.stringify({ type: 'url_verification', challenge: '3eZbrw1aB10' }))).json()).to.deep.equal({ status: 'ignored', challenge: '3eZbrw1aB10' });
    const event = (text: string, more: object = {}) => ({ type: 'message', channel: 'D1', channel_type: 'im', user: 'U1', text, ts: `${secs()}.000777`, ...more });
    const body = (text: string, more: object = {}): string => JSON.stringify({ type: 'event_callback', authorizations: [{ user_id: SLACK_BOT, is_bot: true }], event: event(text, more) });
    const before = slack.posted.length;
    const once = body('over http');
    for (const answered of [await call(once), await call(once)]) expect([answered.status, (await answered.json()).status]).to.deep.equal([200, 'accepted']);
    expect((await call(body('from a bot', { bot_id: 'B9' }))).status).to.equal(200);
    await posts(before + 1);
    await inbound('over http', 'answered');
    const refused = [
      await call(body('forged'), { secret: 'another' }),
      await call(body('out of date'), { stamp: String(secs() - 400) }),
      await call(body('when'), { stamp: 'now' }),
      await call('[]'),
      await call('no json'),
    ];
    expect(refused.map(({ status }) => status)).to.deep.equal([403, 403, 403, 400, 400]);
    expect((await call(once, { path: 'telegram' })).status).to.equal(404);
    expect(['over http', 'from a bot', 'forged', 'out of date', 'when'].map(asked)).to.deep.equal([1, 0, 0, 0, 0]);
    await owner.expect(200, 'DELETE', '/api/channels/slack/configure');
    await configure();
    await inState('connected');
  });

  it('C2 a revoked token and a socket mode that is off are states with what to do, and it comes back', async () => {
    slack.fail('apps.connections.open', { error: 'token_revoked' });
    slack.drop();
    await until(async () => (await channel()).last_error === 'Slack refused apps.connections.open: token_revoked', 'the token is said to be revoked');
    expect((await channel()).fix).to.contain('xapp-');
    await inState('connected');
    slack.disconnect('link_disabled');
    await inState('failing');
    expect((await channel()).fix).to.contain('Switch on Socket Mode');
    await inState('connected');
    slack.fail('auth.test', { error: 'account_inactive' });
    expect((await owner.expect(200, 'POST', '/api/channels/slack/test')).body).to.deep.include({ status: 'error' });
  });
});
