import { type Actor, type Clock, ErrorBody, IdempotencyKey, type Reply, type Req, Type, defineExtension, defineRoute, follow, reply, waitFor } from '@svc/api';
import { type Agent, Agents, type AgentsService } from '@svc/ext-agents/contract';
import { Runs, type RunsService } from '@svc/ext-runs/contract';
import { chunkStream, Completion } from './answer-schemas.js';
import type { AnswerHead } from './answer.js';
import { ChatAnswer, ChatBegin, ChatChunks, showChat } from './projections.js';
import { openAiErrors } from './error-object.js';
import { compatErrors } from './errors.js';
import { ChatRequest, askedOf } from './request.js';

const Model = Type.Object({ id: Type.String(), object: Type.Literal('model'), created: Type.Integer(), owned_by: Type.String() });
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Longer than this no client is left without headers: proxies and clients give up on a server that says nothing. */
const MAX_SILENCE_MS = 15_000;
const MAX_BODY_BYTES = 32 * 1_048_576;

export default defineExtension({
  activate(ctx) {
    const agents = ctx.services.require(Agents);
    const runs = ctx.services.require(Runs);
    showChat(ctx.streams);
    ctx.routes.add(
      defineRoute({
        id: 'createChatCompletion',
        errorShape: openAiErrors,
        method: 'POST',
        path: '/v1/chat/completions',
        summary: 'Ask an agent as if it were a model',
        auth: 'bearer',
        permission: 'runs.send',
        cost: 30,
        headers: Type.Object(IdempotencyKey),
        body: ChatRequest,
        maxBodyBytes: MAX_BODY_BYTES,
        responses: {
          200: Completion,
          400: ErrorBody,
          404: ErrorBody,
          409: ErrorBody,
          412: ErrorBody,
          429: ErrorBody,
          500: ErrorBody,
        },
        streamed: chunkStream,
        handler: (req) => complete({ agents, runs, clock: ctx.clock }, req),
      }),
      defineRoute({
        id: 'listOpenaiModels',
        errorShape: openAiErrors,
        method: 'GET',
        path: '/v1/models',
        summary: 'Agents as models',
        auth: 'bearer',
        permission: 'agents.read',
        cost: 2,
        responses: { 200: Type.Object({ object: Type.Literal('list'), data: Type.Array(Model) }) },
        handler: async (req) => reply(200, { object: 'list', data: (await agents.list(req.actor)).map(toModel) }),
      }),
      defineRoute({
        id: 'getOpenaiModel',
        errorShape: openAiErrors,
        method: 'GET',
        path: '/v1/models/{id}',
        summary: 'One agent as a model',
        auth: 'bearer',
        permission: 'agents.read',
        cost: 2,
        params: Type.Object({ id: Type.String() }),
        responses: { 200: Model, 404: ErrorBody },
        handler: async (req) => {
          const agent = await agents.find(req.actor, req.params.id.replace(/^svc:/, ''));
          if (!agent) throw compatErrors.model_not_found(req.params.id);
          return reply(200, toModel(agent));
        },
      }),
    );
  },
});

async function complete(deps: { agents: AgentsService; runs: RunsService; clock: Clock }, req: Req<unknown, unknown, ChatRequest>): Promise<Reply> {
  const { body } = req;
  const asked = askedOf(body);
  const agent = await resolveAgent(deps.agents, req.actor, body.model);
  const maxTokens = body.max_completion_tokens ?? body.max_tokens;
  const key = req.headers['idempotency-key'];
  const submitted = await deps.runs.submit(req.actor, {
    agentId: agent.id,
    door: 'openai',
    parts: asked.parts,
    ...(asked.systemExtra === undefined ? {} : { systemExtra: asked.systemExtra }),
    ...(typeof maxTokens === 'number' ? { maxTokens } : {}),
    ...(typeof body.temperature === 'number' ? { temperature: body.temperature } : {}),
    ...(key === undefined ? {} : { key }),
    ...(Number(req.headers['x-stainless-retry-count'] ?? 0) > 0 ? { isResend: true } : {}),
  });
  const head: AnswerHead = { id: `chatcmpl-${submitted.runId}`, created: Math.floor(deps.clock.now() / 1_000), model: body.model };
  const headers = { 'x-svc-run': submitted.runId };
  if (!body.stream) return waitFor(submitted.topic, ChatAnswer, head, { headers });
  const shown = { head, includeUsage: body.stream_options?.include_usage ?? false };
  // The stream begins when the run has something to show; what fails before that is an HTTP status.
  return waitFor(submitted.topic, ChatBegin, { ...shown, topic: submitted.topic }, { headers, late: { afterMs: MAX_SILENCE_MS, reply: follow(submitted.topic, ChatChunks, shown) } });
}

/** interface.md, Model resolution: svc:<name>, id, name, else the first agent. */
async function resolveAgent(agents: AgentsService, actor: Actor, model: string): Promise<Agent> {
  const name = model.startsWith('svc:') ? model.slice(4) : model;
  const found = UUID.test(name) || name !== '' ? await agents.find(actor, name) : undefined;
  if (found) return found;
  const [first] = (await agents.list(actor)).toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  if (!first) throw compatErrors.no_agent();
  return first;
}

const toModel = (agent: Agent) => ({ id: `svc:${agent.name}`, object: 'model' as const, created: Math.floor(Date.parse(agent.createdAt) / 1_000), owned_by: 'svc' });
