/** HTTP in, service call, HTTP out. */
import { type Clock, type MediaReply, type Req, type RouteDecl, Type, follow, reply, routeGroup, waitFor, IdempotencyKey } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { AnswerHead } from './answer/completion.js';
import { openAiErrors } from './answer/error-object.js';
import { ChatAnswer, ChatBegin, ChatChunks } from './answer/projections.js';
import { together, warningOf } from './answer/warning.js';
import { chunkStream, Completion, OpenAiModel } from './answer/schemas.js';
import { compatErrors } from './errors.js';
import { askedAlone, askedInConversation } from './request/asked.js';
import { ChatRequest } from './request/chat-request.js';
import { CHAT_EXAMPLES } from './request/examples.js';
import { checkServed, notHandedOn, parametersOf } from './request/parameters.js';
import { agentNamed, idOf, lookUp, type Named, statelessIdOf } from './conversation/model-ids.js';
import type { People } from './conversation/people.js';
import { isStateless, sessionNamed, sessionOf } from './conversation/which-conversation.js';
import { COMPLETION_TEXT, MODEL_TEXT, MODELS_TEXT } from './texts.js';

export interface CompatDeps {
  readonly agents: AgentsService;
  readonly runs: RunsService;
  readonly sessions: SessionsService;
  readonly people: People;
  readonly clock: Clock;
}

const route = routeGroup({ area: 'agents' });

/** Longer than this no client is left without headers: proxies and clients give up on a server that says nothing. */
const MAX_SILENCE_MS = 15_000;
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
      'x-svc-session': Type.Optional(Type.String({ description: 'A session of the agent, by id or label, instead of its current one' })),
      'x-svc-stateless': Type.Optional(Type.String({ description: '`1`: the messages of the request are the whole conversation, and nothing is stored' })),
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

async function complete(deps: CompatDeps, req: Req<unknown, unknown, ChatRequest>): Promise<MediaReply> {
  const { actor, body, headers } = req;
  checkServed(body);
  const named = await agentNamed(deps.agents, actor, body.model);
  const alone = isStateless(named, headers);
  const asked = alone ? askedAlone(body) : askedInConversation(body);
  const sessionId = alone ? undefined : await sessionOf(deps, actor, named, headers, body.user);
  const submitted = await deps.runs.submit(actor, {
    agentId: named.agent.id,
    door: 'openai',
    ...asked,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...askedOfModel(body),
    ...askedAgain(headers),
  });
  const head: AnswerHead = { id: `chatcmpl-${submitted.runId}`, created: Math.floor(deps.clock.now() / 1_000), model: body.model };
  const leftOut = together(notHandedOn(body), submitted.leftOut ?? []);
  const shownHeaders = { 'x-svc-run': submitted.runId, 'x-svc-on-disconnect': submitted.onDisconnect, ...(alone ? {} : { 'x-svc-session': submitted.sessionId }), ...warningOf(leftOut) };
  if (!body.stream) return waitFor(submitted.topic, ChatAnswer, { ...head, leftOut }, { headers: shownHeaders });
  const shown = { head, includeUsage: body.stream_options?.include_usage ?? false, leftOut };
  // The stream begins when the run has something to show; what fails before that is an HTTP status.
  return waitFor(submitted.topic, ChatBegin, { ...shown, topic: submitted.topic }, { headers: shownHeaders, late: { afterMs: MAX_SILENCE_MS, reply: follow(submitted.topic, ChatChunks, shown) } });
}

const askedOfModel = (body: ChatRequest) => {
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const parameters = parametersOf(body);
  return {
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(parameters ? { parameters } : {}),
  };
};

/** How a client says that it sends this again. */
const askedAgain = (headers: Req['headers']): { key?: string; isResend?: true } => {
  const key = headers['idempotency-key'];
  return { ...(key === undefined ? {} : { key }), ...(Number(headers['x-stainless-retry-count'] ?? 0) > 0 ? { isResend: true } : {}) };
};
