/** What a request asks of the model: it gets there, or is refused by name. */
import { OPEN_RATE, bootTestKernel } from '@svc/testing';
import { expect } from 'chai';
import { startAnthropicServer } from '../../../fixtures/providers/anthropic-server.js';
import { bootWithModel, type ModelKernel, stopModelKernels } from '../model-kernel.js';

const say = (svc: Pick<ModelKernel, 'http'>, fields: object) => svc.http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [{ role: 'user', content: 'hello' }], ...fields });
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const format = { type: 'json_schema', json_schema: { name: 'thing', schema, strict: true } };

describe('parameters of a request at /v1', () => {
  afterEach(stopModelKernels);

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
    ['no stop text in a list', { stop: [] }],
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
    for (const [fields, name] of [
      [{ seed: 1 }, 'seed'],
      [{ response_format: format }, 'response_format'],
      [{ response_format: { type: 'json_object' } }, 'response_format'],
      [{ temperature: 1.5 }, 'temperature'],
    ] as const) {
      const { status, body } = await say(kernel, fields);
      expect([name, status, body.code]).to.deep.equal([name, 400, 'llm_parameter_unsupported']);
      expect(body.error).to.contain(`\`${name}\``).and.to.contain('anthropic/claude-sonnet-4-6');
    }
    expect(claude.requests).to.have.length(0);
    expect((await say(kernel, { top_p: 0.5, stop: ['END'] })).status).to.equal(200);
    expect(claude.requests[0]?.body).to.deep.include({ top_p: 0.5, stop_sequences: ['END'] });
    expect(claude.requests[0]?.body).to.not.have.property('temperature');
    await kernel.stop();
    await claude.close();
  });

  it('that only the model refuses are refused by name, and never left out', async () => {
    const svc = await bootWithModel(({ body }) =>
      'temperature' in body || 'stop' in body ? { status: 400, message: `Unsupported parameter: '${'stop' in body ? 'stop' : 'temperature'}' is not supported with this model.` } : { text: 'ok' },
    );
    for (const fields of [{ temperature: 0.3 }, { temperature: 0.3 }, { stop: ['x'] }]) {
      const [name] = Object.keys(fields);
      const { status, body, headers } = await say(svc, { ...fields, messages: [{ role: 'user', content: `${name} ${svc.model.requests.length}` }] });
      expect([status, body.code, headers.get('x-should-retry')]).to.deep.equal([400, 'llm_parameter_unsupported', 'false']);
      expect(body.error).to.contain(`\`${name}\``);
    }
    // The agent's own temperature gives way as before.
    expect((await say(svc, {})).status).to.equal(200);
    expect((await say(svc, { temperature: 0.3 })).body.code).to.equal('llm_parameter_unsupported');
  });

  it('that the stand-in cannot keep are refused by name; what changes nothing for it is taken', async () => {
    const kernel = await bootTestKernel({ config: OPEN_RATE });
    expect((await say(kernel, { temperature: 0.3, top_p: 0.5, seed: 7 })).status).to.equal(200);
    for (const fields of [{ stop: ['a'] }, { response_format: { type: 'json_object' } }]) expect((await say(kernel, fields)).body.code).to.equal('llm_parameter_unsupported');
    await kernel.stop();
  });
});
