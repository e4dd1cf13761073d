/** The official protocol over HTTP and JSON (1.0): the same tasks as over JSON-RPC, each operation at an address of its own. Errors have the protocol's form. */
import type { ListTasksRequest, SendMessageResult, StreamResponse } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { bytes, ErrorBody, type MediaReply, OneOf, type RouteDecl, routeGroup, stream, Type } from '@svc/api';
import { cardOf } from './cards.js';
import { COST, factsOf, MAX_BODY_BYTES, type OfficialRouteDeps, open } from './routes.js';
import { createServed, type Sdk } from './served.js';

const route = routeGroup({ area: 'a2a' });
const JSON_TYPE = 'application/json';
const SERVED = /^1\.0(\.\d+)?$/;

const Task = Type.Unknown({ description: 'A task, as the protocol has it' });
const EVENTS = { description: 'Events, as the protocol has them', contentType: 'text/event-stream' } as const;
/** Of the protocol, or of svc where the request did not come that far. */
const Failure = Type.Union([
  Type.Object({
    error: Type.Object({
      code: Type.Integer({ description: 'The HTTP status' }),
      status: Type.String(),
      message: Type.String(),
      details: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    }),
  }),
  ErrorBody,
]);
const FAILURES = { 400: Failure, 404: Failure, 409: Failure, 415: Failure } as const;
const TaskPath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 200, description: 'Id of a task', examples: ['00000000-0000-4000-8000-000000000000'] }) });
const Body = Type.Object(
  {
    message: Type.Object(
      {
        messageId: Type.String({ minLength: 1, maxLength: 200, description: 'The same again is the same task' }),
        role: OneOf(['ROLE_USER', 'ROLE_AGENT']),
        parts: Type.Array(Type.Object({ text: Type.String({ pattern: '\\S' }) }, { additionalProperties: true, description: 'Only text is taken' }), { minItems: 1, maxItems: 1_000 }),
      },
      { additionalProperties: true, description: 'Also `contextId`, to go on, and `metadata.agentId`' },
    ),
  },
  { additionalProperties: true, description: 'SendMessageRequest of the protocol: also `configuration` and `tenant`' },
);
const question = (text: string, more: object = {}) => ({ message: { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text }], ...more } });
const EXAMPLES = {
  ask: question('What is on today?'),
  'ask one agent': { ...question('Hello'), tenant: 'assistant' },
  'go on in a context': question('And tomorrow?', { contextId: 'c-1' }),
};
const VERSION = 'Send `A2A-Version: 1.0`. Errors have the form that the protocol prescribes.';

interface Asked {
  readonly actor: Parameters<typeof createServed>[2]['actor'];
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly isSecure: boolean;
}
type Context = Parameters<A2ARequestHandler['getTask']>[1];
type Question = (served: A2ARequestHandler, sdk: Sdk, context: Context) => Promise<MediaReply>;

/** Runs one operation; what it throws is answered as the protocol says. */
const answered = async (deps: OfficialRouteDeps, { actor, signal, headers, isSecure }: Asked, question: Question): Promise<MediaReply> => {
  open(deps);
  const [common, errors, { ServerCallContext }] = await Promise.all([import('@a2a-js/sdk'), import('@a2a-js/sdk/errors'), import('@a2a-js/sdk/server')]);
  const sdk: Sdk = { ...common, errors };
  const version = headers['a2a-version']?.trim() ?? '';
  try {
    if (version !== '' && !SERVED.test(version)) throw new errors.VersionNotSupportedError(`The version ${version.slice(0, 20)} is not served here; 1.0 is. 0.3 is served over JSON-RPC at /a2a.`);
    const card = cardOf(factsOf(deps, { headers, isSecure }), '1.0');
    return await question(createServed(deps, sdk, { actor, signal, card }), sdk, new ServerCallContext({ requestedVersion: '1.0' }));
  } catch (error) {
    if (!(error instanceof errors.A2AError)) throw error;
    return failure(sdk, error);
  }
};

const json = (value: unknown, status = 200): MediaReply => bytes(status, JSON_TYPE, JSON.stringify(value));

/** Where the protocol's table has another status than its SDK. */
const statusOf = ({ errors }: Sdk, error: unknown): number => {
  if (error instanceof errors.TaskNotCancelableError) return 409;
  return error instanceof errors.ContentTypeNotSupportedError ? 415 : errors.restStatusFor(error);
};

const failure = (sdk: Sdk, error: unknown): MediaReply => {
  const { errors } = sdk;
  const status = statusOf(sdk, error);
  return json(errors.toRestErrorBody(error, status), status);
};

const sent = (result: SendMessageResult, { SendMessageResponse }: Sdk): MediaReply =>
  json(SendMessageResponse.toJSON({ payload: 'messageId' in result ? { $case: 'message', value: result } : { $case: 'task', value: result } }));

/** What fails before the first event is a plain answer; later, it is the last event. */
const streamed = async (events: AsyncGenerator<StreamResponse, void, undefined>, sdk: Sdk): Promise<MediaReply> => {
  const first = await events.next();
  return stream(200, 'text/event-stream', lines(first, events, sdk), { 'cache-control': 'no-cache' });
};

async function* lines(first: IteratorResult<StreamResponse, void>, events: AsyncGenerator<StreamResponse, void, undefined>, { StreamResponse: Wire, errors }: Sdk): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; !next.done; next = await events.next()) yield Buffer.from(`data: ${JSON.stringify(Wire.toJSON(next.value))}\n\n`);
  } catch (error) {
    yield Buffer.from(`event: error\ndata: ${JSON.stringify(errors.toRestErrorBody(error, errors.restStatusFor(error)))}\n\n`);
  } finally {
    await events.return();
  }
}

