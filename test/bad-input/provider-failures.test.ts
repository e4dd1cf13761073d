/** A model provider that fails, in every way providers do: each is told clearly, and the session goes on. */
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { OPEN_RATE, bootTestKernel } from '@svc/testing';
import { type ScriptedAnswer, startOpenAiServer } from '@svc/fixtures/providers/openai-server';
import { bootWithModel, MODEL_KEY, type ModelKernel, stopModelKernels } from '../clients/model-kernel.js';
import { expectClear, expectGoesOn } from './aftermath.js';

const QUESTION = 'the question that failed';
const LLM = '[llm]\nretry_base_ms = 1\nmax_retries = 2\nmax_wait_ms = 50\nrequest_timeout_secs = 2\nidle_timeout_secs = 1\n';
/** Attempts of one model when each fails in a way that may pass. */
const ALL_TRIES = 3;

interface Failure {
  readonly name: string;
  readonly script: ScriptedAnswer;
  readonly says: RegExp;
  readonly code: string;
  readonly calls: number;
  /** Until the time that it asked for it is not called again, with this key. */
  readonly isWaitedFor?: true;
}

const FAILURES: readonly Failure[] = [
  { name: 'refuses the key (401)', script: { requireKey: 'sk-the-right-one' }, says: /refused the API key.*set-key/, code: 'llm_provider_auth', calls: 1 },
  { name: 'forbids (403)', script: { status: 403, message: 'not for you' }, says: /refused the API key/, code: 'llm_provider_auth', calls: 1 },
  { name: 'limits the rate (429)', script: { status: 429, message: 'slow down' }, says: /limiting the rate/, code: 'llm_provider_rate_limited', calls: ALL_TRIES },
  {
    name: 'asks for a longer wait than we grant',
    script: { status: 429, headers: { 'retry-after': '120' } },
    says: /limiting the rate/,
    code: 'llm_provider_rate_limited',
    calls: 1,
    isWaitedFor: true,
  },
  { name: 'has no credit left (402)', script: { status: 402, message: 'pay first' }, says: /credit/, code: 'llm_provider_credit', calls: 1 },
  { name: 'breaks (500)', script: { status: 500, message: 'oh no' }, says: /openai.*oh no/, code: 'llm_provider_failed', calls: ALL_TRIES },
  { name: 'is overloaded (503)', script: { status: 503, message: 'busy' }, says: /overloaded/, code: 'llm_provider_overloaded', calls: ALL_TRIES },
  { name: 'answers a page instead of JSON', script: { garbage: 'html' }, says: /an invalid response/, code: 'llm_provider_garbage', calls: 1 },
  { name: 'sends broken JSON in its stream', script: { deltas: ['he'], garbage: 'json' }, says: /an invalid response|closed the connection/, code: 'llm_', calls: 0 },
  { name: 'says half and ends', script: { deltas: ['half a'], halfStream: true }, says: /closed the connection/, code: 'llm_half_stream', calls: ALL_TRIES },
  { name: 'says half and cuts the connection', script: { deltas: ['half a'], reset: true }, says: /closed the connection|reached/, code: 'llm_', calls: ALL_TRIES },
  { name: 'does not serve the model (404)', script: { status: 404, message: 'The model does not exist' }, says: /does not serve the model/, code: 'llm_provider_model_missing', calls: 1 },
  { name: 'finds the conversation too long', script: { status: 400, message: 'maximum context length is 8 tokens' }, says: /too long/, code: 'llm_context_too_long', calls: 1 },
  { name: 'answers an error without a body', script: { status: 500, body: '' }, says: /HTTP 500/, code: 'llm_provider_failed', calls: ALL_TRIES },
];

