/** Tools that a client brings and runs itself, at /v1/chat/completions. */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { actorOf } from '@svc/api/internal';
import { OPEN_RATE, type TestHttp } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import { bootWithModel, type ModelKernel, stopModelKernels, until, useModelKernel } from '../model-kernel.js';

const WEATHER = {
  type: 'function',
  function: { name: 'weather', description: 'Says how the weather is.', parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }, strict: true },
};
const CLOCK = { type: 'function', function: { name: 'clock', parameters: { type: 'object', properties: {} } } };
const OWNER = actorOf('owner');
const ALONE = 'svc:assistant:stateless';
const QUESTION = { role: 'user', content: 'How is the weather in Oslo?' };

type Body = Record<string, unknown>;
const post = (http: TestHttp, body: Body, headers: Record<string, string> = {}) =>
  http.post('/v1/chat/completions', { model: 'svc:assistant', messages: [QUESTION], tools: [WEATHER, CLOCK], ...body }, headers);
const ask = async (http: TestHttp, body: Body = {}) => {
  const { status, body: answer } = await post(http, body);
  expect(status, JSON.stringify(answer)).to.equal(200);
  return answer.choices[0];
};
const resultsOf = (message: { tool_calls: ReadonlyArray<{ id: string }> }, ...contents: readonly string[]) =>
  message.tool_calls.map(({ id }, index) => ({ role: 'tool', tool_call_id: id, content: contents[index] ?? '' }));
const goOn = (http: TestHttp, message: { role?: string; tool_calls: ReadonlyArray<{ id: string }> }, contents: readonly string[], body: Body = {}, headers: Record<string, string> = {}) =>
  post(http, { messages: [QUESTION, message, ...resultsOf(message, ...contents)], ...body }, headers);
const refusedWith = async (answer: ReturnType<typeof post>, status: number, code: string) => {
  const { status: got, body } = await answer;
  expect([got, body.code], JSON.stringify(body)).to.deep.equal([status, code]);
  return body;
};
const offered = ({ model }: ModelKernel, index = -1): string[] => (model.requests.at(index)?.body.tools ?? []).map((tool: { function: { name: string } }) => tool.function.name);
const CALLS = { text: 'Let me look.', toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }] };
const RAIN = { text: 'It rains.', usage: { input: 30, output: 7 } };

