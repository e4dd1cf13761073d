/** A stop in the midst of work: whoever waits is told what goes on without him, nobody is cut off, and the work goes on. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ScriptedAnswer } from '@svc/fixtures/providers/openai-server';
import { openChat } from '../clients/chat-socket.js';
import { bootWithModel, type ModelKernel, modelConfig, MODEL_KEY, stopModelKernels, until } from '../clients/model-kernel.js';
import { describeDaemonOnEngines, bootTestKernel, OPEN_RATE, type TestKernel } from '@svc/testing';
import { makeAgents } from './busy-clients.js';

const DRAIN_MS = 50;

interface Bench {
  readonly svc: ModelKernel;
  readonly home: string;
  /** From now on the model answers. */
  release(): void;
  /** The next life on the same home, with the same model. */
  restart(): Promise<TestKernel>;
}

const homes: string[] = [];

const bootStuck = async (stuck: ScriptedAnswer = { hang: true }): Promise<Bench> => {
  const home = await mkdtemp(join(tmpdir(), 'svc-shutdown-'));
  homes.push(home);
  let isStuck = true;
  const svc = await bootWithModel(() => (isStuck ? stuck : { text: 'after all' }), { home, stopDrainMs: DRAIN_MS });
  return {
    svc,
    home,
    release: () => {
      isStuck = false;
    },
    restart: () => bootTestKernel({ home, config: `${OPEN_RATE}\n${modelConfig(svc.model.url)}`, env: { OPENAI_API_KEY: MODEL_KEY } }),
  };
};

describeDaemonOnEngines('a stop while runs take longer than it waits', () => {
  afterEach(async () => {
    await stopModelKernels();
    for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
  });

  it('answers who waits for an answer with 503, the run and when to come back; the run goes on after the restart', async () => {
    const { svc, release, restart } = await bootStuck();
    const key = { 'idempotency-key': 'the-same' };
    const waiting = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'hi' }, key);
    await until(() => svc.model.requests.length === 1);

    await svc.kernel.stop();

    const reported = await waiting;
    expect([reported.status, reported.body.code]).to.deep.equal([503, 'stream_stopping']);
    expect(Number(reported.headers.get('retry-after'))).to.be.greaterThan(0);
    const run = reported.headers.get('x-svc-run');
    release();
    const next = await restart();
    const again = await next.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'hi' }, key);
    expect([again.body.run_id, again.body.response]).to.deep.equal([run, 'after all']);
  });

  it('ends an event stream with an error event, from whose id the client goes on', async () => {
    const { svc, release, restart } = await bootStuck();
    const following = svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'hi' });
    await until(() => svc.model.requests.length === 1);

    await svc.kernel.stop();

    const last = (await following).at(-1);
    expect([last?.event, last?.data.code, last?.data.status]).to.deep.equal(['error', 'stream_stopping', 503]);
    release();
    const next = await restart();
    const events = await next.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: 'hi' }, { 'last-event-id': last?.id ?? '' });
    expect(events.at(-1)?.event).to.equal('done');
    expect(events.at(-1)?.data.result.response).to.equal('after all');
  });

  it('tells a socket so, with the place to resume from, and closes it with 1012', async () => {
    const { svc, release, restart } = await bootStuck();
    const chat = await openChat(svc.kernel.url, svc.agent.id);
    chat.send({ type: 'message', content: 'hi', message_id: 'm1' });
    await until(() => svc.model.requests.length === 1);

    await svc.kernel.stop();

    const last = await chat.next('error', 'response');
    expect([last.type, last.reason, last.message_id, await chat.closed()]).to.deep.equal(['error', 'stream_stopping', 'm1', 1012]);
    release();
    const next = await restart();
    const again = await openChat(next.url, svc.agent.id);
    again.send({ type: 'resume', last_event_id: last.frame_id });
    expect((await again.next('error', 'response')).content).to.equal('after all');
    again.socket.close();
  });

  const complete = (svc: ModelKernel, stream: boolean, agent: string | undefined = svc.agent.id): Promise<Response> =>
    svc.http.raw('POST', '/v1/chat/completions', { model: `svc:${agent}`, stream, messages: [{ role: 'user', content: 'hi' }] });

  it('answers clients of chat completions that have heard no word with 503 and the run, streamed or not', async () => {
    const { svc } = await bootStuck();
    const [other] = await makeAgents(svc.http, 1);
    const asked = [complete(svc, false), complete(svc, true, other)];
    await until(() => svc.model.requests.length === 2);

    await svc.kernel.stop();

    for (const reported of await Promise.all(asked)) {
      expect(reported.status).to.equal(503);
      expect(reported.headers.get('x-svc-run')).to.match(/^[0-9a-f-]{36}$/);
      expect(reported.headers.get('retry-after')).to.not.equal(null);
    }
  });

  it('ends streams of chat completions that have begun in their own words', async () => {
    const { svc } = await bootStuck({ deltas: Array.from({ length: 1_000 }, () => 'and on '), eventDelayMs: 50 });
    const begun = await complete(svc, true);

    await svc.kernel.stop();

    expect(await begun.text())
      .to.contain('stream_stopping')
      .and.to.match(/data: \[DONE\]\n\n$/);
  });

  it('gives those their answer whose run ends in time, on every channel', async () => {
    const latches: Array<() => void> = [];
    const svc = await bootWithModel(async () => {
      await new Promise<void>((resolve) => latches.push(resolve));
      return { text: 'in time' };
    });
    const [second, third] = await makeAgents(svc.http, 2);
    const chat = await openChat(svc.kernel.url, third as string);
    const blocking = svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: 'hi' });
    const streaming = svc.http.events('POST', `/api/agents/${second}/message/stream`, { message: 'hi' });
    chat.send({ type: 'message', content: 'hi' });
    await until(() => latches.length === 3);
    const stopped = svc.kernel.stop();
    await until(
      async () =>
        (await svc.http.get('/api/agents').then(
          ({ status }) => status,
          () => 0,
        )) !== 200,
    );

    for (const open of latches) open();

    expect((await blocking).body.response).to.equal('in time');
    expect((await streaming).at(-1)?.data.result.response).to.equal('in time');
    expect((await chat.next('response', 'error')).content).to.equal('in time');
    await stopped;
    expect(await chat.closed()).to.equal(1012);
  });
});
