/** The official Agent2Agent protocol: its card, and JSON-RPC of 1.0 and 0.3 at one address. */
import { bytes, type MediaReply, type RouteDecl, routeGroup, stream, Type } from '@svc/api';
import { a2aErrors } from '../errors.js';
import { baseOf, VERSION } from '../routes.js';
import { cardOf } from './cards.js';
import { createServed, type OfficialDeps, type Request, type Sdk } from './served.js';

const route = routeGroup({ area: 'a2a' });
/** Of a question, whichever way it comes. */
export const MAX_BODY_BYTES = 1_048_576;
export const COST = 30;
const JSON_TYPE = 'application/json';
const VERSION_NOT_SUPPORTED = -32_009;

export interface OfficialRouteDeps extends OfficialDeps {
  settings(): { readonly enabled: boolean; readonly name: string; readonly description: string };
}

const Body = Type.Object(
  { jsonrpc: Type.Optional(Type.Unknown({ description: '`2.0`' })), method: Type.Optional(Type.Unknown({ description: '`SendMessage` of 1.0, `message/send` of 0.3, …' })) },
  { additionalProperties: true, description: 'JSON-RPC 2.0' },
);
const Answer = Type.Unknown({ description: 'JSON-RPC 2.0, or events with it' });
const question = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'What is on today?' }] };

export const open = ({ settings }: OfficialRouteDeps): void => {
  if (!settings().enabled) throw a2aErrors.off();
};

export const officialRoutes = (deps: OfficialRouteDeps): RouteDecl[] => [
  route({
    id: 'getOfficialAgentCard',
    method: 'GET',
    path: '/.well-known/agent-card.json',
    auth: 'public',
    summary: 'Get the agent card of the official protocol',
    description: 'With the header `A2A-Version: 1.0` the card of 1.0; without it one that clients of 0.3 and 1.0 both read. It names no agent.',
    errors: [404],
    responses: { 200: Type.Unknown({ description: 'An agent card, as the protocol has it' }) },
    handler: async ({ headers, isSecure }) => {
      open(deps);
      const card = cardOf(factsOf(deps, { headers, isSecure }), headers['a2a-version']);
      return bytes(200, JSON_TYPE, JSON.stringify(card), { 'cache-control': 'public, max-age=3600', vary: 'A2A-Version' });
    },
  }),
  route({
    id: 'callA2a',
    method: 'POST',
    path: '/a2a',
    summary: 'Speak A2A',
    description:
      'The official protocol over JSON-RPC: 1.0 (`SendMessage`, `SendStreamingMessage`, `GetTask`, `ListTasks`, `CancelTask`, `SubscribeToTask`) and 0.3 (`message/send` …). `tenant` or `metadata.agentId` of the message names the agent; by default it is the oldest. A task is a run. Push notifications are not supported.',
    examples: {
      'ask, 1.0': { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message: question } },
      'ask one agent, 0.3': {
        jsonrpc: '2.0',
        id: 2,
        method: 'message/send',
        params: { message: { kind: 'message', messageId: 'm-2', role: 'user', parts: [{ kind: 'text', text: 'Hello' }], metadata: { agentId: 'assistant' } } },
      },
      'look at a task': { jsonrpc: '2.0', id: 3, method: 'GetTask', params: { id: '00000000-0000-4000-8000-000000000000' } },
    },
    permission: 'runs.send',
    cost: COST,
    audit: 'served_task_sent',
    maxBodyBytes: MAX_BODY_BYTES,
    body: Body,
    errors: [404, 413, 429, 503],
    responses: { 200: Answer },
    handler: async ({ actor, body, headers, isSecure, signal }) => {
      open(deps);
      return called(deps, { actor, signal, card: cardOf(factsOf(deps, { headers, isSecure }), '1.0') }, body, headers['a2a-version']?.trim() ?? '');
    },
  }),
];

export const factsOf = ({ settings }: OfficialRouteDeps, from: Parameters<typeof baseOf>[0]) => {
  const { name, description } = settings();
  return { base: baseOf(from), name, description, version: VERSION };
};

const failed = (id: unknown, code: number, message: string): MediaReply => bytes(200, JSON_TYPE, JSON.stringify({ jsonrpc: '2.0', id: id ?? null, error: { code, message } }));

const called = async (deps: OfficialRouteDeps, request: Request, body: Readonly<Record<string, unknown>>, version: string): Promise<MediaReply> => {
  const { id, method } = body;
  const isNew = /^1\.0(\.\d+)?$/.test(version);
  const isOld = /^0\.3(\.\d+)?$/.test(version);
  if (version !== '' && !isNew && !isOld) return failed(id, VERSION_NOT_SUPPORTED, `The version ${version.slice(0, 20)} is not supported; 1.0 and 0.3 are.`);
  const [common, errors, { JsonRpcTransportHandler, ServerCallContext }] = await Promise.all([import('@a2a-js/sdk'), import('@a2a-js/sdk/errors'), import('@a2a-js/sdk/server')]);
  const sdk: Sdk = { ...common, errors };
  const context = new ServerCallContext({ requestedVersion: isNew ? '1.0' : '0.3' });
  const served = createServed(deps, sdk, request);
  const speaksNew = isNew || (version === '' && typeof method === 'string' && !method.includes('/'));
  const handler = speaksNew ? new JsonRpcTransportHandler(served) : new (await import('@a2a-js/sdk/compat/v0_3/server')).LegacyJsonRpcTransportHandler(served);
  const answer = await handler.handle({ ...body }, context);
  if (!(Symbol.asyncIterator in answer)) return bytes(200, JSON_TYPE, JSON.stringify(answer));
  return streamed(answer, (error) => ({
    jsonrpc: '2.0',
    id: id ?? null,
    error: JsonRpcTransportHandler.mapToJSONRPCError(error),
  }));
};

/** What fails before the first event is a plain answer; later, it is the last event. */
const streamed = async (events: AsyncGenerator<unknown, void, undefined>, failure: (error: unknown) => object): Promise<MediaReply> => {
  try {
    const first = await events.next();
    return stream(200, 'text/event-stream', lines(first, events, failure), { 'cache-control': 'no-cache' });
  } catch (error) {
    return bytes(200, JSON_TYPE, JSON.stringify(failure(error)));
  }
};

async function* lines(first: IteratorResult<unknown, void>, events: AsyncGenerator<unknown, void, undefined>, failure: (error: unknown) => object): AsyncGenerator<Uint8Array> {
  const line = (value: unknown): Uint8Array => Buffer.from(`data: ${JSON.stringify(value)}\n\n`);
  try {
    for (let next = first; !next.done; next = await events.next()) yield line(next.value);
  } catch (error) {
    yield line(failure(error));
  } finally {
    await events.return();
  }
}
