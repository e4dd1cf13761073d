/** Your agents for others: the card, who may be asked, and tasks. A task is a run. */
import { type Actor, type Actors, defineAnswerProjection, IdempotencyKey, OneOf, reply, type Req, type RouteDecl, routeGroup, type Streams, Type, UuidText, waitFor } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { RunFrames, type RunsService, type Task } from '@svc/ext-runs/contract';
import { a2aErrors } from './errors.js';
import { A2aTask, AgentCard, LocalAgent, said, type TaskStatus } from './shapes.js';

export interface LocalDeps {
  readonly agents: Pick<AgentsService, 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'task' | 'stop'>;
  readonly actors: Actors;
  settings(): { readonly enabled: boolean; readonly name: string; readonly description: string; readonly agents: readonly string[] };
}

const route = routeGroup({ area: 'a2a' });
export const VERSION = '0.1.0';
const MAX_BODY_BYTES = 1_048_576;
const MAX_WAIT_MS = 120_000;
const SEND_COST = 30;
const TaskPath = Type.Object({ id: UuidText('Task id') });

/** The answer to a task, or what it waits for. */
const TaskAnswer = defineAnswerProjection('a2a.task', '1.0.0', { format: RunFrames, args: Type.Object({ task_id: Type.String() }) });
export const showTasks = (streams: Streams): void => {
  streams.answer(TaskAnswer, {
    until: (frame) => frame.type === 'phase' && frame.data.phase === 'waiting',
    answer: (frame, { task_id }) => {
      const as = (status: TaskStatus, more: object = {}) => reply(200, { task_id, status, ...more });
      if (frame.type === 'error') return as(frame.data.code === 'run_stopped' ? 'cancelled' : 'failed', { error: frame.data.error });
      if (frame.type !== 'done') return as('input_required');
      const { finish, response } = frame.data.result;
      return as(finish === 'cancelled' ? 'cancelled' : 'completed', { result: said(response) });
    },
  });
};

const STATES: Readonly<Record<Task['status'], TaskStatus>> = { queued: 'submitted', running: 'working', waiting: 'input_required', done: 'completed', failed: 'failed', cancelled: 'cancelled' };
const toTask = ({ id, status, result, error, endedAt }: Task): A2aTask => ({
  task_id: id,
  status: STATES[status],
  ...(result ? { result: said(result.response) } : {}),
  ...(error && endedAt !== null ? { error: error.message } : {}),
});

export const baseOf = ({ headers, isSecure }: Pick<Req, 'headers' | 'isSecure'>): string => `${isSecure ? 'https' : 'http'}://${headers.host ?? 'localhost'}`;
const about = ({ headers, isSecure }: Pick<Req, 'headers' | 'isSecure'>) => ({
  url: `${baseOf({ headers, isSecure })}/a2a`,
  version: VERSION,
  capabilities: { streaming: false, pushNotifications: false },
});

export const localRoutes = (deps: LocalDeps): RouteDecl[] => [getCard(deps), listLocal(deps), sendTask(deps), getTask(deps), cancelTask(deps)];

const open = (deps: LocalDeps): void => {
  if (!deps.settings().enabled) throw a2aErrors.off();
};
/** Those that the caller may see and the settings name, the oldest first. */
export const served = async (deps: LocalDeps, actor: Actor): Promise<Agent[]> => {
  open(deps);
  const names = deps.settings().agents;
  return (await deps.agents.list(actor)).filter(({ name }) => names.includes('*') || names.includes(name)).sort((a, b) => a.createdAt.localeCompare(b.createdAt));
};
const taskOf = async (deps: LocalDeps, actor: Actor, id: string): Promise<Task> => {
  open(deps);
  const task = await deps.runs.task(actor, id.toLowerCase());
  if (!task) throw a2aErrors.task_not_found(id);
  return task;
};

const getCard = (deps: LocalDeps): RouteDecl =>
  route({
    id: 'getAgentCard',
    method: 'GET',
    path: '/.well-known/agent.json',
    auth: 'public',
    summary: 'Get the agent card',
    description: 'What other servers read first. It is public and names no agent: `GET /a2a/agents` does, with a key.',
    errors: [404],
    responses: { 200: AgentCard },
    handler: async (req) => {
      open(deps);
      const { name, description } = deps.settings();
      return reply(200, { name, description, ...about(req), skills: [{ id: 'ask', name: 'Ask an agent', description: 'Takes a message in text and answers it.', tags: ['chat'] }] });
    },
  });

const listLocal = (deps: LocalDeps): RouteDecl =>
  route({
    id: 'listA2aAgents',
    method: 'GET',
    path: '/a2a/agents',
    summary: 'List your agents that others may ask',
    description: '`[a2a] agents` names them; by default it is all that you may see.',
    errors: [404],
    responses: { 200: Type.Object({ agents: Type.Array(LocalAgent), total: Type.Integer() }) },
    handler: async (req) => {
      const agents = (await served(deps, req.actor)).map(({ id, name, manifest }) => {
        const description = manifest.description || `The agent ${name}.`;
        return { id, name, description, ...about(req), skills: [{ id: name, name, description, tags: ['agent'] }] };
      });
      return reply(200, { agents, total: agents.length });
    },
  });

