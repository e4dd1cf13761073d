/** /v1/responses: HTTP in, service call, HTTP out. */
import { bytes, follow, reply, type Req, type RouteDecl, routeGroup, TextOf, Type, waitFor, type MediaReply, type JsonReply, type Plain } from '@svc/api';
import { openAiErrors } from '../answer/error-object.js';
import { together, warningOf } from '../answer/warning.js';
import { ask, type CompatDeps, MAX_SILENCE_MS } from '../asking.js';
import { agentNamed, idOf, type Named } from '../conversation/model-ids.js';
import { isStateless, STATELESS } from '../conversation/which-conversation.js';
import { compatErrors } from '../errors.js';
import { type Asked, type AskedToGoOn, askedAlone, askedInConversation } from '../request/asked.js';
import type { ChatMessage } from '../request/chat-request.js';
import { clientToolsOf, toolsLeftOut } from '../request/client-tools.js';
import { parametersOf } from '../request/parameters.js';
import { RESPONSE_EXAMPLES } from './response-examples.js';
import { bodyOf, type ResponseHead, responseOf } from './response-object.js';
import { ResponseAnswer, ResponseBegin, ResponseEvents, responseStreamOf } from './response-events.js';
import { formatOf, messagesOf, ResponseRequest } from './response-request.js';
import { ResponseObject, responseStream } from './response-schemas.js';
import { isOwnCall, responseIdOf, storedResponse } from './stored-response.js';
import { RESPONSES_TEXT } from './texts.js';

const MAX_BODY_BYTES = 32 * 1_048_576;
const RESPONSE_COST = 30;
const LABEL = 'API response';

const route = routeGroup({ area: 'agents' });
const params = Type.Object({ id: Type.String({ maxLength: 100, description: 'The id of a response', examples: ['resp_0192f3a45b6c7d8e9f0a1b2c3d4e5f60_0'] }) });

export const responseRoutes = (deps: CompatDeps): RouteDecl[] => [create(deps), get(deps), remove(deps), cancel(deps)];

const create = (deps: CompatDeps): RouteDecl =>
  route({
    id: 'createOpenaiResponse',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/responses',
    summary: 'Create a response',
    description: RESPONSES_TEXT,
    examples: RESPONSE_EXAMPLES,
    permission: 'runs.send',
    cost: RESPONSE_COST,
    headers: Type.Object({ 'x-svc-stateless': Type.Optional(TextOf(STATELESS, { description: '`1`: the same as `store: false`' })) }),
    body: ResponseRequest,
    maxBodyBytes: MAX_BODY_BYTES,
    errors: [404, 409, 412, 413, 429, 500, 503],
    responses: { 200: ResponseObject },
    streamed: responseStream,
    handler: (req) => respond(deps, req),
  });

const get = (deps: CompatDeps): RouteDecl =>
  route({
    id: 'getOpenaiResponse',
    errorShape: openAiErrors,
    method: 'GET',
    path: '/v1/responses/{id}',
    summary: 'Get a response',
    description: 'A response that was stored, with its state. Instructions, tools and metadata of the request are not repeated.',
    permission: 'runs.read',
    cost: 2,
    params,
    errors: [404],
    responses: { 200: ResponseObject },
    handler: async ({ actor, params: { id } }) => reply(200, await shown(deps, actor, id)),
  });

const remove = (deps: CompatDeps): RouteDecl =>
  route({
    id: 'deleteOpenaiResponse',
    errorShape: openAiErrors,
    method: 'DELETE',
    path: '/v1/responses/{id}',
    summary: 'Delete a response and its conversation',
    description: 'Deletes the session that the response belongs to, with all responses that were continued from one another. A run in it is stopped.',
    permission: 'sessions.write',
    cost: 5,
    params,
    errors: [404],
    responses: { 200: Type.Object({ id: Type.String(), object: Type.Literal('response'), deleted: Type.Literal(true) }) },
    handler: async ({ actor, params: { id } }) => {
      const { run } = await storedResponse(deps, actor, id);
      await deps.sessions.erase(actor, await deps.agents.get(actor, run.agentId), run.sessionId);
      return reply(200, { id, object: 'response', deleted: true });
    },
  });

const cancel = (deps: CompatDeps): RouteDecl =>
  route({
    id: 'cancelOpenaiResponse',
    errorShape: openAiErrors,
    method: 'POST',
    path: '/v1/responses/{id}/cancel',
    summary: 'Cancel a response',
    description: 'Stops the run of a response that is in progress, or that waits for results of tools. One that has ended stays as it is.',
    permission: 'runs.send',
    cost: 5,
    params,
    errors: [404],
    responses: { 200: ResponseObject },
    handler: async ({ actor, params: { id } }) => {
      const { run } = await storedResponse(deps, actor, id);
      await deps.runs.stop(actor, { runId: run.id }, 'the response was cancelled');
      return reply(200, await shown(deps, actor, id));
    },
  });

