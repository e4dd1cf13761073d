/** Requests that bring their whole conversation, as chat UIs send them. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OPEN_RATE, OWNER } from '@svc/testing';
import { virtualClock } from '@svc/platform/clock/clock';
import { expect } from 'chai';
import OpenAI from 'openai';
import { type ModelKernel, until, useModelKernel } from '../model-kernel.js';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const FINISHING = `${OPEN_RATE}[runs]\non_disconnect = "finish"\n`;
const ALONE = 'svc:assistant:stateless';

interface Wire {
  readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>;
  readonly tools?: readonly unknown[];
}
const asked = (svc: ModelKernel): Wire => svc.model.requests.at(-1)?.body as unknown as Wire;
/** What the model was sent beside the system prompt. */
const turns = (svc: ModelKernel): unknown[] => asked(svc).messages.filter(({ role }) => role !== 'system');
const post = (svc: ModelKernel, body: object, headers: Record<string, string> = {}) => svc.http.post('/v1/chat/completions', { model: ALONE, ...body }, headers);
const history = async (svc: ModelKernel) => (await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}/session`)).body;

const CONVERSATION = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'one' },
  { role: 'assistant', content: 'first' },
  { role: 'user', content: 'two' },
];

describe('a stateless request', () => {
  const bootWithModel = useModelKernel();

  for (const [how, body, headers] of [
    ['by its model id', {}, {}],
    ['by its header', { model: 'svc:assistant' }, { 'x-svc-stateless': '1' }],
  ] as const)
    it(`is answered from its own messages, in their order, and nothing else: ${how}`, async () => {
      const svc = await bootWithModel(() => ({ text: 'ok' }));
      await svc.http.expect(200, 'POST', `/api/agents/${svc.agent.id}/message`, { message: 'what the session holds' });
      const { status, headers: answered } = await post(svc, { ...body, messages: CONVERSATION }, headers);
      expect([status, answered.get('x-svc-session')]).to.deep.equal([200, null]);
      expect(turns(svc)).to.deep.equal([
        { role: 'user', content: 'one' },
        { role: 'assistant', content: 'first' },
        { role: 'user', content: 'two' },
      ]);
      expect(String(asked(svc).messages[0]?.content)).to.match(/Be brief\.$/);
      expect((await history(svc)).message_count).to.equal(2);
      expect((await svc.http.expect(200, 'GET', '/api/status')).body.session_count).to.equal(1);
      expect(JSON.stringify((await history(svc)).messages)).to.not.contain('two');
    });

  it('may be edited and regenerated: each answer stands on what was sent with it', async () => {
    let count = 0;
    const svc = await bootWithModel(() => ({ text: `answer ${++count}` }));
    const client = new OpenAI({ baseURL: `${svc.kernel.url}/v1`, apiKey: 'any', maxRetries: 0 });
    const ask = async (content: string) => (await client.chat.completions.create({ model: ALONE, messages: [{ role: 'user', content }] })).choices[0]?.message.content;
    expect([await ask('a?'), await ask('a?'), await ask('b?')]).to.deep.equal(['answer 1', 'answer 2', 'answer 3']);
    expect(turns(svc)).to.deep.equal([{ role: 'user', content: 'b?' }]);
  });

  it('holds images of any user turn', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const url = `data:image/png;base64,${PIXEL}`;
    const image = {
      role: 'user',
      content: [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url } },
      ],
    };
    await post(svc, { messages: [image, { role: 'assistant', content: [{ type: 'text', text: 'a dot' }] }, { role: 'user', content: 'which colour?' }] });
    expect(turns(svc)).to.deep.equal([image, { role: 'assistant', content: 'a dot' }, { role: 'user', content: 'which colour?' }]);
  });

  it("uses the agent's tools, and keeps them out of the answer", async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'noon' }]);
    const { body } = await post(svc, { messages: CONVERSATION });
    expect(body.choices[0].message).to.deep.equal({ role: 'assistant', content: 'noon', refusal: null });
    expect(body.usage.total_tokens).to.equal(30);
    expect(turns(svc)).to.have.length(5);
    expect(asked(svc).tools).to.be.an('array').that.is.not.empty;
  });

  it('takes a slash for a word, and changes no session', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    for (const content of ['/new', '/btw hello']) {
      await post(svc, { messages: [{ role: 'user', content }] });
      expect(turns(svc)).to.deep.equal([{ role: 'user', content }]);
    }
    expect((await svc.http.expect(200, 'GET', `/api/agents/${svc.agent.id}`)).body.session_id).to.equal(svc.agent.session_id);
  });

  it('waits for nobody: others of the agent are answered while its session is busy', async () => {
    let release: () => void = () => undefined;
    const busy = new Promise<void>((resolve) => {
      release = resolve;
    });
    const svc = await bootWithModel(async ({ body }) => {
      if (JSON.stringify(body).includes('work that takes all day')) await busy;
      return { text: 'done' };
    });
    const long = post(svc, { model: 'svc:assistant', messages: [{ role: 'user', content: 'work that takes all day' }] });
    await until(() => svc.model.requests.length === 1);
    const quick = await Promise.all(['a', 'b', 'c'].map((content) => post(svc, { messages: [{ role: 'user', content }] })));
    expect(quick.map(({ body }) => body.choices[0].message.content)).to.deep.equal(['done', 'done', 'done']);
    release();
    expect((await long).status).to.equal(200);
  });

  it("keeps to the agent's limits, and is charged to it", async () => {
    const svc = await bootWithModel(() => ({ text: 'ok', usage: { input: 600, output: 400 } }));
    await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'capped', capabilities: { max_llm_tokens_per_hour: 1_000 } } });
    const say = () => post(svc, { model: 'svc:capped:stateless', messages: CONVERSATION });
    expect((await say()).status).to.equal(200);
    const refused = await say();
    expect([refused.status, refused.body.code]).to.deep.equal([429, 'token_quota_exceeded']);
  });

  it('that a client sends again by itself gets the run that it began', async () => {
    const svc = await bootWithModel(() => ({ text: 'once' }));
    const first = await post(svc, { messages: CONVERSATION });
    const again = await post(svc, { messages: CONVERSATION }, { 'x-stainless-retry-count': '1' });
    expect(again.body.id).to.equal(first.body.id);
    const other = await post(svc, { messages: CONVERSATION.with(1, { role: 'user', content: 'edited' }) }, { 'x-stainless-retry-count': '1' });
    expect(other.body.id).to.not.equal(first.body.id);
    const keyed = { 'idempotency-key': 'k1' };
    expect((await post(svc, { messages: CONVERSATION }, keyed)).body.id).to.equal((await post(svc, { messages: CONVERSATION }, keyed)).body.id);
    expect((await post(svc, { messages: CONVERSATION.slice(0, 2) }, keyed)).status).to.equal(409);
    expect(svc.model.requests).to.have.length(3);
  });

  it('goes on with all its messages after a restart, and then leaves none', async () => {
    const home = await mkdtemp(join(tmpdir(), 'svc-stateless-'));
    try {
      const clock = virtualClock(Date.parse('2026-01-01T00:00:00Z'));
      const first = await bootWithModel(() => ({ hang: true }), { home, clock, config: FINISHING });
      const cut = new AbortController();
      const sent = first.http.raw('POST', '/v1/chat/completions', { model: ALONE, messages: CONVERSATION }, {}, cut.signal).catch(() => undefined);
      await until(() => first.model.requests.length === 1);
      cut.abort();
      await sent;
      let isStopped = false;
      const stopping = first.kernel.stop().finally(() => {
        isStopped = true;
      });
      // The time that an orderly stop gives its runs.
      await until(async () => {
        await clock.advance(1_000);
        return isStopped;
      });
      await stopping;

      const second = await bootWithModel(() => ({ text: 'here it is' }), { home, config: FINISHING });
      await until(() => second.model.requests.length === 1);
      expect(turns(second)).to.deep.equal(CONVERSATION.slice(1));
      await until(async () => (await second.http.expect(200, 'GET', '/api/status')).body.active_agent_count === 0);
      expect((await history(second)).message_count).to.equal(0);
      expect((await second.http.expect(200, 'GET', '/api/status')).body.session_count).to.equal(0);
      await second.kernel.stop();
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  });

  it('may hold ten thousand messages, all of which are sent, and no more', async () => {
    const svc = await bootWithModel([{ toolCalls: [{ name: 'system_time', args: {} }] }, { text: 'ok' }]);
    const many = (count: number) => Array.from({ length: count }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `m${index}` }));
    expect((await post(svc, { messages: many(9_999) })).status).to.equal(200);
    expect(turns(svc)).to.have.length(10_001);
    const refused = await post(svc, { messages: many(10_001) });
    expect([refused.status, refused.body.code]).to.deep.equal([400, 'unsupported_value']);
  }).timeout(30_000);

  it('is sent whole, whatever the agent says of its history and the catalog of its window', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    await svc.http.expect(201, 'POST', '/api/agents', { manifest: { name: 'narrow', max_history_messages: 2, model: { context_window: 2_000, max_tokens: 100 } } });
    const long = Array.from({ length: 9 }, (_, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content: `${index} ${'x'.repeat(20_000)}` }));
    const { headers } = await post(svc, { model: 'svc:narrow:stateless', messages: long });
    expect(turns(svc)).to.deep.equal(long);
    const run = await svc.kernel.daemon.parts.journal.get(OWNER, headers.get('x-svc-run') ?? '');
    expect(run?.input).to.deep.include({ door: 'openai' }).and.not.have.any.keys('parts', 'history');
  });

  it('takes what a tool of the client was asked and gave, and tells the model in words', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
    const before = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Let me look.', tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c1', content: 'rain' },
    ];
    const reported = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'Let me look.\nI asked the tool weather: {"city":"Oslo"}' },
      { role: 'user', content: 'Result of the tool weather:\nrain' },
    ];
    expect((await post(svc, { messages: [...before, { role: 'assistant', content: 'It rains.' }, { role: 'user', content: 'c' }] })).status).to.equal(200);
    expect(turns(svc)).to.deep.equal([...reported, { role: 'assistant', content: 'It rains.' }, { role: 'user', content: 'c' }]);
    // The result may be the last, in text parts, and calls may stand alone.
    expect((await post(svc, { messages: before })).status).to.equal(200);
    expect(turns(svc)).to.deep.equal(reported);
    const bare = [
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, tool_calls: [{ id: 'c2' }, 'odd', { function: 5 }] },
      { role: 'tool', tool_call_id: 'elsewhere', content: [{ type: 'text', text: 'b' }] },
      { role: 'function', name: 'old', content: 'd' },
    ];
    expect((await post(svc, { messages: bare })).status).to.equal(200);
    expect(turns(svc).slice(1)).to.deep.equal([
      { role: 'assistant', content: 'I asked the tool without a name: {}\nI asked the tool without a name: {}' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Result of the tool of the client:\nb' },
          { type: 'text', text: 'Result of the tool old:\nd' },
        ],
      },
    ]);
  });

  for (const [what, messages, code] of [
    ['an assistant message last', [...CONVERSATION, { role: 'assistant', content: 'and' }], 'no_question'],
    ['only a system message', [{ role: 'system', content: 'Be brief.' }], 'no_question'],
    ['an empty question', [{ role: 'user', content: '' }], 'no_question'],
    ['a part of a type nobody takes', [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }], 'unsupported_part'],
  ] as const)
    it(`with ${what} is refused with 400, and nothing is asked`, async () => {
      const svc = await bootWithModel();
      const { status, body } = await post(svc, { messages });
      expect([status, body.code]).to.deep.equal([400, code]);
      if (code === 'unsupported_part') expect(body.error).to.match(/input_audio/);
      expect(svc.model.requests).to.have.length(0);
    });

  it('of more than the body may hold is refused with 413', async () => {
    const svc = await bootWithModel();
    const { status } = await post(svc, { messages: [{ role: 'user', content: 'x'.repeat(33 * 1_048_576) }] });
    expect(status).to.equal(413);
  });
});

describe('an old history', () => {
  const bootWithModel = useModelKernel();
  const picture = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
  const LOOK = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } };
  const asks = (args: string) => ({ role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'look', arguments: args } }] });
  const result = (content: unknown) => ({ role: 'tool', tool_call_id: 'c', content });
  const cases: ReadonlyArray<readonly [what: string, before: readonly object[], sent: RegExp]> = [
    ['a greeting of the assistant', [{ role: 'assistant', content: 'Hello' }], /Hello/],
    [
      'a picture of the assistant',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: [picture] },
      ],
      /a picture, image\/png/,
    ],
    ['a picture of the system', [{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }, picture] }], /Be brief/],
    [
      'a picture at an address',
      [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] },
        { role: 'assistant', content: 'b' },
      ],
      /nothing is fetched/,
    ],
    [
      'a refusal, thoughts and no words',
      [
        { role: 'user', content: 'a' },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm' },
            { type: 'refusal', refusal: 'I will not.' },
          ],
        },
        { role: 'assistant', content: null },
      ],
      /I will not/,
    ],
    [
      'sound',
      [
        { role: 'user', content: [{ type: 'input_audio', input_audio: {} }] },
        { role: 'assistant', content: 'b' },
      ],
      /a part of type input_audio/,
    ],
    ['a call that came out broken', [{ role: 'user', content: 'a' }, asks('{"a":'), result('error: not JSON')], /I asked the tool look: \{\\"a\\":.*not JSON/],
    ['a call with a list', [{ role: 'user', content: 'a' }, asks('[1]'), result('no')], /I asked the tool look/],
    ['a call without its result', [{ role: 'user', content: 'a' }, asks('{}')], /I asked the tool look/],
    ['a result without its call', [{ role: 'user', content: 'a' }, result('found')], /Result of the tool of the client:\\nfound/],
  ];
  for (const [what, before, sent] of cases)
    it(`with ${what} is taken`, async () => {
      const svc = await bootWithModel(() => ({ text: 'ok' }));
      const { status, body } = await post(svc, { messages: [...before, { role: 'user', content: 'and now?' }], tools: [LOOK], stop: [] });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(JSON.stringify(svc.model.requests[0]?.body.messages)).to.match(sent).and.to.contain('and now?').and.not.to.contain('hm"');
    });

  it('may end with a picture that a tool gave: the model sees it', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const { status } = await post(svc, { messages: [{ role: 'user', content: 'a' }, asks('{}'), result([{ type: 'text', text: 'shot' }, picture])], tools: [LOOK] });
    expect(status).to.equal(200);
    const messages = JSON.stringify(svc.model.requests[0]?.body.messages);
    expect(messages).to.contain(PIXEL).and.to.contain('shot');
  });
});

describe('an image of a request', () => {
  const bootWithModel = useModelKernel();

  const images: ReadonlyArray<readonly [what: string, url: string, says: RegExp]> = [
    ['of eleven megabytes', `data:image/png;base64,${'A'.repeat(Math.ceil((11 * 1_048_576) / 3) * 4)}`, /larger than 10 MB/],
    ['that says it is a PNG and is text', `data:image/png;base64,${Buffer.from('<svg onload=alert(1)>').toString('base64')}`, /not a PNG, JPEG, GIF or WebP/],
    ['whose base64 is cut off', `data:image/png;base64,${PIXEL.slice(0, 33)}`, /base64 is not valid/],
    ['at an address', 'https://example.org/a.png', /nothing is fetched/],
  ];
  for (const [what, url, says] of images)
    for (const model of ['svc:assistant', ALONE])
      it(`${what} is refused with 400: ${model}`, async () => {
        const svc = await bootWithModel();
        const { status, body } = await post(svc, { model, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] });
        expect([status, body.code]).to.deep.equal([400, 'invalid_image']);
        expect(body.error).to.match(says);
        expect(svc.model.requests).to.have.length(0);
      });

  it('is what its bytes are, whatever its label says', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    for (const label of ['image/jpeg', 'image/jpg', 'application/octet-stream']) {
      expect((await post(svc, { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: `data:${label};base64,${PIXEL}` } }] }] })).status, label).to.equal(200);
      expect(JSON.stringify(svc.model.requests.at(-1)?.body.messages)).to.contain('data:image/png;base64,');
    }
  });

  it('is taken as each of the four kinds', async () => {
    const svc = await bootWithModel(() => ({ text: 'ok' }));
    const heads = {
      png: Buffer.from(PIXEL, 'base64'),
      jpeg: Buffer.from('ffd8ffe000104a464946000101', 'hex'),
      gif: Buffer.from('GIF89a\x01\x00\x01\x00\x00\x00', 'latin1'),
      webp: Buffer.from('RIFF\x04\x00\x00\x00WEBPVP8 ', 'latin1'),
    };
    for (const [kind, bytes] of Object.entries(heads)) {
      const url = `data:image/${kind};base64,${bytes.toString('base64')}`;
      expect((await post(svc, { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] })).status, kind).to.equal(200);
    }
  });
});