describe('a provider that', () => {
  afterEach(stopModelKernels);

  const failAll = async (svc: ModelKernel, says: RegExp, code: string): Promise<void> => {
    const message = `/api/agents/${svc.agent.id}/message`;
    const blocking = await svc.http.post(message, { message: QUESTION });
    expectClear(blocking, 500, says, 'blocking');
    expect(blocking.body.code).to.contain(code);
    expect(blocking.headers.get('x-should-retry')).to.equal('false');
    expect(blocking.text).to.not.contain(MODEL_KEY);
    const events = await svc.http.events('POST', `${message}/stream`, { message: `${QUESTION}, streamed` });
    const last = events.at(-1);
    expect(last?.event).to.equal('error');
    expect(last?.data.error).to.match(says);
    expect(JSON.stringify(events)).to.not.contain(MODEL_KEY);
  };

  for (const failure of FAILURES)
    it(failure.name, async () => {
      const svc = await bootWithModel(failure.script, { llm: LLM });
      await failAll(svc, failure.says, failure.code);
      if (failure.calls > 0) expect(svc.model.requests.length).to.equal(failure.calls * (failure.isWaitedFor ? 1 : 2));
      if (failure.isWaitedFor) await svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: MODEL_KEY });
      await expectGoesOn(svc, [QUESTION, `${QUESTION}, streamed`]);
    });

  it('is the default and refuses its key keeps the talk to itself: no other vendor is asked, until it answers again', async () => {
    const other = await startOpenAiServer({ text: 'from the other vendor' });
    const model = await startOpenAiServer({ status: 401, message: 'Incorrect API key provided' });
    const config = `${OPEN_RATE}\n[provider_urls]\nopenai = "${model.url}/v1"\ngroq = "${other.url}/v1"\nollama = "http://127.0.0.1:1/v1"\nlmstudio = "http://127.0.0.1:1/v1"\n`;
    const { http } = await bootTestKernel({ config, env: { OPENAI_API_KEY: MODEL_KEY, GROQ_API_KEY: MODEL_KEY } });
    const [agent] = (await http.expect(200, 'GET', '/api/agents')).body.agents;
    const ask = (status: number) => http.expect(status, 'POST', `/api/agents/${agent.id}/message`, { message: QUESTION });
    const status = async () => (await http.expect(200, 'GET', '/api/status')).body;

    await ask(500);
    await ask(500);

    expect(other.requests).to.have.length(0);
    const refused = await status();
    expect(refused).to.include({ default_provider: 'openai', default_model_chosen_by: 'start' });
    expect(refused.default_model_problem).to.contain('refused');
    expect(refused.default_model_why).to.contain('first provider with a key');

    model.script({ text: 'here again' });
    await ask(200);
    expect((await status()).default_model_problem).to.equal(null);
    expect(other.requests).to.have.length(0);
    await stopModelKernels();
    await Promise.all([other.close(), model.close()]);
  });

  it('hangs is given up after its deadline, and a stop does not wait for it', async () => {
    const svc = await bootWithModel({ hang: true }, { llm: LLM.replace('max_retries = 2', 'max_retries = 0') });
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: QUESTION }), 500, /did not answer in time/);
    await expectGoesOn(svc, [QUESTION]);
  });

  it('stops in mid-stream without a word is given up, too', async () => {
    const svc = await bootWithModel({ deltas: ['a', 'b', 'c'], eventDelayMs: 60_000 }, { llm: LLM.replace('max_retries = 2', 'max_retries = 0') });
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: QUESTION }), 500, /did not answer in time|closed the connection/);
    await expectGoesOn(svc, [QUESTION]);
  });

  it('is not there (connection refused) is named with what to check', async () => {
    const svc = await bootWithModel({ text: 'x' }, { llm: LLM });
    const set = await svc.http.expect(200, 'PUT', '/api/providers/openai/url', { url: `http://127.0.0.1:${await closedPort()}/v1` });
    expect(set.body.reachable).to.equal(false);
    await failAll(svc, /cannot be reached/, 'llm_provider_unreachable');
    await svc.http.expect(200, 'PUT', '/api/providers/openai/url', { url: svc.model.url });
    await expectGoesOn(svc, [QUESTION]);
  });

  it('refused the key is shown as such, and answers with the next key at once', async () => {
    const svc = await bootWithModel({ requireKey: 'sk-new-key-0000000002' }, { llm: LLM });
    expectClear(await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: QUESTION }), 500, /refused the API key/);
    const status = async () => (await svc.http.expect(200, 'GET', '/api/providers/openai')).body.auth_status;
    expect(await status()).to.equal('invalid_key');
    await svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: 'sk-new-key-0000000002' });
    expect(await status()).to.equal('configured');
    await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'again' });
    await expectGoesOn(svc, [QUESTION, 'again']);
  });

  it('lost its key altogether is a clear error that names the variable, without a call', async () => {
    const svc = await bootWithModel({ text: 'x' }, { llm: LLM, env: { OPENAI_API_KEY: '' } });
    const answer = await svc.http.post(`/api/agents/${svc.agent.id}/message`, { message: QUESTION });
    expectClear(answer, [412, 500], /OPENAI_API_KEY|set-key/);
    expect(svc.model.requests).to.have.length(0);
    await svc.http.expect(200, 'POST', '/api/providers/openai/key', { api_key: MODEL_KEY });
    await expectGoesOn(svc, [QUESTION]);
  });

  it('nobody knows is named when its agent is asked', async () => {
    const svc = await bootWithModel({ text: 'x' });
    const spawned = await svc.http.post('/api/agents', { manifest_toml: 'name = "lost"\n[model]\nprovider = "nonesuch"\nmodel = "m"\n' });
    if (spawned.status === 201) expectClear(await svc.http.post(`/api/agents/${spawned.body.agent_id}/message`, { message: 'x' }), [400, 404, 500], /nonesuch/);
    else expectClear(spawned, [400, 404], /nonesuch/);
    await expectGoesOn(svc);
  });

  it('cannot be reached by a bad URL is refused when the URL is set', async () => {
    const svc = await bootWithModel({ text: 'x' });
    for (const url of ['', 'not a url', 'ftp://example.org', 'http://user:pass@example.org', 'http://example.org/?key=1', 'javascript:alert(1)', 'file:///etc/passwd'])
      expectClear(await svc.http.put('/api/providers/openai/url', { url }), 400, /URL/, url);
    for (const api_key of ['', '   ', 'two words', 'line\nbreak', 'x'.repeat(9_000)]) {
      const answer = await svc.http.post('/api/providers/openai/key', { api_key });
      expectClear(answer, 400, /key/i, JSON.stringify(api_key.slice(0, 20)));
    }
    await expectGoesOn(svc);
  });
});

const closedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};
