/** Clients that hang up: what becomes of the run that nobody waits for any more. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE, OWNER, type TestKernelOptions } from '@svc/testing';
import { type VirtualClock, virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import OpenAI from 'openai';
import { openChat } from './chat-socket.js';
import { bootWithModel, type ModelKernel, stopModelKernels, until } from './model-kernel.js';

const GRACE_MS = 2_000;
/** The daemon looks twice a second. */
const POLL_MS = 500;
const SAY = { model: 'svc:assistant', messages: [{ role: 'user' as const, content: 'hello' }] };

describe('a client that hangs up', () => {
  let clock: VirtualClock;
  let release: () => void;
  let answer: Promise<void>;

  beforeEach(() => {
    clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    answer = new Promise((resolve) => {
      release = resolve;
    });
  });
  afterEach(async () => {
    release();
    await stopModelKernels();
  });

  /** The model answers when the test says so. */
  const boot = (options: TestKernelOptions = {}): Promise<ModelKernel> =>
    bootWithModel(
      async () => {
        await answer;
        return { text: 'the answer' };
      },
      { clock, ...options },
    );
  const activeRuns = async (svc: ModelKernel): Promise<number> => (await svc.http.expect(200, 'GET', '/api/status')).body.active_agent_count;
  const followers = async (svc: ModelKernel): Promise<number> => (await svc.http.expect(200, 'GET', '/api/status')).body.svc_stream_followers;
  const said = async (svc: ModelKernel): Promise<string> => JSON.stringify((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages);
  /** Until the daemon has seen that nobody is there. */
  const allLeft = (svc: ModelKernel) => until(async () => (await followers(svc)) === 0);

  /** Sends, waits until the model is asked, and hangs up. */
  const hangUp = async (svc: ModelKernel, path: string, body: object): Promise<void> => {
    const cut = new AbortController();
    const asked = svc.model.requests.length;
    const sent = svc.http.raw('POST', path, body, {}, cut.signal).catch(() => undefined);
    await until(() => svc.model.requests.length > asked);
    cut.abort();
    await sent;
    await allLeft(svc);
  };
  const expectCancelled = async (svc: ModelKernel): Promise<void> => {
    await clock.advance(GRACE_MS - POLL_MS);
    expect(await activeRuns(svc)).to.equal(1);
    await clock.advance(2 * POLL_MS);
    await until(async () => (await activeRuns(svc)) === 0);
    release();
    expect(await said(svc)).to.not.contain('the answer');
  };
  const expectFinished = async (svc: ModelKernel): Promise<void> => {
    for (let looks = 0; looks < 20; looks++) await clock.advance(GRACE_MS);
    expect(await activeRuns(svc)).to.equal(1);
    release();
    await until(async () => (await said(svc)).includes('the answer'));
  };
  const messageOf = (svc: ModelKernel): string => `/api/agents/${svc.agent.id}/message`;

  for (const stream of [false, true])
    it(`on /v1 ends its run 2 s later${stream ? ', streamed' : ''}`, async () => {
      const svc = await boot();
      await hangUp(svc, '/v1/chat/completions', { ...SAY, stream });
      await expectCancelled(svc);
    });

  it('on /v1 leaves the agent free for the next question, the same one too', async () => {
    const svc = await boot();
    await hangUp(svc, '/v1/chat/completions', SAY);
    await expectCancelled(svc);
    const client = new OpenAI({ baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', maxRetries: 0 });
    for (const count of ['0', '1']) {
      const completion = await client.chat.completions.create(SAY, { headers: { 'x-stainless-retry-count': count } });
      expect(completion.choices[0]?.message.content).to.equal('the answer');
    }
  });

  it('on /v1 and sends again in time gets the run that goes on', async () => {
    const svc = await boot();
    await hangUp(svc, '/v1/chat/completions', SAY);
    await clock.advance(GRACE_MS - POLL_MS);
    const again = svc.http.post('/v1/chat/completions', SAY, { 'x-stainless-retry-count': '1' });
    await until(async () => (await followers(svc)) === 1);
    await clock.advance(10 * GRACE_MS);
    release();
    expect((await again).body.choices[0].message.content).to.equal('the answer');
    expect(svc.model.requests).to.have.length(1);
  });

  it('on /v1 while its question waits its turn is not asked for any more', async () => {
    const svc = await boot();
    const first = svc.http.post(messageOf(svc), { message: 'first' });
    await until(() => svc.model.requests.length === 1);
    const cut = new AbortController();
    const second = svc.http.raw('POST', '/v1/chat/completions', SAY, { 'x-svc-session': svc.agent.session_id }, cut.signal).catch(() => undefined);
    await until(async () => (await followers(svc)) === 2);
    cut.abort();
    await second;
    await until(async () => (await followers(svc)) === 1);
    await clock.advance(GRACE_MS + POLL_MS);
    await until(async () => (await svc.kernel.daemon.parts.journal.list({ actor: OWNER, kind: 'agent', status: ['queued'] })).length === 0);
    release();
    await first;
    await until(async () => (await activeRuns(svc)) === 0);
    expect(svc.model.requests).to.have.length(1);
  });

  it('on /v1 is gone for good when the daemon restarts in those 2 s: the next life ends the run', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-hang-up-'));
    // It gives its runs less than the 2 s, so that the stop cannot end this one.
    const first = await boot({ home, stopDrainMs: 1_000 });
    await hangUp(first, '/v1/chat/completions', SAY);
    await clock.advance(POLL_MS);
    const stopping = first.kernel.stop();
    // The time that an orderly stop gives its runs: later, this life would end the run.
    await clock.advance(1_000);
    await stopping;

    const second = await boot({ home });
    await until(async () => (await activeRuns(second)) === 1);
    await until(() => second.model.requests.length === 1);
    await expectCancelled(second);
    await second.kernel.stop();
    await rm(home, { recursive: true, force: true });
  });

  for (const door of ['message', 'message/stream'])
    it(`on our own channel ${door} lets its run finish`, async () => {
      const svc = await boot();
      await hangUp(svc, `/api/agents/${svc.agent.id}/${door}`, { message: 'hello' });
      await expectFinished(svc);
    });

  it('on a WebSocket lets its run finish, and with unwatched = "cancel" it does not', async () => {
    for (const [config, expectation] of [
      [OPEN_RATE, expectFinished],
      [`${OPEN_RATE}[runs]\non_disconnect = "cancel"\n`, expectCancelled],
    ] as const) {
      answer = new Promise((resolve) => {
        release = resolve;
      });
      const svc = await boot({ config });
      const chat = await openChat(svc.kernel.url, svc.agent.id);
      chat.send({ type: 'message', content: 'hello' });
      await until(() => svc.model.requests.length === 1);
      chat.socket.terminate();
      await allLeft(svc);
      await expectation(svc);
    }
  });

  it('ends or leaves its run as [runs] on_disconnect says, whichever channel it used', async () => {
    const cancelling = await boot({ config: `${OPEN_RATE}[runs]\non_disconnect = "cancel"\n` });
    await hangUp(cancelling, messageOf(cancelling), { message: 'hello' });
    await expectCancelled(cancelling);
  });

  it('reads in the headers of an answer what becomes of its run', async () => {
    release();
    const svc = await boot();
    const wordOf = async (path: string, body: object): Promise<string | null> => (await svc.http.raw('POST', path, body)).headers.get('x-svc-on-disconnect');
    expect(await wordOf(messageOf(svc), { message: 'hello' })).to.equal('finish');
    expect(await wordOf(`${messageOf(svc)}/stream`, { message: 'hello' })).to.equal('finish');
    expect(await wordOf('/v1/chat/completions', SAY)).to.equal('cancel');
    await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "hasty"\n[autonomous]\nunwatched = "cancel"\n' });
    const { agents } = (await svc.http.expect(200, 'GET', '/api/agents')).body;
    const hasty = agents.find((agent: { name: string }) => agent.name === 'hasty');
    expect(await wordOf(`/api/agents/${hasty.id}/message`, { message: 'hello' })).to.equal('cancel');
  });

  it('leaves its run going on /v1 with [runs] on_disconnect = "finish"', async () => {
    const svc = await boot({ config: `${OPEN_RATE}[runs]\non_disconnect = "finish"\n` });
    await hangUp(svc, '/v1/chat/completions', { ...SAY, model: `svc:assistant@${svc.agent.session_id}` });
    await expectFinished(svc);
  });

  it('ends or leaves its run as the agent says, above the config', async () => {
    const svc = await boot({ config: `${OPEN_RATE}[runs]\non_disconnect = "cancel"\n` });
    await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "steady"\n[autonomous]\nunwatched = "finish"\n' });
    await hangUp(svc, '/v1/chat/completions', { ...SAY, model: 'svc:steady' });
    for (let looks = 0; looks < 5; looks++) await clock.advance(GRACE_MS);
    expect(await activeRuns(svc)).to.equal(1);
    const refused = await svc.http.post('/api/agents', { manifest_toml: 'name = "odd"\n[autonomous]\nunwatched = "maybe"\n' });
    expect([refused.status, refused.body.error]).to.deep.equal([400, refused.body.error]);
    expect(refused.body.error).to.contain('autonomous.unwatched');
  });
});
