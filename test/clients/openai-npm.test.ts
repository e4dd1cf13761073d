/** The official `openai` package, unchanged, pointed at the daemon. */
import { bootTestKernel } from '@svc/testing';
import { expect } from 'chai';
import OpenAI, { AuthenticationError, BadRequestError, InternalServerError, NotFoundError } from 'openai';
import { type ModelKernel, until, useModelKernel } from './model-kernel.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const clientOf = (svc: ModelKernel, options: ConstructorParameters<typeof OpenAI>[0] = {}): OpenAI => new OpenAI({ baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', maxRetries: 0, ...options });
const say = (content: string) => ({ model: 'svc:assistant', messages: [{ role: 'user' as const, content }] });

describe('the openai client', () => {
  const bootWithModel = useModelKernel();

  describe('chat.completions.create', () => {
    it('gets a completion from an agent by name', async () => {
      const svc = await bootWithModel({ text: 'four', usage: { input: 11, output: 3 } });
      const completion = await clientOf(svc).chat.completions.create(say('two and two?'));
      expect(completion.id).to.match(/^chatcmpl-[0-9a-f-]{36}$/);
      expect(completion.object).to.equal('chat.completion');
      expect(completion.created).to.be.closeTo(Date.now() / 1_000, 60);
      expect(completion.model).to.equal('svc:assistant');
      expect(completion.choices).to.have.length(1);
      expect(completion.choices[0]?.message.role).to.equal('assistant');
      expect(completion.choices[0]?.message.content).to.equal('four');
      expect(completion.choices[0]?.finish_reason).to.equal('stop');
      expect(completion.usage).to.deep.equal({ prompt_tokens: 11, completion_tokens: 3, total_tokens: 14 });
      expect(completion._request_id).to.match(/^[0-9a-f-]{36}$/);
    });

    it('finds the agent by svc:name, by id, by plain name, and else takes the first', async () => {
      const svc = await bootWithModel({ text: 'yes' });
      await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "second"\n[model]\nsystem_prompt = "You are the second."\n' });
      const second = (await svc.http.expect(200, 'GET', '/api/agents?q=second')).body.agents[0];
      const client = clientOf(svc);
      for (const model of ['svc:second', second.id, 'second']) {
        await client.chat.completions.create({ ...say('hello'), model });
        expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages), model).to.contain('You are the second.');
      }
      for (const model of ['gpt-4o', '00000000-0000-4000-8000-000000000000']) {
        await client.chat.completions.create({ ...say('hello'), model });
        expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages), model).to.not.contain('You are the second.');
      }
      const refused: unknown = await client.chat.completions.create({ ...say('hello'), model: 'svc:nobody' }).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(NotFoundError).with.property('code', 'model_not_found');
    });

    it('hands system text, temperature and max_tokens on to the model, for this run only', async () => {
      const svc = await bootWithModel({ text: 'ok' });
      const client = clientOf(svc);
      await client.chat.completions.create({ ...say('hello'), messages: [{ role: 'developer', content: 'Answer in Latin.' }, ...say('hello').messages], temperature: 0.25, max_tokens: 77 });
      const [first] = svc.model.requests;
      expect(JSON.stringify(first?.body.messages)).to.contain('Answer in Latin.');
      expect(first?.body.temperature).to.equal(0.25);
      expect(first?.body.max_tokens ?? first?.body.max_completion_tokens).to.equal(77);
      await client.chat.completions.create(say('again'));
      expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages)).to.not.contain('Latin');
    });

    it('takes images as parts with a data URL, streamed and not', async () => {
      const svc = await bootWithModel({ text: 'a pixel' });
      const url = `data:image/png;base64,${PIXEL}`;
      const messages = [
        {
          role: 'user' as const,
          content: [
            { type: 'text' as const, text: 'what is it?' },
            { type: 'image_url' as const, image_url: { url } },
          ],
        },
      ];
      const whole = await clientOf(svc).chat.completions.create({ model: 'svc:assistant', messages });
      expect(whole.choices[0]?.message.content).to.equal('a pixel');
      expect(JSON.stringify(svc.model.requests[0]?.body.messages)).to.contain(PIXEL);
      const stream = clientOf(svc).chat.completions.stream({ model: 'svc:assistant', messages });
      expect(await stream.finalContent()).to.equal('a pixel');
    });

    it('says length when the model ran out of tokens', async () => {
      const svc = await bootWithModel({ text: 'and so', stop: 'length' });
      expect((await clientOf(svc).chat.completions.create(say('hello'))).choices[0]?.finish_reason).to.equal('length');
    });

    it('says content_filter when the provider filtered the answer, streamed and not', async () => {
      const svc = await bootWithModel({ text: 'I must', stop: 'content_filter' });
      expect((await clientOf(svc).chat.completions.create(say('hello'))).choices[0]?.finish_reason).to.equal('content_filter');
      const reasons = [];
      for await (const chunk of await clientOf(svc).chat.completions.create({ ...say('hello'), stream: true })) reasons.push(chunk.choices[0]?.finish_reason);
      expect(reasons.at(-1)).to.equal('content_filter');
    });

    it("keeps the agent's own tool calls to itself and counts all their tokens", async () => {
      const svc = await bootWithModel([{ toolCalls: [{ name: 'file_list', args: { path: '.' } }] }, { text: 'nothing there' }]);
      const completion = await clientOf(svc).chat.completions.create(say('what files?'));
      expect(completion.choices[0]?.message.tool_calls).to.equal(undefined);
      expect(completion.choices[0]?.message.content).to.equal('nothing there');
      expect(completion.usage?.total_tokens).to.equal(30);
    });
  });

  it('may send all that other servers take: nulls, tools, formats, earlier turns', async () => {
    const svc = await bootWithModel({ text: 'taken' });
    const completion = await clientOf(svc).chat.completions.create({
      model: 'svc:assistant',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'earlier' },
        { role: 'assistant', content: null, tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
        { role: 'user', content: 'now', name: 'ada' },
      ],
      stream: null,
      temperature: null,
      max_tokens: null,
      n: 1,
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      response_format: { type: 'text' },
      seed: 1,
      top_p: 0.5,
      stop: ['.'],
      user: 'ada',
      metadata: { a: 'b' },
      store: false,
      logprobs: false,
    });
    expect(completion.choices[0]?.message.content).to.equal('taken');
    expect(JSON.stringify(svc.model.requests[0]?.body.messages.at(-1)))
      .to.contain('now')
      .and.not.contain('earlier');
  });

  it('gets a JSON 404 for what agents do not offer: moderations, images', async () => {
    const client = clientOf(await bootWithModel());
    for (const work of [client.moderations.create({ model: 'x', input: 'y' }), client.images.generate({ model: 'x', prompt: 'y' })]) {
      const error = await work.then(
        () => undefined,
        (caught: unknown) => caught,
      );
      expect(error).to.be.instanceOf(NotFoundError);
    }
  });

  describe('streams', () => {
    it('as chunks: the role first, then text, then the reason with the usage, and [DONE]', async () => {
      const svc = await bootWithModel({ deltas: ['one ', 'two ', 'three'], usage: { input: 8, output: 4 } });
      const chunks = [];
      for await (const chunk of await clientOf(svc).chat.completions.create({ ...say('count'), stream: true })) chunks.push(chunk);
      expect(chunks[0]?.choices[0]?.delta).to.deep.equal({ role: 'assistant', content: '' });
      expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).to.equal('one two three');
      expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0]?.finish_reason === null)).to.equal(true);
      expect(chunks.at(-1)?.choices[0]).to.deep.include({ delta: {}, finish_reason: 'stop' });
      expect(chunks.at(-1)?.usage).to.deep.equal({ prompt_tokens: 8, completion_tokens: 4, total_tokens: 12 });
      expect(new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model} ${chunk.object}`)).size).to.equal(1);
      const raw = await svc.http.post('/v1/chat/completions', { ...say('count'), stream: true });
      expect(raw.headers.get('content-type')).to.match(/^text\/event-stream/);
      expect(raw.text.endsWith('data: [DONE]\n\n')).to.equal(true);
    });

    it('with include_usage once, in a chunk of its own without choices, and else beside the end', async () => {
      const svc = await bootWithModel({ deltas: ['a', 'b'], usage: { input: 2, output: 2 } });
      const chunks = [];
      for await (const chunk of await clientOf(svc).chat.completions.create({ ...say('go'), stream: true, stream_options: { include_usage: true } })) chunks.push(chunk);
      const usage = { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 };
      expect(chunks.filter((chunk) => chunk.usage)).to.have.length(1);
      expect(chunks.at(-1)).to.deep.include({ choices: [], usage });
      expect([chunks.at(-2)?.choices[0]?.finish_reason, chunks.at(-2)?.choices[0]?.delta]).to.deep.equal(['stop', {}]);
      const plain = [];
      for await (const chunk of await clientOf(svc).chat.completions.create({ ...say('go'), stream: true })) plain.push(chunk);
      expect(plain.filter((chunk) => chunk.usage)).to.have.length(1);
      expect(plain.at(-1)).to.deep.include({ usage });
    });

    it('through its stream helper, with include_usage', async () => {
      const svc = await bootWithModel({ deltas: ['a', 'b'], usage: { input: 2, output: 2 } });
      const stream = clientOf(svc).chat.completions.stream({ ...say('go'), stream_options: { include_usage: true } });
      const seen: string[] = [];
      stream.on('content', (delta) => seen.push(delta));
      expect(await stream.finalContent()).to.equal('ab');
      expect(seen.join('')).to.equal('ab');
      expect((await stream.totalUsage()).total_tokens).to.equal(4);
    });

    it('answer with a status when the run fails before it said a word', async () => {
      const svc = await bootWithModel({ status: 400, message: 'not that' });
      const error = await clientOf(svc)
        .chat.completions.create({ ...say('go'), stream: true })
        .then(
          () => undefined,
          (caught: unknown) => caught,
        );
      expect(error).to.be.instanceOf(InternalServerError);
      expect(error).to.include({ status: 500, code: 'llm_provider_rejected', type: 'server_error' });
    });

    it('raise the error of a run that fails after the stream began', async () => {
      const svc = await bootWithModel({ deltas: ['half a'], halfStream: true });
      let caught: unknown;
      try {
        for await (const _chunk of await clientOf(svc).chat.completions.create({ ...say('go'), stream: true }));
      } catch (error) {
        caught = error;
      }
      expect(caught).to.be.an('error');
      expect(String(caught)).to.contain('closed the connection');
      expect(caught).to.include({ code: 'llm_half_stream' });
    });
  });

  describe('models', () => {
    it('are the agents', async () => {
      const svc = await bootWithModel();
      await svc.http.expect(201, 'POST', '/api/agents', { manifest_toml: 'name = "second"\n' });
      const models = [];
      for await (const model of clientOf(svc).models.list()) models.push(model);
      expect(models.map((model) => model.id).sort()).to.deep.equal(['svc:assistant', 'svc:assistant:stateless', 'svc:second', 'svc:second:stateless']);
      expect(models.every((model) => model.object === 'model' && model.owned_by === 'svc' && Number.isInteger(model.created))).to.equal(true);
      for (const id of ['svc:second', 'svc:second:stateless']) expect((await clientOf(svc).models.retrieve(id)).id).to.equal(id);
    });
  });

  describe('errors', () => {
    const failing = async (work: Promise<unknown>): Promise<unknown> => work.then(() => undefined).catch((error: unknown) => error);

    it('come as the classes of the client', async () => {
      const client = clientOf(await bootWithModel({ status: 500 }));
      expect(await failing(client.chat.completions.create({ model: 'svc:assistant', messages: [{ role: 'assistant', content: 'hello' }] })))
        .to.be.instanceOf(BadRequestError)
        .with.property('status', 400);
      expect(await failing(client.chat.completions.create({ ...say('x'), n: 2 }))).to.be.instanceOf(BadRequestError);
      expect(await failing(client.models.retrieve('svc:nobody'))).to.be.instanceOf(NotFoundError);
      const broken = await failing(client.chat.completions.create(say('hello')));
      expect(broken).to.be.instanceOf(InternalServerError);
      expect(String((broken as InternalServerError).requestID)).to.match(/^[0-9a-f-]{36}$/);
    });

    it('carry message, type, code and param, whoever wrote them', async () => {
      const svc = await bootWithModel();
      const client = clientOf(svc);
      const answers = [
        [await failing(client.chat.completions.create({ ...say('x'), n: 2 })), { status: 400, code: 'unsupported_value', type: 'invalid_request_error', param: null }],
        [await failing(client.chat.completions.create({ model: 'svc:assistant' } as never)), { status: 400, code: 'invalid_request', type: 'invalid_request_error' }],
        [await failing(client.models.retrieve('svc:nobody')), { status: 404, code: 'model_not_found', type: 'invalid_request_error' }],
        [await failing(client.moderations.create({ model: 'x', input: 'y' })), { status: 404, code: 'not_found', type: 'invalid_request_error' }],
        [await failing(client.models.delete('svc:assistant')), { status: 405, code: 'method_not_allowed', type: 'invalid_request_error' }],
        [await failing(client.chat.completions.create(say('x'), { headers: { 'content-type': 'text/plain' } })), { status: 415, code: 'unsupported_media_type', type: 'invalid_request_error' }],
      ] as const;
      for (const [error, expected] of answers) {
        expect(error).to.include(expected);
        expect(String(error)).to.not.contain('[object');
        expect((error as Error).message.length).to.be.greaterThan(20);
      }
      const plain = await svc.http.post('/v1/chat/completions', { ...say('x'), n: 2 });
      expect(plain.body.error).to.be.a('string');
      for (const agent of ['ai-sdk/openai-compatible/2.0.0', 'langchainjs-openai/1.0.0', 'AsyncOpenAI/Python 2.1.0']) {
        expect((await svc.http.post('/v1/chat/completions', { ...say('x'), n: 2 }, { 'user-agent': agent })).body.error, agent).to.include({ code: 'unsupported_value' });
      }
    });

    it('name what was wrong with an image, and fetch nothing', async () => {
      const svc = await bootWithModel();
      for (const url of ['https://example.org/a.png', 'data:image/svg+xml;base64,AAAA', 'data:image/png;base64,***']) {
        const error = await failing(clientOf(svc).chat.completions.create({ model: 'svc:assistant', messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }));
        expect(error, url).to.be.instanceOf(BadRequestError);
      }
      expect(svc.model.requests).to.have.length(0);
    });

    it('of a run that began are not repeated by the client: x-should-retry is false', async () => {
      const svc = await bootWithModel({ status: 400, message: 'bad prompt' });
      const error = await failing(clientOf(svc, { maxRetries: 3 }).chat.completions.create(say('hello')));
      expect(error).to.be.an('error');
      expect(svc.model.requests).to.have.length(1);
    });

    it('of a provider that limits the rate are a driver error (500), not a limit of this daemon', async () => {
      const svc = await bootWithModel({ status: 429, message: 'slow down' });
      const error = await failing(clientOf(svc).chat.completions.create(say('hello')));
      expect(error).to.be.instanceOf(InternalServerError);
      expect(String(error)).to.contain('limit');
    });
  });

  describe('resends', () => {
    it('a request whose connection broke, and gets the run that is going on: the model is asked once', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const svc = await bootWithModel(async () => {
        await held;
        return { text: 'once' };
      });
      let sent = 0;
      const client = clientOf(svc, {
        maxRetries: 2,
        fetch: async (url, init) => {
          sent += 1;
          if (sent > 1) {
            expect(new Headers(init?.headers).get('x-stainless-retry-count')).to.equal('1');
            const answer = fetch(url, init);
            setTimeout(release, 20);
            return answer;
          }
          // The first connection breaks after the model has been asked.
          const cut = new AbortController();
          const answer = fetch(url, { ...init, signal: cut.signal });
          answer.catch(() => undefined);
          await until(() => svc.model.requests.length === 1);
          cut.abort();
          throw new TypeError('fetch failed');
        },
      });
      const completion = await client.chat.completions.create(say('only once, please'));
      expect(completion.choices[0]?.message.content).to.equal('once');
      expect(sent).to.equal(2);
      expect(svc.model.requests).to.have.length(1);
    });

    it('a request whose answer was lost, and gets the same answer again', async () => {
      const svc = await bootWithModel({ text: 'the one answer' });
      let first: string | undefined;
      const client = clientOf(svc, {
        maxRetries: 2,
        fetch: async (url, init) => {
          const answer = await fetch(url, init);
          if (first !== undefined) return answer;
          first = ((await answer.json()) as { id: string }).id;
          throw new TypeError('fetch failed');
        },
      });
      const completion = await client.chat.completions.create(say('hello'));
      expect(completion.id).to.equal(first);
      expect(completion.choices[0]?.message.content).to.equal('the one answer');
      expect(svc.model.requests).to.have.length(1);
    });

    it('a stream that broke off, and gets all of the same answer', async () => {
      let release: () => void = () => undefined;
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const svc = await bootWithModel(async () => {
        await held;
        return { deltas: ['all ', 'of ', 'it'] };
      });
      const body = { ...say('tell me'), stream: true as const };
      const cut = new AbortController();
      const first = svc.http.raw('POST', '/v1/chat/completions', body, {}, cut.signal).catch(() => undefined);
      await until(() => svc.model.requests.length === 1);
      cut.abort();
      await first;
      release();
      let text = '';
      for await (const chunk of await clientOf(svc).chat.completions.create(body, { headers: { 'x-stainless-retry-count': '1' } })) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).to.equal('all of it');
      expect(svc.model.requests).to.have.length(1);
    });

    it('are told from a second question with the same words', async () => {
      const svc = await bootWithModel({ text: 'yes' });
      const client = clientOf(svc);
      await client.chat.completions.create(say('again?'));
      await client.chat.completions.create(say('again?'));
      expect(svc.model.requests).to.have.length(2);
    });

    it('with the same Idempotency-Key are one run, streamed or not', async () => {
      const svc = await bootWithModel({ text: 'keyed' });
      const client = clientOf(svc);
      const headers = { 'Idempotency-Key': 'order-1' };
      const first = await client.chat.completions.create(say('hello'), { headers });
      const second = await client.chat.completions.create(say('hello'), { headers });
      expect(second.id).to.equal(first.id);
      let text = '';
      for await (const chunk of await client.chat.completions.create({ ...say('hello'), stream: true }, { headers })) text += chunk.choices[0]?.delta.content ?? '';
      expect(text).to.equal('keyed');
      expect(svc.model.requests).to.have.length(1);
    });
  });

  it('is refused without the right key, as an authentication error', async () => {
    const { url } = await bootTestKernel({ config: 'api_key = "k"\n' });
    const wrong = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'wrong', maxRetries: 0 });
    const refused = await wrong.models.list().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(refused).to.be.instanceOf(AuthenticationError);
    expect(refused).to.include({ code: 'invalid_api_key', type: 'authentication_error' });
    expect((await new OpenAI({ baseURL: `${url}/v1`, apiKey: 'k' }).models.list()).data).to.have.length(2);
  });
});