async function shown(deps: CompatDeps, actor: Req['actor'], id: string) {
  const { run, body } = await storedResponse(deps, actor, id);
  const agent = await deps.agents.get(actor, run.agentId);
  const head = headOf(id, { model: idOf(agent) }, Math.floor(Date.parse(run.createdAt) / 1_000), true);
  return responseOf(head, body);
}

async function respond(deps: CompatDeps, { actor, body, headers }: Req<unknown, unknown, ResponseRequest>): Promise<JsonReply<200, Plain<typeof ResponseObject>> | MediaReply> {
  if (body.background === true) throw compatErrors.unsupported_value('background must be false.');
  const clientTools = clientToolsOf(body);
  const named = await agentNamed(deps.agents, actor, body.model);
  const place = await placeOf(deps, actor, named, body, headers);
  const { asked, sessionId, isStored } = place(clientTools);
  const parameters = parametersOf({ ...formatOf(body), top_p: body.top_p ?? null });
  const terms = { clientTools, parameters, maxTokens: body.max_output_tokens ?? undefined, temperature: body.temperature ?? undefined };
  const answering = await ask(deps, { actor, named, asked, sessionId: await sessionId(), headers, terms });
  const { runId, topic, after, clientCalls } = answering;
  const leftOut = together(toolsLeftOut(body), answering.leftOut ?? []);
  const id = isStored ? responseIdOf(runId, 'results' in asked ? asked.results : []) : `resp_${answering.answerId.replaceAll('-', '')}`;
  const head = headOf(id, body, Math.floor(deps.clock.now() / 1_000), isStored);
  const shownHeaders = { 'x-svc-run': runId, ...(isStored ? { 'x-svc-session': answering.sessionId } : {}), ...warningOf(leftOut) };
  if (clientCalls && body.stream) return bytes(200, 'text/event-stream', responseStreamOf(head, clientCalls), { 'cache-control': 'no-cache', ...shownHeaders });
  if (clientCalls) return reply(200, responseOf(head, bodyOf(id, clientCalls, head.tools)), shownHeaders);
  const from = after === undefined ? {} : { after };
  const args = { head, leftOut };
  if (!body.stream) return waitFor(topic, ResponseAnswer, args, { headers: shownHeaders, ...from });
  return waitFor(topic, ResponseBegin, { ...args, topic, ...from }, { headers: shownHeaders, ...from, late: { afterMs: MAX_SILENCE_MS, reply: follow(topic, ResponseEvents, args, from) } });
}

interface Place {
  readonly asked: Asked | AskedToGoOn;
  readonly isStored: boolean;
  sessionId(): Promise<string | undefined>;
}

/** Results go to the run that waits for them; a request with a history of its own stands alone; any other one begins or continues a session. */
async function placeOf(deps: CompatDeps, actor: Req['actor'], named: Named, body: ResponseRequest, headers: Req['headers']): Promise<(tools: ReturnType<typeof clientToolsOf>) => Place> {
  const messages = messagesOf(body);
  const alone = isStateless(named, headers) || body.store === false;
  const { previous_response_id: previous } = body;
  const nowhere = async () => undefined;
  if (previous) {
    if (alone) throw compatErrors.session_conflict('a previous response and for nothing to be stored: remove one of the two');
    const { run, isNewest } = await storedResponse(deps, actor, previous);
    if (run.agentId !== named.agent.id) throw compatErrors.unsupported_value('previous_response_id is a response of another agent.');
    const asked = askedInConversation(messages);
    if (!isNewest && !('results' in asked)) throw compatErrors.response_continued(previous);
    return () => ({ asked, isStored: true, sessionId: async () => ('results' in asked ? undefined : run.sessionId) });
  }
  const last = messages.at(-1);
  if (!alone && last?.role === 'tool' && typeof last.tool_call_id === 'string' && isOwnCall(last.tool_call_id))
    return () => ({ asked: askedInConversation(messages), isStored: true, sessionId: nowhere });
  if (alone || messages.filter(isSaid).length > 1) return (tools) => ({ asked: askedAlone(messages, tools), isStored: false, sessionId: nowhere });
  return () => ({ asked: askedInConversation(messages), isStored: true, sessionId: () => deps.people.freshSession(actor, named.agent, LABEL) });
}

const isSaid = ({ role }: ChatMessage): boolean => role !== 'system' && role !== 'developer';

const headOf = (id: string, body: Partial<ResponseRequest> & Pick<ResponseRequest, 'model'>, createdAt: number, store: boolean): ResponseHead => ({
  id,
  created_at: createdAt,
  model: body.model,
  instructions: body.instructions ?? null,
  previous_response_id: body.previous_response_id ?? null,
  store,
  tools: body.tools ?? [],
  tool_choice: body.tool_choice ?? 'auto',
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  text: body.text ?? { format: { type: 'text' } },
  temperature: body.temperature ?? null,
  top_p: body.top_p ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  metadata: body.metadata ?? {},
});
