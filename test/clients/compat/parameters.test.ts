/** What a request asks of the model: it gets there, or is refused by name. */
import { OPEN_RATE, bootTestKernel } from '@svc/testing';
import { expect } from 'chai';
import { startAnthropicServer } from '@svc/fixtures/providers/anthropic-server';
import { type ModelKernel, useModelKernel } from '../model-kernel.js';

const say = (svc: Pick<ModelKernel, 'http'>, fields: object) => svc.http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content: 'hello' }], ...fields });
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const format = { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } };

describe('parameters of a request at /v1', () => {
  const bootWithModel = useModelKernel();

  it('reach the model as they were asked, with every call of the run, stateless or not', async () => {
    for (const model of ['svc:assistant', 'svc:assistant:stateless']) {
      const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: '{"a":"b"}' }]);
      const asked = { temperature: 0.25, top_p: 0.5, seed: 42, stop: ['END', '###'], response_format: format };
      expect((await say(svc, { model, ...asked, max_tokens: 10, max_completion_tokens: 77 })).status).to.equal(200);
      expect(svc.model.requests).to.have.length(2);
      for (const { body } of svc.model.requests) expect(body).to.deep.include({ ...asked, max_tokens: 77 });
      await svc.kernel.stop();
    }
  });

  it('of one text, or of plain JSON, reach it too, and what is the same as nothing is none', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    await say(svc, { stop: 'END', response_format: { type: 'json_object' } });
    expect(svc.model.requests.at(-1)?.body).to.deep.include({ stop: ['END'], response_format: { type: 'json_object' } });
    await say(svc, { response_format: { type: 'text' }, stop: null, top_p: 1, seed: null });
    for (const name of ['response_format', 'stop', 'top_p', 'seed']) expect(svc.model.requests.at(-1)?.body).to.not.have.property(name);
  });

  it('are part of what makes a request the same', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const keyed = (fields: object) => svc.http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content: 'x' }], ...fields }, { 'idempotency-key': 'k' });
    expect((await keyed({ seed: 1 })).status).to.equal(200);
    expect((await keyed({ seed: 1 })).status).to.equal(200);
    expect((await keyed({ seed: 2 })).status).to.equal(409);
  });

  const bad: ReadonlyArray<readonly [what: string, fields: object]> = [
    ['five stop texts', { stop: ['a', 'b', 'c', 'd', 'e'] }],
    ['an empty stop', { stop: '' }],
    ['an empty stop text in a list', { stop: ['a', ''] }],
    ['a top_p of 2', { top_p: 2 }],
    ['a seed that is no whole number', { seed: 1.5 }],
    ['a temperature of 3', { temperature: 3 }],
    ['a token limit of 0', { max_tokens: 0 }],
    ['a form that nobody knows', { response_format: { type: 'yaml' } }],
    ['a form without its schema', { response_format: { type: 'json_schema' } }],
    ['a schema without itself', { response_format: { type: 'json_schema', json_schema: { name: 'a' } } }],
    ['a schema without a name', { response_format: { type: 'json_schema', json_schema: { schema } } }],
    ['a schema of a megabyte', { response_format: { type: 'json_schema', json_schema: { name: 'a', schema: { description: 'x'.repeat(1_048_576) } } } }],
    ['two answers', { n: 2 }],
    ['log probabilities', { logprobs: true }],
    ['a tool that must be called', { tool_choice: 'required' }],
    ['a tool that must be called by its name', { tool_choice: { type: 'function', function: { name: 'f' } } }],
  ];
  for (const [what, fields] of bad)
    it(`that are bad are refused with 400: ${what}`, async () => {
      const svc = await bootWithModel();
      const { status, body } = await say(svc, fields);
      expect([status, typeof body.error]).to.deep.equal([400, 'string']);
      expect(svc.model.requests).to.have.length(0);
    });

  it('that the wire cannot hold are refused by name before anything is stored', async () => {
    const claude = await startAnthropicServer(() => ({ text: 'ok' }));
    const kernel = await bootTestKernel({
      config: `${OPEN_RATE}[default_model]\nprovider = "anthropic"\nmodel = "claude-sonnet-4-6"\n[provider_urls]\nanthropic = "${claude.url}"\n`,
      env: { ANTHROPIC_API_KEY: 'sk-ant-test' },
    });
    for (const fields of [{ response_format: format }, { response_format: { type: 'json_object' }, seed: 1 }]) {
      const { status, body } = await say(kernel, fields);
      expect([status, body.code]).to.deep.equal([400, 'llm_parameter_unsupported']);
      expect(body.error).to.contain('`response_format`').and.to.contain('anthropic/claude-sonnet-4-6');
    }
    expect(claude.requests).to.have.length(0);
    expect((await say(kernel, { top_p: 0.5, stop: ['END'] })).status).to.equal(200);
    expect(claude.requests[0]?.body).to.deep.include({ top_p: 0.5, stop_sequences: ['END'] });
    expect(claude.requests[0]?.body).to.not.have.property('temperature');
    const { status, headers } = await say(kernel, { seed: 1, temperature: 1.5, presence_penalty: 0.5 });
    expect([status, headers.get('x-svc-warning')]).to.deep.equal([
      200,
      'seed was left out: the protocol of Anthropic has none; presence_penalty was left out: the protocol of Anthropic has none; temperature was left out: the protocol of Anthropic takes 0 to 1',
    ]);
    await kernel.stop();
    await claude.close();
  });

  it('that only the model refuses and that shape the answer are refused by name, and never left out', async () => {
    const svc = await bootWithModel(({ body }) => ('stop' in body ? { status: 400, message: "Unsupported parameter: 'stop' is not supported with this model." } : { text: 'ok' }));
    const { status, body, headers } = await say(svc, { stop: ['x'] });
    expect([status, body.code, headers.get('x-should-retry')]).to.deep.equal([400, 'llm_parameter_unsupported', 'false']);
    expect(body.error).to.contain('`stop`');
  });

  /** In a daemon that has not learnt it yet. */
  const fussy = (): Promise<ModelKernel> =>
    bootWithModel(({ body }) => ('top_p' in body ? { status: 400, message: "Unsupported parameter: 'top_p' is not supported with this model." } : { text: 'ok' }), {});
  const warning = 'top_p was left out: the model refuses it';

  it('that only change how words are drawn are left out for a model that refuses them; a header says so, streamed or not, from the first time', async () => {
    for (const stream of [false, true]) {
      const svc = await fussy();
      for (const content of ['first', 'known by now']) {
        const response = await fetch(`${svc.kernel.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'svc:assistant', stream, top_p: 0.3, messages: [{ role: 'user', content }] }),
        });
        expect([response.status, response.headers.get('x-svc-warning')], `${content} ${stream}`).to.deep.equal([200, warning]);
        expect(await response.text()).to.contain('ok');
      }
      expect(svc.model.requests).to.have.length(3);
      let lines = 0;
      const seen = await svc.http.events('GET', '/api/logs/stream?filter=without%20a%20parameter', undefined, {}, () => ++lines === 2);
      expect(seen[0]?.data).to.include({ level: 'warn' });
      expect(JSON.stringify(seen[0]?.data)).to.contain('top_p');
      await svc.kernel.stop();
    }
  });

  it('of which a reasoning model takes one value are left out, unless it is that one', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    await svc.http.expect(200, 'PUT', `/api/agents/${svc.agent.id}/model`, { model: 'gpt-5-mini', provider: 'openai' });
    for (const [temperature, expected] of [
      [0, 'temperature was left out: the model takes only 1'],
      [1, null],
    ] as const) {
      const { status, headers } = await say(svc, { temperature });
      expect([status, headers.get('x-svc-warning'), svc.model.requests.at(-1)?.body.temperature]).to.deep.equal([200, expected, temperature === 1 ? 1 : undefined]);
    }
  });

  it('that no agent hands on are named; what asks for nothing is not', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const tool = { type: 'function', function: { name: 'look', parameters: {} } };
    const { status, headers } = await say(svc, { logit_bias: { 50256: -100 }, reasoning_effort: 'low', functions: [tool.function], tools: [tool] });
    expect([status, headers.get('x-svc-warning')]).to.deep.equal([
      200,
      'logit_bias was left out: it is not handed on to the model; reasoning_effort was left out: it is not handed on to the model; functions was left out: it was replaced by tools',
    ]);
    const plain = await say(svc, { presence_penalty: 0, frequency_penalty: 0, top_p: 1, n: 1, logit_bias: {}, tools: [], stop: null, user: 'ada' });
    expect([plain.status, plain.headers.get('x-svc-warning')]).to.deep.equal([200, null]);
  });

  it('that the mock provider cannot keep are refused by name; what changes nothing for it is taken', async () => {
    const kernel = await bootTestKernel({ config: OPEN_RATE });
    expect((await say(kernel, { temperature: 0.3, top_p: 0.5, seed: 7 })).status).to.equal(200);
    for (const fields of [{ stop: ['a'] }, { response_format: { type: 'json_object' } }]) expect((await say(kernel, fields)).body.code).to.equal('llm_parameter_unsupported');
    await kernel.stop();
  });
});
