/** The Gemini protocol as it stands on the wire, both ways. */
import { expect } from 'chai';
import type { ModelMessage } from '../../src/contract.js';
import { geminiBody } from '../../src/drivers/gemini/gemini-body.js';
import { geminiSchema } from '../../src/drivers/gemini/gemini-schema.js';
import { createGeminiDriver } from '../../src/drivers/gemini/gemini.js';
import { failureOf, type Raw, type RawServer, startRawServer, reported } from './raw-server.js';
import { request } from '../gateway-rig.js';

describe('answers of the Gemini protocol', () => {
  let server: RawServer;
  before(async () => {
    server = await startRawServer();
  });
  beforeEach(() => server.forget());
  after(() => server.close());

  const gemini = (raw: Raw | string, model = 'gemini-2.5-flash') => server.ask(createGeminiDriver(server.exchange), raw, {}, { provider: 'x', model });
  const says = (parts: readonly unknown[], fields: object = {}, beside: object = {}) => ({ candidates: [{ content: { role: 'model', parts }, ...fields }], ...beside });
  const done = (finishReason = 'STOP') => ({ candidates: [{ finishReason }], usageMetadata: {} });
  const a = says([{ text: 'a' }]);
  const reply = async (...events: unknown[]) => gemini(reported(...events));

  it('G1 end with a reason; without one they are half', async () => {
    expect(await reply(a, done())).to.deep.equal([{ type: 'text', text: 'a' }, { type: 'usage' }, { type: 'stop', reason: 'end' }]);
    expect(await reply(says([{ text: 'a' }], { finishReason: 'STOP' }))).to.deep.equal([
      { type: 'text', text: 'a' },
      { type: 'stop', reason: 'end' },
    ]);
    expect(await failureOf(reply(a))).to.include({ errorClass: 'half_stream', httpStatus: 200 });
    expect(await failureOf(reply(a, says([], { finishReason: 'FINISH_REASON_UNSPECIFIED' })))).to.include({ errorClass: 'half_stream' });
    expect(await failureOf(gemini(`${reported(a)}data: {"candidates"`))).to.include({ errorClass: 'half_stream' });
  });

  it('G1 say why they ended', async () => {
    const reason = async (word: string) => (await reply(a, done(word))).at(-1);
    expect(await reason('MAX_TOKENS')).to.deep.equal({ type: 'stop', reason: 'length' });
    for (const word of ['SAFETY', 'RECITATION', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII']) expect(await reason(word), word).to.deep.equal({ type: 'stop', reason: 'content_filter' });
    expect(await reason('A_WORD_OF_TOMORROW')).to.deep.equal({ type: 'stop', reason: 'end' });
    for (const word of ['MALFORMED_FUNCTION_CALL', 'OTHER']) expect(await failureOf(reply(done(word))), word).to.include({ errorClass: 'server', message: `the model ended with ${word}` });
    expect(await failureOf(reply(done('A_WORD_OF_TOMORROW')))).to.include({ errorClass: 'server' });
    expect((await failureOf(reply(says([], { finishReason: 'OTHER', finishMessage: 'it tripped' })))).message).to.contain('it tripped');
  });

  it('G1 say that the prompt was blocked, which is an answer that was filtered', async () => {
    expect((await reply({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: { promptTokenCount: 4 } })).at(-1)).to.deep.equal({ type: 'stop', reason: 'content_filter' });
    expect(await failureOf(reply({ promptFeedback: {} }))).to.include({ errorClass: 'half_stream' });
  });

  it('G2 count cached tokens among those read and thoughts among those written, as totals', async () => {
    const usage = async (...values: object[]) => (await reply(...values.map((usageMetadata) => ({ ...a, usageMetadata })), done())).filter(({ type }) => type === 'usage').slice(0, -1);
    expect(await usage({ promptTokenCount: 30, cachedContentTokenCount: 20, toolUsePromptTokenCount: 5, candidatesTokenCount: 7, thoughtsTokenCount: 100 })).to.deep.equal([
      { type: 'usage', inputTokens: 35, outputTokens: 107, cacheReadTokens: 20 },
    ]);
    expect(await usage({ promptTokenCount: 30 }, { promptTokenCount: 30, thoughtsTokenCount: 9 })).to.deep.equal([
      { type: 'usage', inputTokens: 30 },
      { type: 'usage', inputTokens: 30, outputTokens: 9 },
    ]);
    expect(await usage({ promptTokenCount: 'many' })).to.deep.equal([{ type: 'usage' }]);
  });

  it('G2 are read on after a reason, until the usage has come', async () => {
    const events = await reply(says([{ text: 'a' }], { finishReason: 'STOP' }), { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1 } });
    expect(events).to.deep.include({ type: 'usage', inputTokens: 3, outputTokens: 1 });
  });

  it('G3 bring calls whole, with what is to be given back', async () => {
    const call = (name: string, more: object = {}, beside: object = {}) => ({ functionCall: { name, ...more }, ...beside });
    const events = await reply(says([call('one', { id: 'c1', args: { a: 1 } }, { thoughtSignature: 'sealed' }), call('two')]), done());
    expect(events.filter(({ type }) => type === 'call' || type === 'stop')).to.deep.equal([
      { type: 'call', id: 'c1', name: 'one', argsText: '{"a":1}', state: { thoughtSignature: 'sealed' } },
      { type: 'call', id: '', name: 'two', argsText: '{}' },
      { type: 'stop', reason: 'tool_calls' },
    ]);
    expect(await reply(says(Array.from({ length: 128 }, () => call('f'))), done())).to.have.length(130);
    expect(await failureOf(reply(says(Array.from({ length: 129 }, () => call('f'))), done()))).to.include({ errorClass: 'garbage' });
  });

  it('G4 tell thoughts from what is said, and are none where nothing else comes', async () => {
    expect((await reply(says([{ text: 'hm', thought: true }, { text: 'a', thought: false }, { text: '' }]), done())).filter(({ type }) => type === 'text' || type === 'thought')).to.deep.equal([
      { type: 'thought', text: 'hm' },
      { type: 'text', text: 'a' },
    ]);
    expect(await failureOf(reply(says([{ text: 'hm', thought: true }], { finishReason: 'NEW_ONE' })))).to.include({ errorClass: 'server' });
  });

  it('may report a failure although they began well, and be almost empty', async () => {
    expect(await failureOf(reply(a, { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }))).to.include({ errorClass: 'overloaded', httpStatus: 503 });
    expect(await failureOf(reply({ error: 'broken' }))).to.include({ errorClass: 'server', message: 'broken' });
    expect((await failureOf(reply({ error: {} }))).message).to.contain('reported an error');
    expect(await reply({}, { candidates: [] }, { candidates: [{}] }, { candidates: [{ content: {} }] }, { error: null }, done())).to.have.length(2);
  });

  const refused = (status: number, error: object, wrap: (body: unknown) => unknown = (body) => body) =>
    failureOf(gemini({ status, type: 'application/json', body: JSON.stringify(wrap({ error: { code: status, ...error } })) }));

  it('name their failures: a key, a quota that frees itself and one that does not, a place, a length', async () => {
    const retryInfo = { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '43.5s' };
    const quota = 'You exceeded your current quota, please check your plan and billing details.';
    expect(await refused(429, { message: quota, status: 'RESOURCE_EXHAUSTED', details: [retryInfo] })).to.include({ errorClass: 'rate_limit', retryAfterMs: 43_500 });
    expect(await refused(429, { message: quota })).to.include({ errorClass: 'credit' });
    expect(await refused(429, { message: 'slow down', details: [retryInfo] }, (body) => [body])).to.include({ errorClass: 'rate_limit', retryAfterMs: 43_500 });
    const key = await refused(400, { message: 'API key not valid. Please pass a valid API key: AIzaSyD4x8dQx0f9e8d7c6b5a4f3e2d1c', status: 'INVALID_ARGUMENT' });
    expect(key).to.include({ errorClass: 'auth', httpStatus: 400 });
    expect(key.message).to.not.contain('AIzaSyD');
    expect(await refused(400, { message: 'The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).' })).to.include({ errorClass: 'context_too_long' });
    expect(await refused(404, { message: 'models/x is not found for API version v1beta' })).to.include({ errorClass: 'model_not_found' });
    expect(await refused(503, { message: 'The model is overloaded.' })).to.include({ errorClass: 'overloaded' });
    expect(await refused(400, { message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' })).to.include({ errorClass: 'bad_request' });
  });

  it('are asked for at the address of the model, in whatever version the base names', async () => {
    const driver = createGeminiDriver(server.exchange);
    const path = async (baseUrl: string, model: string) => {
      server.answer(reported(a, done()));
      await driver.ask({ provider: 'x', model, baseUrl, timeoutMs: 5_000 }, request(), new AbortController().signal, () => undefined);
      return server.paths.at(-1);
    };
    expect(await path(server.url, 'gemini-2.5-flash')).to.equal('/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    expect(await path(`${server.url}/v1`, 'gemini-2.5-flash')).to.equal('/v1/models/gemini-2.5-flash:streamGenerateContent?alt=sse');
    expect(await path(`${server.url}/proxy/v1alpha`, 'tunedModels/mine')).to.equal('/proxy/v1alpha/tunedModels/mine:streamGenerateContent?alt=sse');
    expect(await path(server.url, 'odd?x#y')).to.equal('/v1beta/models/odd%3Fx%23y:streamGenerateContent?alt=sse');
    for (const model of ['../../admin', 'models/../x', 'a//b']) expect(await failureOf(path(server.url, model)), model).to.include({ errorClass: 'model_not_found' });
  });
});

describe('a request in the Gemini protocol', () => {
  const body = (fields: Parameters<typeof request>[0] = {}, adaptation = {}, model = 'gemini-2.5-flash') => JSON.parse(geminiBody({ model }, request(fields), adaptation));
  const hello = [{ role: 'user', parts: [{ text: 'Hello' }] }];
  const tools = [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] } }];
  const called = (signature?: string): ModelMessage => ({
    role: 'assistant',
    parts: ['c1', 'c2'].map((id, index) => ({
      type: 'tool_call' as const,
      id,
      name: 'look',
      args: undefined,
      ...(signature !== undefined && index === 0 ? { state: { provider: 'gemini', model: 'g', call: { thoughtSignature: signature } } } : {}),
    })),
  });
  const failed: ModelMessage = {
    role: 'user',
    parts: [
      { type: 'text', text: 'Well?' },
      { type: 'tool_result', id: 'c1', name: 'look', content: 'gone', isError: true },
    ],
  };

  it('holds the room and nothing that was not asked', () => {
    expect(body({ system: '' })).to.deep.equal({ generationConfig: { maxOutputTokens: 100 }, contents: hello });
  });

  it('holds what was asked, each in its place', () => {
    const schema = { type: 'object', additionalProperties: false };
    const parameters = { temperature: 0.9, topP: 0.5, stop: ['END'], seed: 7, format: { type: 'json_schema' as const, name: 'x', schema } };
    const asked = body({ temperature: 0, tools, parameters, thinking: { budgetTokens: 2_000 } });
    expect(asked.generationConfig).to.deep.equal({
      maxOutputTokens: 100,
      temperature: 0.9,
      topP: 0.5,
      stopSequences: ['END'],
      seed: 7,
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
      thinkingConfig: { thinkingBudget: 2_000, includeThoughts: true },
    });
    expect(asked.tools).to.deep.equal([{ functionDeclarations: [{ name: 'look', description: 'Looks', parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] } }] }]);
    expect(body({ parameters: { format: { type: 'json_object' } } }).generationConfig).to.deep.equal({ maxOutputTokens: 100, responseMimeType: 'application/json' });
  });

  it('leaves out what the model refused', () => {
    expect(body({ system: '', temperature: 0, tools, thinking: { budgetTokens: 2_000 } }, { noTemperature: true, noTools: true, noThinking: true })).to.deep.equal(body({ system: '' }));
  });

  it('gives the signature of a call back, and where another model made the call says that nobody signed it', () => {
    const signatures = (model: string, signature?: string) =>
      body({ messages: [called(signature), failed] }, {}, model).contents[0].parts.map((part: { thoughtSignature?: string }) => part.thoughtSignature);
    expect(signatures('gemini-3-pro-preview', 'sealed')).to.deep.equal(['sealed', undefined]);
    expect(signatures('gemini-3-pro-preview')).to.deep.equal(['skip_thought_signature_validator', undefined]);
    expect(signatures('gemini-2.5-pro')).to.deep.equal([undefined, undefined]);
    expect(signatures('gemini-2.5-pro', 'sealed')).to.deep.equal(['sealed', undefined]);
  });

  it('puts results first, marks failed ones, and leaves empty texts and messages out', () => {
    expect(body({ messages: [failed, { role: 'assistant', parts: [{ type: 'text', text: '' }] }] }).contents).to.deep.equal([
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'look', response: { error: 'gone' } } }, { text: 'Well?' }] },
    ]);
  });
});