const sendTask = (deps: LocalDeps): RouteDecl =>
  route({
    id: 'sendA2aTask',
    method: 'POST',
    path: '/a2a/tasks/send',
    summary: 'Send a task to one of your agents',
    description: `Waits for the answer. After ${MAX_WAIT_MS / 1_000} seconds, or when the task waits for a person, the answer has no result and the task goes on: read it with \`GET /a2a/tasks/{id}\`. The same \`messageId\` or \`Idempotency-Key\` is the same task. The message counts as written by an untrusted agent.`,
    examples: {
      'a question': { agent_id: 'assistant', message: { role: 'user', parts: [{ text: 'What is on today?' }] } },
      'to the oldest agent': { message: { role: 'user', parts: [{ text: 'Good morning' }] } },
      'a message that may be repeated': { agent_id: 'assistant', message: { role: 'user', messageId: 'm-1', parts: [{ text: 'Write the report.' }] } },
    },
    permission: 'runs.send',
    cost: SEND_COST,
    audit: 'served_task_sent',
    errors: [404, 409, 412, 413, 429, 503],
    headers: Type.Object(IdempotencyKey),
    maxBodyBytes: MAX_BODY_BYTES,
    body: Type.Object({
      agent_id: Type.Optional(Type.String({ minLength: 1, description: 'Id or name of an agent; by default, the oldest one' })),
      message: Type.Object({
        role: Type.Optional(OneOf(['user', 'agent'])),
        messageId: Type.Optional(Type.String({ minLength: 1, maxLength: 200, description: 'Makes a repeated message the same task' })),
        parts: Type.Array(Type.Object({ text: Type.String() }), { minItems: 1, maxItems: 100 }),
      }),
    }),
    responses: { 200: A2aTask },
    handler: async ({ actor, body: { agent_id: asked, message }, headers }) => {
      const text = message.parts.map((part) => part.text).join('\n');
      if (text.trim() === '') throw a2aErrors.no_text();
      const agents = await served(deps, actor);
      const agent = asked === undefined ? agents[0] : (agents.find(({ id }) => id === asked.toLowerCase()) ?? agents.find(({ name }) => name === asked));
      if (!agent) throw a2aErrors.local_agent_not_found(asked ?? 'at all');
      const key = headers['idempotency-key'] ?? message.messageId;
      const { runId, topic, after } = await deps.runs.submit(deps.actors.of(agent.ownerId), {
        agentId: agent.id,
        door: 'internal',
        cause: { kind: 'a2a' },
        via: { channel: 'a2a' },
        parts: [{ type: 'text', text }],
        ...(key === undefined ? {} : { key: `a2a:${actor.id}:${key}` }),
        origin: { labels: ['UntrustedAgent'], source: 'an agent over A2A' },
      });
      const late = { afterMs: MAX_WAIT_MS, reply: reply(200, { task_id: runId, status: 'working' as const }) };
      return waitFor(topic, TaskAnswer, { task_id: runId }, { late, ...(after === undefined ? {} : { after }) });
    },
  });

const getTask = (deps: LocalDeps): RouteDecl =>
  route({
    id: 'getA2aTask',
    method: 'GET',
    path: '/a2a/tasks/{id}',
    summary: 'Get a task of one of your agents',
    description: 'A task is a run: its id is the same under `GET /api/runs/{id}`.',
    permission: 'runs.read',
    errors: [404],
    params: TaskPath,
    responses: { 200: A2aTask },
    handler: async ({ actor, params: { id } }) => reply(200, toTask(await taskOf(deps, actor, id))),
  });

const cancelTask = (deps: LocalDeps): RouteDecl =>
  route({
    id: 'cancelA2aTask',
    method: 'POST',
    path: '/a2a/tasks/{id}/cancel',
    summary: 'Cancel a task of one of your agents',
    description: 'The status is 409 for a task that has ended.',
    permission: 'runs.send',
    audit: 'served_task_cancelled',
    errors: [404, 409],
    params: TaskPath,
    responses: { 200: Type.Object({ task_id: Type.String({ format: 'uuid' }), status: OneOf(['cancelled']) }) },
    handler: async ({ actor, params: { id } }) => {
      const task = await taskOf(deps, actor, id);
      if (task.endedAt !== null || (await deps.runs.stop(actor, { runId: task.id }, 'cancelled over A2A')) === 0) throw a2aErrors.task_ended(task.id, STATES[(await taskOf(deps, actor, id)).status]);
      return reply(200, { task_id: task.id, status: 'cancelled' });
    },
  });
