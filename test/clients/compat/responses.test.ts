/** /v1/responses, /v1/completions and /v1/embeddings, through the official `openai` package. */
import { expect } from 'chai';
import OpenAI, { APIError } from 'openai';
import { type ModelKernel, useModelKernel } from '../model-kernel.js';

const model = 'svc:assistant';
const WEATHER = {
  type: 'function' as const,
  name: 'weather',
  description: 'Weather now',
  strict: true,
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false },
};
const CALL = { text: 'Let me look.', toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] };
const RAIN = { text: 'It rains.', usage: { input: 30, output: 7 } };
const clientOf = (svc: ModelKernel): OpenAI => new OpenAI({ baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', maxRetries: 0 });
const codeOf = async (work: Promise<unknown>): Promise<[unknown, unknown]> => {
  const error = await work.catch((cause: unknown) => cause);
  return error instanceof APIError ? [error.status, error.code] : [undefined, error];
};
const said = ({ model: server }: ModelKernel): unknown =>
  server.requests
    .at(-1)
    ?.body.messages.filter(({ role }: { role: string }) => role !== 'system')
    .map(({ content }: { content: unknown }) => content);

describe('responses', () => {
  const boot = useModelKernel();

  it('begin a conversation of their own, and go on with it by the id of the newest', async () => {
    const svc = await boot([{ text: 'A marsupial.', usage: { input: 11, output: 3 } }, { text: 'In Australia.' }, { text: 'Who?' }]);
    const client = clientOf(svc);
    const first = await client.responses.create({ model, input: 'What is a quokka?', instructions: 'Be brief.', metadata: { for: 'test' } });
    expect([first.output_text, first.status, first.model, first.metadata]).to.deep.equal(['A marsupial.', 'completed', model, { for: 'test' }]);
    expect(first.usage).to.deep.include({ input_tokens: 11, output_tokens: 3, total_tokens: 14 });
    expect(JSON.stringify(svc.model.requests[0]?.body.messages[0])).to.contain('Be brief.');
    const second = await client.responses.create({ model, input: 'Where does it live?', previous_response_id: first.id });
    expect(second.output_text).to.equal('In Australia.');
    expect(said(svc)).to.deep.equal(['What is a quokka?', 'A marsupial.', 'Where does it live?']);
    expect(await codeOf(client.responses.create({ model, input: 'And?', previous_response_id: first.id }))).to.deep.equal([409, 'response_continued']);
    await client.responses.create({ model, input: 'Anew.' });
    expect(said(svc)).to.deep.equal(['Anew.']);
  });

  it('stream their events by name, numbered', async () => {
    const svc = await boot({ deltas: ['one ', 'two'] });
    const stream = clientOf(svc).responses.stream({ model, input: 'Count.' });
    const types: string[] = [];
    const numbers: number[] = [];
    for await (const event of stream) {
      types.push(event.type);
      numbers.push(event.sequence_number);
    }
    expect(types.filter((type, index) => type !== types[index - 1])).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(numbers).to.deep.equal(numbers.map((_, index) => index));
    expect((await stream.finalResponse()).output_text).to.equal('one two');
  });

  for (const streams of [false, true])
    it(`call tools of the client and take their results up${streams ? ', streamed' : ''}`, async () => {
      const svc = await boot([CALL, RAIN]);
      const client = clientOf(svc);
      const ask = (body: OpenAI.Responses.ResponseCreateParamsNonStreaming) => (streams ? client.responses.stream({ ...body, stream: true }).finalResponse() : client.responses.create(body));
      const first = await ask({ model, input: 'Weather in Oslo?', tools: [WEATHER] });
      const [message, call] = first.output;
      expect(message).to.deep.include({ type: 'message' });
      expect(call).to.deep.include({ type: 'function_call', name: 'weather', arguments: '{"city":"Oslo"}' });
      const callId = call?.type === 'function_call' ? call.call_id : '';
      const second = await ask({ model, previous_response_id: first.id, tools: [WEATHER], input: [{ type: 'function_call_output', call_id: callId, output: 'rain' }] });
      expect([second.output_text, second.usage?.total_tokens]).to.deep.equal(['It rains.', 37]);
      expect(second.id).to.not.equal(first.id);
      expect(svc.model.requests[0]?.body.tools.at(-1).function).to.deep.include({ name: 'weather', strict: true });
      for (const one of [first, second]) {
        const { output, status, usage } = await client.responses.retrieve(one.id);
        // The stream helper adds what it has parsed.
        expect([output.map(({ id }) => id), status, usage]).to.deep.equal([one.output.map(({ id }) => id), 'completed', one.usage]);
      }
    });

  it('with a whole history stand alone, and are not stored', async () => {
    const svc = await boot([RAIN, CALL, RAIN]);
    const client = clientOf(svc);
    const input = [
      { role: 'user' as const, content: 'one' },
      { role: 'assistant' as const, content: 'two' },
      { role: 'user' as const, content: 'three' },
    ];
    const first = await client.responses.create({ model, input });
    expect(said(svc)).to.deep.equal(['one', 'two', 'three']);
    expect(await codeOf(client.responses.retrieve(first.id))).to.deep.equal([404, 'response_not_found']);
    const second = await client.responses.create({ model, input: 'Weather?', tools: [WEATHER], store: false });
    const third = await client.responses.create({
      model,
      store: false,
      tools: [WEATHER],
      input: [
        { role: 'user', content: 'Weather?' },
        ...second.output,
        { type: 'function_call_output', call_id: second.output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))[0] ?? '', output: 'rain' },
      ] as OpenAI.Responses.ResponseInput,
    });
    expect(third.output_text).to.equal('It rains.');
    expect(svc.model.requests.at(-1)?.body.messages.at(-1)).to.deep.include({ role: 'tool', content: 'rain' });
  });

  it('have the form that is asked for, and are deleted with their conversation', async () => {
    const svc = await boot({ text: '{"a":1}' });
    const client = clientOf(svc);
    const schema = { type: 'object', properties: { a: { type: 'number' } } };
    const { id } = await client.responses.create({ model, input: 'JSON', text: { format: { type: 'json_schema', name: 'a', schema, strict: true } } });
    expect(svc.model.requests[0]?.body.response_format).to.deep.equal({ type: 'json_schema', json_schema: { name: 'a', schema, strict: true } });
    await client.responses.delete(id);
    expect(await codeOf(client.responses.retrieve(id))).to.deep.equal([404, 'response_not_found']);
  });

  it('that wait for results can be cancelled', async () => {
    const svc = await boot([CALL]);
    const client = clientOf(svc);
    const { id } = await client.responses.create({ model, input: 'Weather?', tools: [WEATHER] });
    expect((await client.responses.cancel(id)).status).to.equal('cancelled');
  });

  it('take the tools and the history of Codex: custom tools are called with their text', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'apply_patch', args: { input: '*** Begin' } }] }, { toolCalls: [{ name: 'apply_patch', args: { input: '*** Begin' } }] }]);
    const body = {
      model,
      store: false,
      tools: [
        { type: 'custom', name: 'apply_patch', description: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'web_search' },
        { type: 'namespace', name: 'mcp__a', tools: [] },
      ],
      input: [
        { role: 'user', content: 'a' },
        { type: 'reasoning', summary: [] },
        { type: 'custom_tool_call', call_id: 'p1', name: 'apply_patch', input: 'old patch' },
        { type: 'custom_tool_call_output', call_id: 'p1', output: 'Done' },
        { type: 'web_search_call', id: 'w', status: 'completed' },
        { type: 'item_reference', id: 'x' },
        { type: 'local_shell_call', call_id: 'l1', action: { command: ['ls'] } },
        { type: 'local_shell_call_output', call_id: 'l1', output: 'a.txt' },
        { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
        { role: 'user', content: 'b' },
      ],
    };
    const whole = await svc.http.post('/v1/responses', body);
    expect(whole.status, JSON.stringify(whole.body)).to.equal(200);
    expect(whole.body.output[0]).to.deep.include({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin' });
    expect(whole.headers.get('x-svc-warning')).to.match(/web_search.*namespace mcp__a/);
    expect(JSON.stringify(svc.model.requests[0]?.body.messages)).to.match(/old patch.*Done.*local_shell.*a\.txt.*No\./);
    const events = [];
    for await (const one of (await clientOf(svc).responses.create({ ...body, stream: true } as never)) as unknown as AsyncIterable<{ type: string; input?: string }>) events.push(one);
    expect(events.find(({ type }) => type === 'response.custom_tool_call_input.done')?.input).to.equal('*** Begin');
  });

  for (const [what, body] of [
    ['work in the background', { background: true }],
    ['items of other types', { input: [{ type: 'item_reference', id: 'x' }] }],
    ['parts of other types', { input: [{ role: 'user', content: [{ type: 'input_file' }] }] }],
  ] as const)
    it(`refuse ${what} with 400`, async () => {
      const svc = await boot();
      expect((await svc.http.post('/v1/responses', { model, input: 'a', ...body })).status).to.equal(400);
      expect(svc.model.requests).to.have.length(0);
    });
});