describe("a client's tools in a conversation", () => {
  const boot = useModelKernel();

  it("are offered beside the agent's own; their call ends the answer, and the result is taken up", async () => {
    const svc = await boot([{ ...CALLS, usage: { input: 11, output: 3 } }, RAIN]);
    const first = await post(svc.http, {});
    expect(first.body.usage).to.deep.equal({ prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 });
    const [choice] = first.body.choices;
    expect(choice.finish_reason).to.equal('tool_calls');
    expect(choice.message.content).to.equal('Let me look.');
    expect(choice.message.tool_calls).to.have.length(1);
    expect(choice.message.tool_calls[0]).to.deep.include({ type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } });
    expect(choice.message.tool_calls[0].id).to.match(/^[\w-]{1,40}$/);
    expect(offered(svc)).to.include.members(['file_read', 'weather', 'clock']);
    expect(svc.model.requests[0]?.body.tools.at(-2).function.strict).to.equal(true);

    const second = await goOn(svc.http, choice.message, ['rain']);

    expect(second.body.choices[0]).to.deep.include({ finish_reason: 'stop' });
    expect(second.body.choices[0].message.content).to.equal('It rains.');
    expect(second.body.usage.total_tokens).to.equal(37);
    expect(second.body.id).to.not.equal(first.body.id);
    expect(second.headers.get('x-svc-run')).to.equal(first.headers.get('x-svc-run'));
    expect(svc.model.requests[1]?.body.messages.slice(-2)).to.deep.equal([
      { role: 'assistant', content: 'Let me look.', tool_calls: [choice.message.tool_calls[0]] },
      { role: 'tool', tool_call_id: choice.message.tool_calls[0].id, content: 'rain' },
    ]);
  });

  it('stream: the name and the arguments of each call by its index, then the answer to its result', async () => {
    const svc = await boot([{ text: 'Let me look.', toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }, { name: 'clock' }] }, RAIN]);
    const chunks = chunksOf((await post(svc.http, { stream: true, stream_options: { include_usage: true } })).text);
    const deltas = chunks.flatMap(({ choices }) => choices.flatMap(({ delta }: { delta: { tool_calls?: object[] } }) => delta.tool_calls ?? []));
    expect(deltas.map(({ index }) => index)).to.deep.equal([0, 0, 1, 1]);
    expect(deltas[0]).to.deep.include({ type: 'function', function: { name: 'weather', arguments: '' } });
    expect(deltas[1]).to.deep.equal({ index: 0, function: { arguments: '{"city":"Oslo"}' } });
    expect(chunks.at(-2).choices[0].finish_reason).to.equal('tool_calls');
    expect(chunks.at(-1)).to.deep.include({ choices: [] });
    const calls = deltas.filter(({ id }) => id !== undefined);
    const again = await goOn(svc.http, { role: 'assistant', tool_calls: calls }, ['rain', 'noon'], { stream: true });
    const text = chunksOf(again.text).map(({ choices }) => choices[0].delta.content ?? '');
    expect(text.join('')).to.equal('It rains.');
    expect(again.text).to.match(/\[DONE\]\n\n$/);
  });

  it("wait until the agent's own calls of the same answer have run, which stay inside", async () => {
    const svc = await boot([
      {
        toolCalls: [
          { name: 'file_list', args: { path: '.' } },
          { name: 'weather', args: { city: 'Oslo' } },
        ],
      },
      RAIN,
    ]);
    const { message } = await ask(svc.http);
    expect(message.tool_calls.map((call: { function: { name: string } }) => call.function.name)).to.deep.equal(['weather']);
    expect(message.content).to.equal(null);
    await goOn(svc.http, message, ['rain']);
    const roles = svc.model.requests[1]?.body.messages.map(({ role }: { role: string }) => role).slice(-3);
    expect(roles).to.deep.equal(['assistant', 'tool', 'tool']);
  });

  it('go on for several rounds in one run, each with its own usage', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'clock' }] }, { ...CALLS, usage: { input: 20, output: 2 } }, RAIN]);
    const first = await ask(svc.http);
    const second = await goOn(svc.http, first.message, ['noon']);
    expect(second.body.choices[0].message.tool_calls[0].function.name).to.equal('weather');
    expect(second.body.usage.total_tokens).to.equal(22);
    const third = await goOn(svc.http, second.body.choices[0].message, ['rain']);
    expect(third.body.choices[0].message.content).to.equal('It rains.');
    expect(third.headers.get('x-svc-run')).to.equal(second.headers.get('x-svc-run'));
  });

  it('take the same results again for the same answer, also at once, and refuse other ones', async () => {
    const svc = await boot([CALLS, RAIN, { text: 'never asked' }]);
    const { message } = await ask(svc.http);
    const answers = await Promise.all([goOn(svc.http, message, ['rain']), goOn(svc.http, message, ['rain']), goOn(svc.http, message, ['rain'])]);
    for (const { body } of [...answers, await goOn(svc.http, message, ['rain'])]) expect(body.choices?.[0].message.content, JSON.stringify(body)).to.equal('It rains.');
    expect(svc.model.requests).to.have.length(2);
    await refusedWith(goOn(svc.http, message, ['sun']), 409, 'run_calls_answered');
  });

  it('give the same calls again to results that came twice before them', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'clock' }] }, CALLS, RAIN]);
    const { message } = await ask(svc.http);
    const [one, two] = [await goOn(svc.http, message, ['noon']), await goOn(svc.http, message, ['noon'], { stream: true })];
    expect(two.text).to.contain(one.body.choices[0].message.tool_calls[0].id).and.contain('Let me look.');
    expect(svc.model.requests).to.have.length(2);
  });

  it('need a result for each call, once, and know only their own', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }, { name: 'clock' }] }, RAIN]);
    const { message } = await ask(svc.http);
    const [one, two] = resultsOf(message, 'rain', 'noon');
    const body = await refusedWith(post(svc.http, { messages: [one] }), 400, 'run_results_missing');
    expect(body.error).to.contain(two?.tool_call_id);
    await refusedWith(post(svc.http, { messages: [one, two, one] }), 400, 'run_results_twice');
    await refusedWith(post(svc.http, { messages: [one, two, { ...one, tool_call_id: 'call_elsewhere' }] }), 404, 'run_call_not_found');
    await refusedWith(post(svc.http, { messages: [QUESTION, { ...one, tool_call_id: `call_${'A'.repeat(22)}_1z0` }] }), 404, 'run_call_not_found');
    await refusedWith(post(svc.http, { messages: [{ ...one, content: 'x'.repeat(200_001) }, two] }), 413, 'run_result_too_large');
    expect((await post(svc.http, { messages: [one, two] })).status).to.equal(200);
  });

  it('that a new message leaves unanswered are skipped, and the session goes on', async () => {
    const svc = await boot([CALLS, { text: 'Never mind.' }]);
    const { message } = await ask(svc.http);
    const next = await ask(svc.http, { messages: [QUESTION, message, { role: 'user', content: 'Forget it.' }] });
    expect(next.message.content).to.equal('Never mind.');
    expect(svc.model.requests[1]?.body.messages.slice(-2)[0]).to.deep.include({ role: 'tool', content: 'Error: Skipped: a new message took its place.' });
    await refusedWith(goOn(svc.http, message, ['rain']), 409, 'run_calls_over');
  });

  it('keep a result that comes with a new message', async () => {
    const svc = await boot([CALLS, { text: 'Rain, then.' }]);
    const { message } = await ask(svc.http);
    await ask(svc.http, { messages: [QUESTION, message, ...resultsOf(message, 'rain'), { role: 'user', content: 'So?' }] });
    expect(svc.model.requests[1]?.body.messages.slice(-2)).to.deep.equal([
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' },
      { role: 'user', content: [{ type: 'text', text: 'So?' }] },
    ]);
  });

  it('are demanded in the first call of the model, by any name or one; none takes them away', async () => {
    const svc = await boot([CALLS, { toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, RAIN]);
    const { message } = await ask(svc.http, { tool_choice: 'required', parallel_tool_calls: false });
    expect(svc.model.requests[0]?.body).to.deep.include({ tool_choice: 'required', parallel_tool_calls: false });
    expect(offered(svc)).to.deep.equal(['weather', 'clock']);
    await goOn(svc.http, message, ['rain'], { tool_choice: { type: 'function', function: { name: 'weather' } } });
    expect(svc.model.requests[1]?.body.tool_choice).to.deep.equal({ type: 'function', function: { name: 'weather' } });
    expect(svc.model.requests[2]?.body).to.not.have.property('tool_choice');
    expect(offered(svc)).to.include.members(['file_read', 'weather']);
    await ask(svc.http, { tool_choice: 'none' });
    expect(offered(svc)).to.include('file_read').and.not.include('weather');
  });

  it('are called one at a time where the client says so, whatever the model does', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'weather', args: { city: 'Oslo' } }, { name: 'clock' }] }, RAIN]);
    const { message } = await ask(svc.http, { parallel_tool_calls: false });
    expect(message.tool_calls).to.have.length(1);
    await goOn(svc.http, message, ['rain']);
    expect(svc.model.requests[1]?.body.messages.filter(({ role }: { role: string }) => role === 'tool').map(({ content }: { content: string }) => content)).to.have.members([
      'rain',
      'Error: Only one of these tools can be called at a time. Call it again after the other one.',
    ]);
  });

  it('with arguments that are no JSON are asked for again: the client sees none of it', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'weather', args: '{"city":' }] }, CALLS]);
    const { message } = await ask(svc.http);
    expect(message.tool_calls[0].function.arguments).to.equal('{"city":"Oslo"}');
    expect(svc.model.requests).to.have.length(2);
  });

  it('that have the name of a tool of the agent are refused', async () => {
    const svc = await boot(RAIN);
    const mine = { type: 'function', function: { name: 'file_read', parameters: { type: 'object', properties: {} } } };
    const body = await refusedWith(post(svc.http, { tools: [mine] }), 400, 'run_tool_name_taken');
    expect(body.error).to.contain('file_read');
    expect((await post(svc.http, { model: ALONE, tools: [mine] })).status).to.equal(200);
    expect(offered(svc)).to.deep.equal(['file_read']);
  });

  for (const [what, fields, says] of [
    ['without a type', { tools: [{ name: 'a' }] }, /./],
    ['without a name', { tools: [{ type: 'function', function: {} }] }, /name must have/],
    ['of one name', { tools: [CLOCK, CLOCK] }, /used twice/],
    ['whose schema is none', { tools: [{ type: 'function', function: { name: 'a', parameters: 'x' } }] }, /not a JSON Schema/],
    ['whose schema is not of an object', { tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'string' } } }] }, /of type object/],
    [
      'whose schema has an unknown type',
      { tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'object', properties: { b: { type: 'strin' } } } } }] },
      /parameters\.properties\.b\.type/,
    ],
    ['that are too large', { tools: [{ type: 'function', function: { name: 'a', parameters: { type: 'object', description: 'x'.repeat(70_000) } } }] }, /65536 characters/],
    ['demanded, and none is there', { tools: [], tool_choice: 'required' }, /needs tools/],
    ['demanded by a name that none has', { tool_choice: { type: 'function', function: { name: 'b' } } }, /not among the tools/],
    ['chosen in an unknown way', { tool_choice: 'maybe' }, /not supported/],
  ] as const)
    it(`${what} are refused with 400, and nothing is asked`, async () => {
      const svc = await boot();
      const { status, body } = await post(svc.http, fields);
      expect([status, body.error]).to.satisfy(([got, error]: [number, string]) => got === 400 && says.test(error), JSON.stringify(body));
      expect(svc.model.requests).to.have.length(0);
    });

  it('of kinds that only a provider runs are left out, and the answer says so', async () => {
    const svc = await boot(RAIN);
    const hosted = [{ type: 'web_search' }, { type: 'namespace', name: 'mail', tools: [] }, { type: 'mcp', server_label: 'x' }, { type: 'local_shell' }];
    const { status, headers } = await post(svc.http, { model: ALONE, tools: [...hosted, CLOCK], tool_choice: { type: 'web_search' } });
    expect(status).to.equal(200);
    expect(offered(svc)).to.deep.equal([CLOCK.function.name]);
    expect(headers.get('x-svc-warning')).to.match(/web_search.*namespace mail.*mcp.*local_shell.*tool_choice/);
    const alone = await post(svc.http, { model: ALONE, tools: hosted, tool_choice: 'required' });
    expect([alone.status, alone.headers.get('x-svc-warning')]).to.satisfy(([code, said]: [number, string]) => code === 200 && said.includes('tool_choice'));
  });

  it('of one text are offered as functions, and called with the text itself', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'apply_patch', args: { input: 'line 1\nline 2' } }] }]);
    const custom = { name: 'apply_patch', description: 'Edits.', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "x"' } } };
    const { body } = await post(svc.http, { model: ALONE, tools: [{ type: 'custom', custom }] });
    expect(svc.model.requests[0]?.body.tools[0].function.description).to.contain('start: "x"');
    expect(body.choices[0].message.tool_calls[0]).to.deep.include({ type: 'custom', custom: { name: 'apply_patch', input: 'line 1\nline 2' } });
  });

  it('stay out of the session of the page, in one of their own', async () => {
    const svc = await boot([CALLS, RAIN]);
    const first = await post(svc.http, {});
    expect(first.headers.get('x-svc-session')).to.not.equal(svc.agent.session_id);
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body.messages).to.have.length(0);
    const second = await post(svc.http, { tools: [] });
    expect(second.headers.get('x-svc-session')).to.equal(first.headers.get('x-svc-session'));
  });
});

