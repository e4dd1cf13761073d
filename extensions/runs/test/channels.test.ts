/** Messages over HTTP: beside the conversation, answered by a command, followed, stopped, and what they cost. */
import { OWNER, bootTestKernel, fixtureExtension, OPEN_RATE, type TestAnswer } from '@svc/testing';
import { MessageIntercept } from '@svc/ext-runs/contract';
import { expect } from 'chai';
import { type ModelKernel, until, useModelKernel } from '@svc/test/clients/model-kernel';
import { withoutAsidePrefix } from '../src/beside.js';
import { runErrors } from '../src/errors.js';

const SCARCE = 'trusted_proxies = ["127.0.0.1"]\n[api]\nrate_limit_per_second = 0.01\n[rate_limit]\nwindow_secs = 3600\n';
const NOBODY = '00000000-0000-4000-8000-000000000000';
const IMAGE = { media_type: 'image/png', data: 'AA==' };

describe('a message over HTTP', () => {
  const bootWithModel = useModelKernel();

  const send = (svc: ModelKernel, body: object, headers: Record<string, string> = {}): Promise<TestAnswer> => svc.http.post(`/api/agents/${svc.agent.id}/message`, body, headers);
  const history = async (svc: ModelKernel) => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages.map(({ content }: { content: string }) => content);
  const asked = (svc: ModelKernel) => JSON.stringify(svc.model.requests.at(-1)?.body.messages);
  const runOf = (svc: ModelKernel, answer: TestAnswer) => svc.kernel.daemon.parts.journal.get(OWNER, answer.body.run_id);
  /** A model that answers once the test lets it. */
  const latched = async () => {
    let open: () => void = () => undefined;
    const isOpen = new Promise<void>((resolve) => {
      open = resolve;
    });
    const svc = await bootWithModel(async () => {
      await isOpen;
      return { text: 'hello' };
    });
    return { svc, open };
  };

  for (const [how, body] of [
    ['is asked for as one', { message: 'what time is it?', ephemeral: true }],
    ['begins with /btw', { message: '/btw  what time is it?' }],
  ] as const)
    it(`B2 that ${how} reads nothing of the conversation, adds nothing and has no tools`, async () => {
      const svc = await bootWithModel([{ text: 'one' }, { toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'late' }]);
      await send(svc, { message: 'earlier words' });
      const answer = await send(svc, body);
      expect(answer.body).to.include({ response: 'late', session_id: svc.agent.session_id });
      expect(asked(svc)).to.contain('"what time is it?"').and.contain('A side question uses no tools.').and.not.contain('earlier words');
      expect(svc.model.requests.at(-1)?.body.tools ?? []).to.deep.equal([]);
      expect(await history(svc)).to.deep.equal(['earlier words', 'one']);
      expect((await svc.http.expect(200, 'GET', '/api/status')).body.session_count).to.equal(1);
      expect((await runOf(svc, answer))?.result).to.include({ response: 'late' });
    });

  it('B3 that is incognito reads the conversation, and stands in no row afterwards', async () => {
    const svc = await bootWithModel([{ text: 'one' }, { text: 'a secret' }]);
    await send(svc, { message: 'earlier words' });
    const answer = await send(svc, { message: 'hush', incognito: true });
    expect(answer.body.response).to.equal('a secret');
    expect(asked(svc)).to.contain('earlier words').and.contain('hush');
    expect(await history(svc)).to.deep.equal(['earlier words', 'one']);
    const run = await runOf(svc, answer);
    expect(run?.result).to.include({ response: 'The answer to an incognito message is sent once and not stored.' });
    expect(JSON.stringify(run)).to.not.contain('hush').and.not.contain('a secret');
  });

  it('is a side question by its first words only, beside images too', () => {
    const of = (...texts: string[]) => withoutAsidePrefix({ agentId: 'a', door: 'rest', parts: texts.map((text) => ({ type: 'text', text })) });
    expect(of('/btw hi')).to.deep.include({ ephemeral: true, parts: [{ type: 'text', text: 'hi' }] });
    for (const text of ['/btwhi', 'so /btw hi', '/btw']) expect(of(text), text).to.not.have.property('ephemeral');
    expect(of('hi', '/btw hi')).to.not.have.property('ephemeral');
    const image = { type: 'image' as const, mediaType: 'image/png', data: 'AA==' };
    const looked = withoutAsidePrefix({ agentId: 'a', door: 'rest', parts: [image, { type: 'text', text: '/btw hi' }] });
    expect(looked.parts).to.deep.equal([image, { type: 'text', text: 'hi' }]);
    expect(withoutAsidePrefix({ agentId: 'a', door: 'rest', parts: [image] })).to.not.have.property('ephemeral');
  });

  it('may hold twenty images of the common kinds, and no attachments where nothing keeps uploads', async () => {
    const svc = await bootWithModel(() => ({ text: 'seen' }), { config: `${OPEN_RATE}[extensions]\ndisable = ["files"]\n` });
    expect((await send(svc, { message: '', images: Array.from({ length: 20 }, () => IMAGE), attachments: [] })).body.response).to.equal('seen');
    for (const images of [Array.from({ length: 21 }, () => IMAGE), [{ ...IMAGE, media_type: 'image/tiff' }], [{ ...IMAGE, data: '' }]])
      expect((await send(svc, { message: 'x', images })).status).to.equal(400);
    expect((await send(svc, { message: 'x', attachments: [{}] })).body.code).to.equal('invalid_request');
    const refused = await send(svc, { message: 'x', attachments: [{ file_id: NOBODY }] });
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'run_attachments_unsupported']);
  });

  it('may be 8 MiB with its images, and not more', async () => {
    const svc = await bootWithModel(() => ({ text: 'seen' }));
    expect((await send(svc, { message: 'x', images: [{ ...IMAGE, data: 'A'.repeat(7_900_000) }] })).status).to.equal(200);
    expect((await send(svc, { message: 'x', images: [{ ...IMAGE, data: 'A'.repeat(8_400_000) }] })).status).to.equal(413);
  });

  it('says which run it is, and that a repetition was answered from it', async () => {
    const svc = await bootWithModel(() => ({ text: 'once' }));
    const [first, second] = [await send(svc, { message: 'go' }, { 'idempotency-key': 'k' }), await send(svc, { message: 'go' }, { 'idempotency-key': 'k' })];
    expect(first.headers.get('x-svc-run')).to.equal(first.body.run_id);
    expect(first.headers.has('idempotency-replayed')).to.equal(false);
    expect(second.headers.get('idempotency-replayed')).to.equal('true');
    expect(second.body).to.deep.equal(first.body);
    expect(svc.model.requests).to.have.length(1);
  });

  it('says so of a failure too, which is the one that was answered first', async () => {
    const svc = await bootWithModel(() => ({ status: 400, message: 'refused' }));
    const [first, second] = [await send(svc, { message: 'go' }, { 'idempotency-key': 'of a failure' }), await send(svc, { message: 'go' }, { 'idempotency-key': 'of a failure' })];
    expect(first.status).to.be.at.least(400);
    expect(first.headers.has('idempotency-replayed')).to.equal(false);
    expect([second.status, second.body.code, second.headers.get('idempotency-replayed')]).to.deep.equal([first.status, first.body.code, 'true']);
    expect(second.headers.get('x-svc-run')).to.equal(first.headers.get('x-svc-run')).and.to.be.a('string');
    expect(svc.model.requests).to.have.length(1);
  });

  it('that asks for thoughts of a model that has none is refused', async () => {
    const svc = await bootWithModel(() => ({ text: 'hello' }));
    expect((await send(svc, { message: 'go', thinking: true })).body.code).to.equal('run_cannot_think');
    expect((await send(svc, { message: 'go', thinking: false })).status).to.equal(200);
  });

  it('is followed by whoever asks for its session, and stopped, once', async () => {
    const { svc, open } = await latched();
    const stop = async () => (await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`)).body;
    const stream = `/api/agents/${svc.agent.id}/sessions/${svc.agent.session_id}/stream`;
    expect(await stop()).to.deep.equal({ status: 'ok', message: 'No active run', stopped: 0 });
    const going = send(svc, { message: 'go' });
    await until(() => svc.model.requests.length === 1);
    const followed = svc.http.events('GET', stream);
    const other = (await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "other"\n' })).body.agent_id;
    expect((await svc.http.get(`/api/agents/${other}/sessions/${svc.agent.session_id}/stream`)).status).to.equal(404);
    open();
    await going;
    expect((await followed).at(-1)?.event).to.equal('done');
    const { status, body } = await svc.http.get(stream);
    expect([status, body.error]).to.deep.equal([404, `There is no run in session ${svc.agent.session_id} now.`]);
  });

  it('is stopped with a word about how many runs that were', async () => {
    const { svc, open } = await latched();
    const going = send(svc, { message: 'go' });
    await until(() => svc.model.requests.length === 1);
    expect((await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/stop`)).body).to.deep.equal({ status: 'ok', message: 'Run cancelled', stopped: 1 });
    expect((await going).body.finish).to.equal('cancelled');
    open();
  });

  it('costs an address 30, by whichever way, and 5 to follow or to stop', async () => {
    const { http } = await bootTestKernel({ config: SCARCE });
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    /** Of 36 tokens: how many requests are let in, whatever becomes of them. */
    const within = async (ip: string, method: string, path: string, body?: object, before: readonly string[] = []): Promise<number> => {
      const headers = { 'x-forwarded-for': ip };
      for (const other of before) await http.send('POST', `/api/agents/${agent.id}/${other}`, body, headers);
      let count = 0;
      while (count < 100 && (await http.send(method, `/api/agents/${agent.id}/${path}`, undefined, headers)).status !== 429) count += 1;
      return count;
    };
    expect(await within('192.0.2.1', 'POST', 'stop')).to.equal(7);
    expect(await within('192.0.2.2', 'GET', `sessions/${agent.session_id}/stream`)).to.equal(7);
    expect(await within('192.0.2.3', 'GET', 'session', { message: 'hi' }, ['message'])).to.equal(3);
    expect(await within('192.0.2.4', 'GET', 'session', { message: 'hi' }, ['message/stream'])).to.equal(3);
  });

  it('that is a command is answered by whoever knows it, in a stream too, and no model is asked', async () => {
    const butler = fixtureExtension({
      id: 'butler',
      manifest: { hooks: [{ name: 'message.intercept' }] },
      definition: { activate: (ctx) => void ctx.hooks.tap(MessageIntercept, ({ text }) => (text.startsWith('/ring') ? { command: 'ring', message: 'It rang.', data: { bell: 2 } } : undefined)) },
    });
    const svc = await bootWithModel(() => ({ text: 'hello' }), { extra: [butler], config: `${OPEN_RATE}[extensions]\nenable = ["butler"]\n` });
    const { body } = await send(svc, { message: '/ring' });
    expect(body).to.deep.include({ response: 'It rang.', input_tokens: 0, output_tokens: 0, iterations: 0, cost_usd: 0, session_id: svc.agent.session_id, finish: 'stop' });
    const events = await svc.http.events('POST', `/api/agents/${svc.agent.id}/message/stream`, { message: '/ring' });
    expect(events.map(({ event, data }) => [event, data.phase ?? data.content ?? data.done])).to.deep.equal([
      ['phase', 'command'],
      ['chunk', 'It rang.'],
      ['done', true],
    ]);
    expect(events[1]?.data.done).to.equal(false);
    expect(events[2]?.data.usage).to.deep.equal({ input_tokens: 0, output_tokens: 0 });
    expect(svc.model.requests).to.have.length(0);
    const keyed = { 'idempotency-key': 'k' };
    const [once, again] = [await send(svc, { message: '/ring' }, keyed), await send(svc, { message: '/ring' }, keyed)];
    expect(again.body).to.deep.equal(once.body);
    expect((await send(svc, { message: '/ring loud' }, keyed)).status).to.equal(409);
    expect((await send(svc, { message: 'ring' })).body.response).to.equal('hello');
  });
});

describe('a failure of runs', () => {
  const all = [
    [runErrors.not_found('r'), 404, false],
    [runErrors.empty_message(), 400, false],
    [runErrors.message_too_large(2, 1), 413, false],
    [runErrors.too_many(1), 503, true],
    [runErrors.refused('no'), 403, false],
    [runErrors.iteration_limit(1), 500, false],
    [runErrors.loop_guard_break('no'), 500, false],
    [runErrors.stopped(), 409, false],
    [runErrors.unwatched(), 499, true],
    [runErrors.superseded(), 409, false],
    [runErrors.too_deep(1), 400, false],
    [runErrors.circular_wait('a, b'), 409, false],
    [runErrors.agent_suspended('a'), 409, false],
    [runErrors.cannot_think('m'), 400, false],
    [runErrors.attachments_unsupported(), 400, false],
    [runErrors.agent_gone(), 404, false],
    [runErrors.invalid_key(), 400, false],
    [runErrors.internal(), 500, false],
  ] as const;

  for (const [error, status, retry] of all)
    it(`${error.code} is a ${status}, and the same request ${retry ? 'may succeed later' : 'will fail again'}`, () => {
      expect([error.status, error.retry]).to.deep.equal([status, retry]);
    });
});
