/** A provider: a driver for models that the daemon itself cannot speak to. */
import type { Template } from './template.js';

export const providerTemplate: Template = () => ({
  description: 'Lets agents use the language models of Replicate.',
  manifest: {
    provides: { 'model-driver:replicate': '1.0.0' },
    grants: [
      { grant: 'egress:model', why: 'talks to the provider, at its base URL' },
      { grant: 'secrets:provider.replicate', why: 'names the key that is added to a request; it never sees the key' },
      { grant: 'env:REPLICATE_API_TOKEN', why: 'the key may stand in this variable' },
    ],
  },
  about: `"replicate" is a provider in the daemon's list whose protocol it does not speak; this extension does. For another one
of that list (\`svc providers list\`) change the name in extension.json and src/contract.ts, and src/driver.ts.

    svc providers set-key replicate
    svc agent spawn …              # with provider = "replicate" and a model such as "meta/meta-llama-3-70b-instruct"`,
  files: {
    'src/contract.ts': `/**
 * The part of the service "model-driver" that is used here. What crosses is validated by its declaration, which stands whole
 * in GET /api/extensions/llm.
 */
import { OneOf, type Plain, Type, defineService, named, streamMethod } from '@svc/api';

const Part = Type.Object({ type: Type.String({ description: 'text, image, tool_call or tool_result' }), text: Type.Optional(Type.String()), content: Type.Optional(Type.String()) });

export const Target = Type.Object({
  model: Type.String(),
  baseUrl: Type.String(),
  secret: Type.Optional(Type.Object({ secret: Type.String(), env: Type.Optional(Type.String()) })),
  timeoutMs: Type.Number(),
  idleTimeoutMs: Type.Optional(Type.Number()),
});
export type Target = Plain<typeof Target>;

export const Request = Type.Object({
  system: Type.String(),
  messages: Type.Array(Type.Object({ role: OneOf(['user', 'assistant']), parts: Type.Array(Part) })),
  maxTokens: Type.Number(),
  temperature: Type.Optional(Type.Number()),
});
export type Request = Plain<typeof Request>;

export const Event = Type.Union([
  Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  Type.Object({ type: Type.Literal('usage'), inputTokens: Type.Optional(Type.Number()), outputTokens: Type.Optional(Type.Number()) }),
  Type.Object({ type: Type.Literal('stop'), reason: OneOf(['end', 'length']) }),
]);
export type Event = Plain<typeof Event>;

/** One exchange with one model. It ends with \`stop\`, or throws. */
export const Driver = named(defineService('model-driver', '1.0.0', { stream: streamMethod([Target, Request], Event) }), 'replicate');
`,
    'src/driver.ts': `/** One exchange: a prediction of Replicate's HTTP API, which is awaited. */
import { type ExtensionContext, SvcError } from '@svc/api';
import type { Event, Request, Target } from './contract';

interface Prediction {
  readonly status?: string;
  readonly output?: string | readonly string[] | null;
  readonly error?: string | null;
  readonly metrics?: { readonly input_token_count?: number; readonly output_token_count?: number };
}

export async function* exchange(fetch: ExtensionContext['fetch'], target: Target, request: Request, signal: AbortSignal): AsyncGenerator<Event> {
  const response = await fetch(\`\${target.baseUrl}/models/\${target.model}/predictions\`, {
    purpose: 'model',
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'wait' },
    ...(target.secret ? { secretHeaders: { authorization: { ...target.secret, prefix: 'Bearer ' } } } : {}),
    body: JSON.stringify({ input: { system_prompt: request.system, prompt: promptOf(request), max_tokens: request.maxTokens, temperature: request.temperature } }),
    signal,
    timeoutMs: target.timeoutMs,
    ...(target.idleTimeoutMs === undefined ? {} : { idleTimeoutMs: target.idleTimeoutMs }),
  });
  if (response.status >= 400) throw failure(response.status, await response.text(), response.headers['retry-after']);
  const { status, output, error, metrics } = (await response.json()) as Prediction;
  if (status !== 'succeeded') throw failure(status === 'processing' || status === 'starting' ? 504 : 502, error ?? \`the prediction is \${status}\`);
  yield { type: 'text', text: typeof output === 'string' ? output : (output ?? []).join('') };
  if (metrics) yield { type: 'usage', inputTokens: metrics.input_token_count ?? 0, outputTokens: metrics.output_token_count ?? 0 };
  yield { type: 'stop', reason: 'end' };
}

/** These models read one text. What tools gave is part of it; calls of tools they do not make. */
const promptOf = ({ messages }: Request): string =>
  messages
    .map(({ role, parts }) => \`\${role === 'user' ? 'User' : 'Assistant'}: \${parts.map((part) => part.text ?? part.content ?? '').join('\\n')}\`)
    .concat('Assistant:')
    .join('\\n\\n');

/** The class of a failure says whether it passes, and is tried again. */
const classOf = (status: number): string => {
  if (status === 401 || status === 403) return 'auth';
  if (status === 402) return 'credit';
  if (status === 404) return 'model_not_found';
  if (status === 429) return 'rate_limit';
  if (status === 504) return 'timeout';
  return status >= 500 ? 'server' : 'bad_request';
};

const failure = (status: number, said: string, retryAfter?: string): SvcError =>
  new SvcError('replicate_failed', \`Replicate answered \${status}: \${said.slice(0, 300)}\`, {
    status: 502,
    details: { errorClass: classOf(status), retryAfterMs: retryAfter === undefined ? null : Number(retryAfter) * 1000 },
  });
`,
    'src/index.ts': `import { defineExtension } from '@svc/api';
import { Driver } from './contract';
import { exchange } from './driver';

export default defineExtension({
  activate(ctx) {
    ctx.services.provide(Driver, { stream: (target, request, call) => exchange(ctx.fetch, target, request, call.signal) });
  },
});
`,
    'test/driver.test.mjs': `import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { once } from 'node:events';
import { bootTestKernel, stopTestKernels } from '@svc/testing';

/** A server that speaks Replicate's protocol, and keeps what it was asked. */
const startReplicate = async (answer) => {
  const asked = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    asked.push({ url: request.url, key: request.headers.authorization, body: JSON.parse(text) });
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: \`http://127.0.0.1:\${server.address().port}/v1\`, asked, stop: () => new Promise((done) => server.close(done)) };
};

describe('the driver', () => {
  let provider;
  afterEach(async () => {
    await stopTestKernels();
    await provider.stop();
  });

  it('asks the provider with its key, and hands on what the model says', async () => {
    provider = await startReplicate({ status: 'succeeded', output: ['No', 'on.'], metrics: { input_token_count: 12, output_token_count: 2 } });
    const { http } = await bootTestKernel({ extensions: ['.'], config: \`[provider_urls]\\nreplicate = "\${provider.url}"\\n\`, env: { REPLICATE_API_TOKEN: 'r8_test' } });
    const { body: made } = await http.expect(201, 'POST', '/api/agents', { manifest: { name: 'clock', model: { provider: 'replicate', model: 'meta/llama' } } });
    const { body } = await http.expect(200, 'POST', \`/api/agents/\${made.agent_id}/message\`, { message: 'what time is it?' });
    assert.equal(body.response, 'Noon.');
    assert.deepEqual([provider.asked[0].url, provider.asked[0].key], ['/v1/models/meta/llama/predictions', 'Bearer r8_test']);
    assert.match(provider.asked[0].body.input.prompt, /User: what time is it\\?/);
  });
});
`,
  },
});