describe("a client's tools in a stateless request", () => {
  const boot = useModelKernel();

  it('are the only ones; the calls end the run, and the next request brings them with their results', async () => {
    const svc = await boot([CALLS, RAIN]);
    const first = await post(svc.http, { model: ALONE });
    const { message, finish_reason: reason } = first.body.choices[0];
    expect(reason).to.equal('tool_calls');
    expect(offered(svc)).to.deep.equal(['weather', 'clock']);
    expect(await statusOf(svc, first.headers)).to.equal('done');
    const second = await goOn(svc.http, message, ['rain'], { model: ALONE });
    expect(second.body.choices[0].message.content).to.equal('It rains.');
    expect(svc.model.requests[1]?.body.messages.slice(1)).to.deep.equal([
      QUESTION,
      { role: 'assistant', content: 'Let me look.', tool_calls: [message.tool_calls[0]] },
      { role: 'tool', tool_call_id: message.tool_calls[0].id, content: 'rain' },
    ]);
    // An edited transcript is another request.
    expect((await goOn(svc.http, { ...message, content: 'Edited.' }, ['sun'], { model: ALONE })).status).to.equal(200);
  });

  it('need all results of the last answer', async () => {
    const svc = await boot([{ toolCalls: [{ name: 'weather', args: {} }, { name: 'clock' }] }, RAIN]);
    const { message } = await ask(svc.http, { model: ALONE });
    await refusedWith(post(svc.http, { model: ALONE, messages: [QUESTION, message, resultsOf(message, 'rain')[0]] }), 400, 'results_missing');
  });

  it('are forbidden by tool_choice none, and stay declared for providers that need them', async () => {
    const svc = await boot([RAIN]);
    await ask(svc.http, { model: ALONE, tool_choice: 'none' });
    expect(svc.model.requests[0]?.body.tool_choice).to.equal('none');
    expect(offered(svc)).to.deep.equal(['weather', 'clock']);
  });

  it("do not reach the agent's own, though the model names one", async () => {
    const svc = await boot([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, RAIN]);
    expect((await ask(svc.http, { model: ALONE })).message.content).to.equal('It rains.');
    expect(JSON.stringify(svc.model.requests[1]?.body.messages.at(-1))).to.contain('There is no tool file_list.');
  });
});

