/** HTTP in, service call, HTTP out. */
import { bytes, documented, type JsonReply, type MediaReply, type Plain, type Req, type RouteDecl, TextOf, Type, follow, reply, routeGroup, waitFor, IdempotencyKey } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { type AnswerHead, callsCompletionOf, callsStreamOf } from './answer/completion.js';
import { openAiErrors } from './answer/error-object.js';
import { ChatAnswer, ChatBegin, ChatChunks } from './answer/projections.js';
import { together, warningOf } from './answer/warning.js';
import { chunkStream, Completion, OpenAiModel } from './answer/schemas.js';
import { ask, type CompatDeps, MAX_SILENCE_MS, type Terms } from './asking.js';
import { compatErrors } from './errors.js';
import { askedAlone, askedInConversation } from './request/asked.js';
import { ChatRequest } from './request/chat-request.js';
import { clientToolsOf, customNamesOf, toolsLeftOut } from './request/client-tools.js';
import { CHAT_EXAMPLES } from './request/examples.js';
import { checkServed, notHandedOn, parametersOf } from './request/parameters.js';
import { agentNamed, idOf, lookUp, type Named, statelessIdOf } from './conversation/model-ids.js';
import { isStateless, sessionNamed, sessionOf, STATELESS } from './conversation/which-conversation.js';
import { COMPLETION_TEXT, MODEL_TEXT, MODELS_TEXT } from './texts.js';

const route = routeGroup({ area: 'agents' });

const MAX_BODY_BYTES = 32 * 1_048_576;
const COMPLETION_COST = 30;

export const compatRoutes = (deps: CompatDeps): RouteDecl[] => [createCompletion(deps), listModels(deps), getModel(deps)];

const createCompletion = (deps: CompatDeps): RouteDecl =>
  route({
    id: 'createChatCompletion',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/chat/completions',
    summary: 'Create a chat completion',
    description: COMPLETION_TEXT,
    examples: CHAT_EXAMPLES,
    permission: 'runs.send',
    cost: COMPLETION_COST,
    headers: Type.Object({
      ...IdempotencyKey,
      'x-svc-session': Type.Optional(Type.String({ ...documented({ minLength: 1 }), description: 'A session of the agent, by id or label, instead of the one of this client' })),
      'x-svc-stateless': Type.Optional(TextOf(STATELESS, { description: '`1`: the messages of the request are the whole conversation, and nothing is stored' })),
    }),
    body: ChatRequest,
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [404, 409, 412, 413, 429, 500, 503],
    responses: { 200: Completion },
    streamed: chunkStream,
    handler: (req) => complete(deps, req),
  });

const listModels = ({ agents }: CompatDeps): RouteDecl =>
  route({
    id: 'listOpenaiModels',
    errorShape: openAiErrors,
    method: 'GET',
    path: '/v1/models',
    summary: 'List agents as models',
    description: MODELS_TEXT,
    cost: 2,
    responses: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(OpenAiModel) }) },
    handler: async (req) => {
      const all = await agents.list(req.actor);
      return reply(200, { object: 'list', data: all.flatMap((agent) => [idOf(agent), statelessIdOf(agent)].map((id) => toModel(id, agent))) });
    },
  });

const getModel = ({ agents, sessions }: CompatDeps): RouteDecl =>
  route({
    id: 'getOpenaiModel',
    errorShape: openAiErrors,
    method: 'GET',
    path: '/v1/models/{id}',
    summary: 'Get an agent as a model',
    description: MODEL_TEXT,
    cost: 2,
    params: Type.Object({ id: Type.String({ description: 'Any form of `model` that names an agent; `:` and `@` need no encoding', examples: ['svc:librarian'] }) }),
    errors: [404, 409],
    responses: { 200: OpenAiModel },
    handler: async ({ actor, params: { id } }) => {
      const named = await lookUp(agents, actor, id);
      if (!named) throw compatErrors.model_not_found(id);
      if (named.session !== undefined) await sessionNamed(sessions, actor, named.agent, named.session);
      return reply(200, toModel(shownId(named, id), named.agent));
    },
  });

/** The id by which the list shows it, where the list does. */
const shownId = ({ agent, session, isStateless }: Named, asked: string): string => (session !== undefined ? asked : isStateless ? statelessIdOf(agent) : idOf(agent));

const toModel = (id: string, agent: Agent) => ({ id, object: 'model' as const, created: Math.floor(Date.parse(agent.createdAt) / 1_000), owned_by: 'svc' });

async function complete(deps: CompatDeps, req: Req<unknown, unknown, ChatRequest>): Promise<MediaReply | JsonReply<200, Plain<typeof Completion>>> {
  const { actor, body, headers } = req;
  checkServed(body);
  const clientTools = clientToolsOf(body);
  const custom = customNamesOf(body);
  const named = await agentNamed(deps.agents, actor, body.model);
  const alone = isStateless(named, headers);
  const asked = alone ? askedAlone(body.messages, clientTools) : askedInConversation(body.messages);
  const sessionId = alone || 'results' in asked ? undefined : await sessionOf(deps, actor, named, headers, body.user);
  const answering = await ask(deps, { actor, named, asked, sessionId, headers, terms: { clientTools, ...askedOfModel(body) } });
  const { topic, after, clientCalls } = answering;
  const head: AnswerHead = { id: `chatcmpl-${answering.answerId}`, created: Math.floor(deps.clock.now() / 1_000), model: body.model, ...(custom.length > 0 ? { custom } : {}) };
  const leftOut = together([...notHandedOn(body), ...toolsLeftOut(body)], answering.leftOut ?? []);
  const shownHeaders = { 'x-svc-run': answering.runId, 'x-svc-on-disconnect': answering.onDisconnect, ...(alone ? {} : { 'x-svc-session': answering.sessionId }), ...warningOf(leftOut) };
  const includeUsage = body.stream_options?.include_usage ?? false;
  if (clientCalls && body.stream) return bytes(200, 'text/event-stream', callsStreamOf(head, clientCalls, includeUsage), { 'cache-control': 'no-cache', ...shownHeaders });
  if (clientCalls) return reply(200, callsCompletionOf(head, clientCalls), shownHeaders);
  const from = after === undefined ? {} : { after };
  if (!body.stream) return waitFor(topic, ChatAnswer, { ...head, leftOut }, { headers: shownHeaders, ...from });
  const shown = { head, includeUsage, leftOut };
  // The stream begins when the run has something to show; what fails before that is an HTTP status.
  return waitFor(topic, ChatBegin, { ...shown, topic, ...from }, { headers: shownHeaders, ...from, late: { afterMs: MAX_SILENCE_MS, reply: follow(topic, ChatChunks, shown, from) } });
}

const askedOfModel = (body: ChatRequest): Terms => ({
  maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
  temperature: body.temperature ?? undefined,
  parameters: parametersOf(body),
});