const requestOf = (body: unknown, { SendMessageRequest, errors }: Sdk): ReturnType<typeof SendMessageRequest.fromJSON> => {
  try {
    return SendMessageRequest.fromJSON(body as object);
  } catch (error) {
    throw new errors.RequestMalformedError(`The body is no SendMessageRequest: ${error instanceof Error ? error.message.slice(0, 200) : 'it has another form'}`);
  }
};

const sending = { permission: 'runs.send', cost: COST, audit: 'served_task_sent', maxBodyBytes: MAX_BODY_BYTES, body: Body, errors: [413, 429, 503] } as const;

export const restRoutes = (deps: OfficialRouteDeps): RouteDecl[] => [
  route({
    id: 'sendOfficialA2aMessage',
    method: 'POST',
    path: '/a2a/v1/message:send',
    summary: 'Send an A2A message',
    description: `Asks an agent and waits for its answer, over HTTP and JSON. \`tenant\` names the agent; by default it is the oldest. A task is a run. ${VERSION}`,
    examples: EXAMPLES,
    ...sending,
    responses: { 200: Task, ...FAILURES },
    handler: (asked) => answered(deps, asked, async (served, sdk, context) => sent(await served.sendMessage(requestOf(asked.body, sdk), context), sdk)),
  }),
  route({
    id: 'streamOfficialA2aMessage',
    method: 'POST',
    path: '/a2a/v1/message:stream',
    summary: 'Send an A2A message and stream the answer',
    description: `Like \`message:send\`, and answers with events as the agent works. ${VERSION}`,
    examples: EXAMPLES,
    ...sending,
    responses: { 200: EVENTS, ...FAILURES },
    handler: (asked) => answered(deps, asked, (served, sdk, context) => streamed(served.sendMessageStream(requestOf(asked.body, sdk), context), sdk)),
  }),
  listTasks(deps),
  route({
    id: 'getOfficialA2aTask',
    method: 'GET',
    path: '/a2a/v1/tasks/{id}',
    summary: 'Get an A2A task',
    permission: 'runs.read',
    description: `One of your tasks, with its answer. ${VERSION}`,
    params: TaskPath,
    responses: { 200: Task, ...FAILURES },
    handler: (asked) => answered(deps, asked, async (served, sdk, context) => json(sdk.Task.toJSON(await served.getTask({ tenant: '', id: asked.params.id }, context)))),
  }),
  route({
    id: 'cancelOfficialA2aTask',
    method: 'POST',
    path: '/a2a/v1/tasks/{id}:cancel',
    summary: 'Cancel an A2A task',
    description: `Stops the run. A task that has ended cannot be cancelled. ${VERSION}`,
    permission: 'runs.send',
    audit: 'served_task_cancelled',
    params: TaskPath,
    responses: { 200: Task, ...FAILURES },
    handler: (asked) => answered(deps, asked, async (served, sdk, context) => json(sdk.Task.toJSON(await served.cancelTask({ tenant: '', id: asked.params.id, metadata: undefined }, context)))),
  }),
  route({
    id: 'followOfficialA2aTask',
    method: 'POST',
    path: '/a2a/v1/tasks/{id}:subscribe',
    summary: 'Follow an A2A task',
    description: `Answers with the task, and then with events until it ends. ${VERSION}`,
    permission: 'runs.send',
    params: TaskPath,
    responses: { 200: EVENTS, ...FAILURES },
    handler: (asked) => answered(deps, asked, (served, sdk, context) => streamed(served.resubscribe({ tenant: '', id: asked.params.id }, context), sdk)),
  }),
];

const STATES = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_INPUT_REQUIRED', 'TASK_STATE_COMPLETED', 'TASK_STATE_FAILED', 'TASK_STATE_CANCELED'] as const;
const Query = Type.Object({
  contextId: Type.Optional(Type.String({ maxLength: 200, description: 'Only those of this context' })),
  status: Type.Optional(OneOf(STATES)),
  pageSize: Type.Optional(Type.String({ pattern: '^([1-9][0-9]?|100)$', description: '1 to 100; 50 by default' })),
  pageToken: Type.Optional(Type.String({ pattern: '^[0-9]{0,9}$', description: 'As the last page gave it' })),
  historyLength: Type.Optional(Type.String({ maxLength: 20, description: 'Without effect: no history is sent' })),
  statusTimestampAfter: Type.Optional(Type.String({ maxLength: 40, description: 'Only those that changed later' })),
  includeArtifacts: Type.Optional(Type.String({ maxLength: 5, description: '`true`: with their answers' })),
});

const listTasks = (deps: OfficialRouteDeps): RouteDecl =>
  route({
    id: 'listOfficialA2aTasks',
    method: 'GET',
    path: '/a2a/v1/tasks',
    summary: 'List A2A tasks',
    permission: 'runs.read',
    description: `Your tasks, the latest change first. ${VERSION}`,
    query: Query,
    responses: { 200: Type.Unknown({ description: 'Tasks, as the protocol has them' }), ...FAILURES },
    handler: (asked) =>
      answered(deps, asked, async (served, sdk, context) => {
        const { contextId = '', status, pageSize, pageToken = '', statusTimestampAfter, includeArtifacts } = asked.query;
        const state = sdk.TaskState[status ?? 'TASK_STATE_UNSPECIFIED'];
        const request: ListTasksRequest = {
          ...{ tenant: '', contextId, status: state, pageToken, statusTimestampAfter, includeArtifacts: includeArtifacts === 'true' },
          ...(pageSize === undefined ? {} : { pageSize: Number(pageSize) }),
        };
        return json(sdk.ListTasksResponse.toJSON(await served.listTasks(request, context)));
      }),
  });