describe("a run that waits for a client's tools", () => {
  afterEach(stopModelKernels);

  it('is only answered by the person whose message it is', async () => {
    const users = ['alice', 'bob'].map((name) => `[[users]]\nname = "${name}"\nrole = "admin"\napi_key_hash = "sha256:${createHash('sha256').update(`${name}-key`).digest('hex')}"\n`).join('');
    const svc = await bootWithModel([CALLS, RAIN], { key: 'root-key', config: `api_key = "root-key"\n${OPEN_RATE}\n${users}` });
    const [alice, bob] = [svc.kernel.as('alice-key'), svc.kernel.as('bob-key')];
    const { message } = await ask(alice);
    await refusedWith(goOn(bob, message, ['rain']), 404, 'run_call_not_found');
    await refusedWith(goOn(svc.http, message, ['rain']), 404, 'run_call_not_found');
    expect((await goOn(alice, message, ['rain'])).body.choices[0].message.content).to.equal('It rains.');
  });

  it('goes on after a restart, from the result alone', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-client-tools-'));
    try {
      const first = await bootWithModel(CALLS, { home });
      const { message } = await ask(first.http);
      await first.kernel.stop();

      const second = await bootWithModel(RAIN, { home });
      const answers = await Promise.all([goOn(second.http, message, ['rain'], { stream: true }), goOn(second.http, message, ['rain'])]);
      expect(answers[0]?.text).to.contain('It rains.');
      expect(answers[1]?.body.choices[0].message.content).to.equal('It rains.');
      expect(second.model.requests).to.have.length(1);
      expect(second.model.requests[0]?.body.messages.at(-1)).to.deep.include({ role: 'tool', content: 'rain' });
      await second.kernel.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('fails with a state of its own when nobody answers in time', async () => {
    const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
    const svc = await bootWithModel([CALLS, RAIN], { clock, config: `${OPEN_RATE}\n[runs]\nclient_tools_timeout_secs = 60\n` });
    const first = await post(svc.http, {});
    expect(await statusOf(svc, first.headers)).to.equal('waiting');
    await clock.advance(61_000);
    // The wait was committed; its timer may be set a moment later, and fires when the clock goes on.
    await until(async () => {
      await clock.advance(1_000);
      return (await statusOf(svc, first.headers)) === 'failed';
    });
    await refusedWith(goOn(svc.http, first.body.choices[0].message, ['rain']), 409, 'run_calls_over');
    expect((await ask(svc.http, { tools: [] })).message.content).to.equal('It rains.');
  });
});

const statusOf = async (svc: ModelKernel, headers: Headers): Promise<string | undefined> => (await svc.kernel.daemon.parts.journal.get(OWNER, headers.get('x-svc-run') ?? ''))?.status;

// biome-ignore lint/suspicious/noExplicitAny: chunks are looked into as they are
const chunksOf = (text: string): any[] =>
  text
    .split('\n\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)));