describe('the schema of a tool as Gemini takes it', () => {
  const property = (schema: unknown) => geminiSchema({ type: 'object', properties: { it: schema } }).properties?.it;

  it('keeps what it knows and drops what it refuses, at every depth', () => {
    const inner = {
      type: 'object',
      additionalProperties: false,
      $comment: 'x',
      properties: { n: { type: 'integer', exclusiveMinimum: 0, minimum: 1, format: 'int32', default: 3, 'x-a': 1 } },
      required: ['n', 'gone'],
    };
    expect(
      geminiSchema({ $schema: 'y', $id: 'z', type: 'object', title: 'T', properties: { list: { type: 'array', items: inner, uniqueItems: true, minItems: 1 } }, patternProperties: {} }),
    ).to.deep.equal({
      type: 'object',
      title: 'T',
      properties: { list: { type: 'array', minItems: 1, items: { type: 'object', properties: { n: { type: 'integer', minimum: 1, format: 'int32' } }, required: ['n'] } } },
    });
    expect(property({ type: 'string', format: 'uuid', pattern: '^a' })).to.deep.equal({ type: 'string', pattern: '^a' });
  });

  it('writes null, choices and values in its own words', () => {
    expect(property({ type: ['string', 'null'], description: 'd' })).to.deep.equal({ type: 'string', description: 'd', nullable: true });
    expect(property({ anyOf: [{ type: 'string' }, { type: 'null' }], description: 'd' })).to.deep.equal({ type: 'string', description: 'd', nullable: true });
    expect(property({ oneOf: [{ type: 'string' }, { type: 'number' }] })).to.deep.equal({ anyOf: [{ type: 'string' }, { type: 'number' }] });
    expect(property({ type: ['string', 'number', 'null'] })).to.deep.equal({ anyOf: [{ type: 'string' }, { type: 'number' }], nullable: true });
    expect(property({ enum: ['a', 'b'] })).to.deep.equal({ type: 'string', format: 'enum', enum: ['a', 'b'] });
    expect(property({ anyOf: [{ const: 'a' }, { const: 'b' }, { const: null }] })).to.deep.equal({ type: 'string', format: 'enum', enum: ['a', 'b'], nullable: true });
    expect(property({ type: 'integer', enum: [1, 2] })).to.deep.equal({ type: 'integer' });
    expect(property({ const: true })).to.deep.equal({ type: 'boolean' });
  });

  it('follows references and takes parts together', () => {
    const schema = {
      $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' } },
      type: 'object',
      properties: { it: { $ref: '#/$defs/a', description: 'd' }, gone: { $ref: '#/nowhere' }, far: { $ref: 'https://example.org/x' } },
    };
    const any = { anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }, { type: 'object' }] };
    expect(geminiSchema(schema).properties).to.deep.equal({ it: { type: 'string', description: 'd' }, gone: any, far: any });
    expect(
      geminiSchema({
        allOf: [
          { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { type: 'number' } }, required: ['b'] },
        ],
      }),
    ).to.deep.equal({
      type: 'object',
      properties: { a: { type: 'string' }, b: { type: 'number' } },
      required: ['a', 'b'],
    });
  });

  it('is any value where nothing is said, and an object without properties where there are none', () => {
    for (const schema of [{}, true, undefined]) expect(property(schema), String(schema)).to.have.property('anyOf');
    expect(property({ type: 'array' })).to.have.nested.property('items.anyOf');
    expect(property({ type: 'object', properties: {} })).to.deep.equal({ type: 'object' });
  });

  it('ends where a schema holds itself, however often', () => {
    const again = { $ref: '#' };
    const tree = { type: 'object', properties: Object.fromEntries(Array.from({ length: 8 }, (_, index) => [`p${index}`, again])) };
    expect(JSON.stringify(geminiSchema(tree)).length).to.be.lessThan(150_000);
    expect(geminiSchema({ $ref: '#' })).to.have.property('anyOf');
  });
});
