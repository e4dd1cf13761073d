/** Chat over a WebSocket with the `ws` package, as a client would use it. */
import { virtualClock } from '@svc/platform/clock/clock';
import { bootTestKernel, OPEN_RATE } from '@svc/testing';
import { expect } from 'chai';
import { NOBODY, refusalOrUpgrade } from '../conformance/route-walk.js';
import { openChat } from './chat-socket.js';
import { until, useModelKernel } from './model-kernel.js';

describe('a WebSocket chat', () => {
  const bootWithModel = useModelKernel();

  it('greets with connected, then with the agents the caller may see', async () => {
    const { kernel, agent } = await bootWithModel();
    const chat = await openChat(kernel.url, agent.id);
    await chat.next('agents_updated');
    expect(chat.frames[0]).to.deep.equal({ type: 'connected', agent_id: agent.id });
    const [shown] = chat.frames[1]?.agents ?? [];
    expect(shown).to.have.all.keys('id', 'name', 'state', 'model_provider', 'model_name');
    expect(shown).to.include({ id: agent.id, name: 'assistant', state: 'Running' });
    chat.socket.close();
  });

  it('answers a message with thinking, text_delta as it comes, and one response', async () => {
    const { kernel, agent } = await bootWithModel({ deltas: ['Hello', ', ', 'you'], usage: { input: 12, output: 6 } });
    const chat = await openChat(kernel.url, agent.id);
    chat.send({ type: 'message', content: 'hi' });
    const response = await chat.next('response', 'error');
    const types = chat.frames.map((frame) => frame.type).filter((type) => type !== 'agents_updated');
    expect(types[1]).to.equal('thinking');
    expect(types.at(-1)).to.equal('response');
    expect(types.slice(2, -1).every((type) => type === 'text_delta')).to.equal(true);
    const said = chat.frames.filter((frame) => frame.type === 'text_delta').map((frame) => frame.content);
    expect(said.join('')).to.equal('Hello, you');
    expect(response).to.include({ type: 'response', content: 'Hello, you', input_tokens: 12, output_tokens: 6, iterations: 1 });
    expect(response.cost_usd).to.be.a('number');
    chat.socket.close();
  });

  it('shows tool calls by name', async () => {
    const { kernel, agent } = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'empty' }]);
    const chat = await openChat(kernel.url, agent.id);
    chat.send({ type: 'message', content: 'look' });
    expect((await chat.next('tool_start')).tool).to.equal('file_list');
    expect((await chat.next('response')).content).to.equal('empty');
    chat.socket.close();
  });

  it('that was cut off resumes after the frame it names, and hears each frame once', async () => {
    const { kernel, agent, model } = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'the end' }]);
    const first = await openChat(kernel.url, agent.id);
    first.send({ type: 'message', content: 'look' });
    const seen = await first.next('tool_start');
    first.socket.terminate();

    const second = await openChat(kernel.url, agent.id);
    second.send({ type: 'resume', last_event_id: seen.frame_id, message_id: 'again' });
    const response = await second.next('response', 'error');

    expect(response).to.include({ content: 'the end', message_id: 'again' });
    const types = second.frames.map((frame) => frame.type);
    expect(types.filter((type) => type === 'tool_start')).to.deep.equal([]);
    expect(types.filter((type) => type === 'tool_result')).to.have.length(1);
    expect(model.requests).to.have.length(2);
    second.send({ type: 'resume', last_event_id: 'nonsense' });
    expect((await second.next('error')).content).to.contain('nonsense');
    second.socket.close();
  });

  it('that sends a message again under its key is given the same run', async () => {
    const { kernel, agent, model } = await bootWithModel({ text: 'once' });
    const chat = await openChat(kernel.url, agent.id);
    for (const turn of [1, 2]) {
      chat.send({ type: 'message', content: 'do it', idempotency_key: 'ws-1' });
      expect((await chat.next('response', 'error')).content, `turn ${turn}`).to.equal('once');
    }

    expect(model.requests).to.have.length(1);
    chat.send({ type: 'message', content: 'something else', idempotency_key: 'ws-1' });
    expect(await chat.next('response', 'error')).to.include({ code: 'format_error', reason: 'journal_key_conflict' });
    chat.socket.close();
  });

  it('answers a ping with pong', async () => {
    const { kernel, agent } = await bootWithModel();
    const chat = await openChat(kernel.url, agent.id);
    chat.send({ type: 'ping' });
    expect(await chat.next('pong')).to.deep.equal({ type: 'pong' });
    chat.socket.close();
  });

  it('tells the agents every 5 seconds', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const { url, http } = await bootTestKernel({ config: OPEN_RATE, clock });
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    const chat = await openChat(url, agent.id);
    await chat.next('agents_updated');
    const count = () => chat.frames.filter((frame) => frame.type === 'agents_updated').length;
    for (let tick = 2; tick <= 4; tick++) {
      await clock.advance(5_000);
      await until(() => count() >= tick);
      expect(count()).to.equal(tick);
    }
    chat.socket.close();
    await chat.closed();
  });

  it('takes plain text that is not JSON as a message', async () => {
    const { kernel, agent, model } = await bootWithModel({ text: 'understood' });
    const chat = await openChat(kernel.url, agent.id);
    for (const text of ['just words', '{not json', '"a JSON string"', '42']) {
      chat.send(text);
      expect((await chat.next('response', 'error')).content, text).to.equal('understood');
      expect(JSON.stringify(model.requests.at(-1)?.body.messages.at(-1))).to.contain(text.replaceAll('"', '\\"'));
    }
    chat.socket.close();
  });

  it('answers each malformed frame with one error and stays usable', async () => {
    const { kernel, agent, model } = await bootWithModel({ text: 'still here' });
    const chat = await openChat(kernel.url, agent.id);
    const malformed = [
      { type: 'nonsense' },
      { no: 'type' },
      { type: 'message' },
      { type: 'message', content: 7 },
      { type: 'message', content: '' },
      { type: 'message', content: '   ' },
      { type: null },
      [],
    ];
    for (const frame of malformed) {
      chat.send(frame);
      const error = await chat.next('error', 'response');
      expect(error.type, JSON.stringify(frame)).to.equal('error');
      expect(error.content, JSON.stringify(frame)).to.be.a('string').with.length.above(0);
    }
    expect(model.requests).to.have.length(0);
    chat.send(new Uint8Array([1, 2, 3]));
    chat.send({ type: 'message', content: 'still there?' });
    expect((await chat.next('response')).content).to.equal('still here');
    const errors = chat.frames.filter((frame) => frame.type === 'error');
    expect(errors).to.have.length(malformed.length + 1);
    expect(errors.at(-1)?.code).to.equal('frame_not_text');
    chat.socket.close();
  });

  it('is closed with 1009 by a frame that is too large, and the daemon goes on', async () => {
    const { kernel, agent, http } = await bootWithModel();
    for (const size of [100_000, 2_000_000]) {
      const chat = await openChat(kernel.url, agent.id);
      chat.socket.on('error', () => undefined);
      chat.send('x'.repeat(size));
      expect(await chat.closed(), `${size}`).to.equal(1009);
    }
    await http.expect(200, 'GET', '/api/health');
  });

  it('is refused before the upgrade: 400 for what is no id, 404 for an agent that does not exist', async () => {
    const { kernel } = await bootWithModel();
    for (const [id, status, code] of [
      ['not-a-uuid', 400, 'invalid_agent_id'],
      ['123', 400, 'invalid_agent_id'],
      [NOBODY, 404, 'agent_not_found'],
    ] as const) {
      const refused = await refusalOrUpgrade(kernel.url, `/api/agents/${id}/ws`);
      expect(refused.status, id).to.equal(status);
      expect(refused.body.code, id).to.equal(code);
    }
  });

  it('refuses a session that is no id, and one of another agent', async () => {
    const { kernel, agent, http } = await bootWithModel({ text: 'no' });
    expect((await refusalOrUpgrade(kernel.url, `/api/agents/${agent.id}/ws?session_id=zzz`)).status).to.equal(400);
    await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "second"\n' });
    const second = (await http.expect(200, 'GET', '/api/agents?q=second')).body.agents[0];
    await http.expect(200, 'POST', `/api/agents/${second.id}/message`, { message: 'begin' });
    const chat = await openChat(kernel.url, agent.id, { query: `?session_id=${second.session_id}` }).catch(() => undefined);
    if (!chat) return;
    chat.send({ type: 'message', content: 'let me in' });
    expect((await chat.next('error', 'response')).type).to.equal('error');
    chat.socket.close();
  });

  describe('commands', () => {
    it('/help, /usage, /model, /models and /providers answer without asking the model', async () => {
      const { kernel, agent, model } = await bootWithModel();
      const chat = await openChat(kernel.url, agent.id);
      for (const [command, says] of [
        ['/help', '/stop'],
        ['/usage', '0 model calls'],
        ['/model', 'openai/gpt-4o'],
        ['/models', 'openai/'],
        ['/providers', 'openai: configured'],
      ] as const) {
        chat.send({ type: 'message', content: command });
        const answer = await chat.next('response', 'error');
        expect(answer.type, command).to.equal('response');
        expect(answer.content, command).to.contain(says);
      }
      expect(model.requests).to.have.length(0);
      chat.socket.close();
    });

    it('/new begins a fresh session and keeps the old one', async () => {
      const { kernel, agent, http, model } = await bootWithModel({ text: 'noted' });
      const chat = await openChat(kernel.url, agent.id);
      chat.send({ type: 'message', content: 'my name is Ada' });
      await chat.next('response');
      chat.send({ type: 'message', content: '/new' });
      expect((await chat.next('response')).session_id).to.not.equal(agent.session_id);
      chat.send({ type: 'message', content: 'who am I?' });
      await chat.next('response');
      expect(JSON.stringify(model.requests.at(-1)?.body.messages)).to.not.contain('Ada');
      const old = await http.expect(200, 'GET', `/api/agents/${agent.id}/session?session_id=${agent.session_id}`);
      expect(old.text).to.contain('Ada');
      chat.socket.close();
    });

    it('/model NAME switches the model of the next message', async () => {
      const { kernel, agent, model } = await bootWithModel({ text: 'ok' });
      const chat = await openChat(kernel.url, agent.id);
      chat.send({ type: 'message', content: '/model openai/gpt-4o-mini' });
      expect((await chat.next('response', 'error')).content).to.contain('gpt-4o-mini');
      chat.send({ type: 'message', content: 'hi' });
      await chat.next('response');
      expect(model.requests.at(-1)?.body.model).to.equal('gpt-4o-mini');
      chat.send({ type: 'message', content: '/model' });
      expect((await chat.next('response')).content).to.contain('openai/gpt-4o-mini');
      chat.socket.close();
    });

    it('/stop ends the run of this socket and of others; each message still gets exactly one end', async () => {
      const { kernel, agent, model } = await bootWithModel({ hang: true });
      const chat = await openChat(kernel.url, agent.id);
      const other = await openChat(kernel.url, agent.id);
      chat.send({ type: 'message', content: 'think for ever' });
      await until(() => model.requests.length === 1);
      other.send({ type: 'message', content: '/stop' });
      expect((await other.next('response')).content).to.contain('stopped');
      await chat.next('error', 'response');
      expect(chat.frames.filter((frame) => frame.type === 'error' || frame.type === 'response')).to.have.length(1);
      model.script({ text: 'awake again' });
      chat.send({ type: 'message', content: 'hello?' });
      expect((await chat.next('response')).content).to.equal('awake again');
      chat.socket.close();
      other.socket.close();
    });

    it('that nobody knows is an error that names /help', async () => {
      const { kernel, agent, model } = await bootWithModel();
      const chat = await openChat(kernel.url, agent.id);
      chat.send({ type: 'message', content: '/frobnicate now' });
      const answer = await chat.next('error', 'response');
      expect(answer.type).to.equal('error');
      expect(`${answer.content} ${answer.hint}`).to.contain('/frobnicate').and.to.contain('/help');
      expect(model.requests).to.have.length(0);
      chat.socket.close();
    });
  });

  it('that drops does not end the run: its answer stands in the session', async () => {
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { kernel, agent, http, model } = await bootWithModel(async () => {
      await held;
      return { text: 'said to nobody' };
    });
    const chat = await openChat(kernel.url, agent.id);
    chat.send({ type: 'message', content: 'take your time' });
    await until(() => model.requests.length === 1);
    chat.socket.terminate();
    release();
    await until(async () => (await http.get(`/api/agents/${agent.id}/session`)).text.includes('said to nobody'));
  });

  it('gets its own run only: two sockets at two agents do not hear each other', async () => {
    const { kernel, agent, http } = await bootWithModel((request) => ({ text: `about ${JSON.stringify(request.body.messages.at(-1).content).replaceAll('"', '')}` }));
    const { body } = await http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "second"\n' });
    const [one, two] = await Promise.all([openChat(kernel.url, agent.id), openChat(kernel.url, body.agent_id)]);
    one.send({ type: 'message', content: 'apples' });
    two.send({ type: 'message', content: 'pears' });
    expect((await one.next('response')).content).to.contain('apples');
    expect((await two.next('response')).content).to.contain('pears');
    expect(JSON.stringify(one.frames)).to.not.contain('pears');
    one.socket.close();
    two.socket.close();
  });

  it('whose client does not answer the close is hung up on: the daemon does not wait for it', async function () {
    this.timeout(6_000); // the drain of a stop lasts 10 s
    const { kernel, agent } = await bootWithModel(undefined, {});
    const chat = await openChat(kernel.url, agent.id);
    chat.socket.pause();
    await kernel.stop();
    chat.socket.terminate();
  });

  it('hears which provider failed and what to do, and nothing secret', async () => {
    // Its daemon knows from then on that the provider refuses the key.
    const { kernel, agent } = await bootWithModel({ requireKey: 'another-key' }, {});
    const chat = await openChat(kernel.url, agent.id);
    chat.send({ type: 'message', content: 'hi' });
    const error = await chat.next('error', 'response');
    expect(error.type).to.equal('error');
    expect(error.content).to.contain('openai').and.not.contain('sk-model-key');
    expect([error.code, error.reason]).to.deep.equal(['auth_error', 'llm_provider_auth']);
    chat.socket.close();
  });
});