describe('completions of the old form', () => {
  const boot = useModelKernel();

  it('are answered, whole and streamed', async () => {
    const svc = await boot({ deltas: ['one ', 'two'] });
    const client = clientOf(svc);
    const whole = await client.completions.create({ model, prompt: 'Count', stop: ['3'] });
    expect([whole.choices[0]?.text, whole.choices[0]?.finish_reason, whole.usage?.total_tokens]).to.deep.equal(['one two', 'stop', 15]);
    expect(svc.model.requests[0]?.body.stop).to.deep.equal(['3']);
    const pieces = [];
    for await (const piece of await client.completions.create({ model, prompt: ['Count'], stream: true })) pieces.push(piece.choices[0]?.text);
    expect(pieces.join('')).to.equal('one two');
    expect(await codeOf(client.completions.create({ model, prompt: 'Count', n: 2 }))).to.deep.equal([400, 'unsupported_value']);
  });

  it('answer each prompt of a list, by its index, whole and streamed, and charge for all of them', async () => {
    const svc = await boot();
    const client = clientOf(svc);
    svc.model.script(({ body }) => ({ deltas: ['to ', String(body.messages.at(-1)?.content)], usage: { input: 10, output: 2 } }));
    const prompt = ['A', 'B', 'C'];
    const whole = await client.completions.create({ model, prompt });
    expect(whole.choices.map(({ index, text, finish_reason }) => [index, text, finish_reason])).to.deep.equal([
      [0, 'to A', 'stop'],
      [1, 'to B', 'stop'],
      [2, 'to C', 'stop'],
    ]);
    expect(whole.usage).to.include({ prompt_tokens: 30, completion_tokens: 6, total_tokens: 36 });
    const texts = ['', '', ''];
    let used: number | undefined;
    for await (const { choices, usage } of await client.completions.create({ model, prompt, stream: true })) {
      for (const { index, text } of choices) texts[index] += text;
      used = usage?.total_tokens ?? used;
    }
    expect([texts, used]).to.deep.equal([['to A', 'to B', 'to C'], 36]);
  });

  it('of a list fail as a whole where one prompt has no answer, and say which field is not served', async () => {
    const svc = await boot();
    const client = clientOf(svc);
    svc.model.script(({ body }) => (body.messages.at(-1)?.content === 'B' ? { status: 400, message: 'no B here' } : { text: 'fine' }));
    expect((await codeOf(client.completions.create({ model, prompt: ['A', 'B'] })))[0])
      .to.be.a('number')
      .above(399);
    const pieces = async () => {
      for await (const _ of await client.completions.create({ model, prompt: ['A', 'B'], stream: true }));
    };
    expect((await pieces().catch((error: Error) => error))?.message).to.contain('no B here');
    for (const [field, value] of Object.entries({ n: 2, best_of: 2, echo: true, suffix: 'x' })) {
      const { status, body } = await svc.http.post('/v1/completions', { model, prompt: 'A', [field]: value });
      expect([status, body.error]).to.deep.equal([400, body.error]);
      expect(JSON.stringify(body)).to.contain(field);
    }
    expect((await svc.http.post('/v1/completions', { model, prompt: ['A', ''] })).status).to.equal(400);
  });
});

describe('embeddings', () => {
  const boot = useModelKernel();

  it("come from the agent's provider or a named model, and are charged to the agent", async () => {
    const svc = await boot();
    const client = clientOf(svc);
    const { data, usage } = await client.embeddings.create({ model, input: ['one', 'three'] });
    expect(data.map(({ embedding }) => embedding[0])).to.deep.equal([3, 5]);
    expect(usage).to.deep.equal({ prompt_tokens: 4, total_tokens: 4 });
    expect(svc.model.requests[0]?.body.model).to.equal('text-embedding-3-small');
    const named = await client.embeddings.create({ model: 'openai/text-embedding-3-large', input: 'one', encoding_format: 'float' });
    expect([named.model, named.data[0]?.embedding]).to.deep.equal(['openai/text-embedding-3-large', [3, 111, 1]]);
    const { body } = await svc.http.expect(200, 'GET', '/api/usage');
    expect(body).to.include({ total_input_tokens: 6, request_count: 2, active_agents: 1 });
    expect((await svc.http.post('/v1/embeddings', { model, input: [[1, 2]] })).status).to.equal(400);
  });
});
