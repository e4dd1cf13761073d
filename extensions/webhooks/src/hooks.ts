/**
 * Messages for agents from other programs.
 *
 * H1  Their text has the label ExternalNetwork, and is never a slash command.
 * H2  A call that comes again with its id within 24 hours asks its agent once.
 * H3  With `deliver` or `channel` the answer goes to a chat as well, once, also where nobody waits for it any more.
 */
import { type Actor, type Clock, type Db, type Events, OneOf, type OptionalHandle, reply, type Req, type RouteDecl, routeGroup, type Streams, Type } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { ChannelsService, Chat } from '@svc/ext-channels/contract';
import { RunFrames, type RunsService, type Submitted, untilEnd } from '@svc/ext-runs/contract';
import { createCallKeys, WebhookWake } from '@svc/ext-triggers/contract';
import type { HookCallers } from './callers.js';
import { HookCalls } from './contract.js';
import { webhookErrors } from './errors.js';

export interface HookDeps extends HookCallers {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'sleep' | 'now' | 'iso'>;
  readonly streams: Streams;
  readonly agents: Pick<AgentsService, 'find' | 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'get'>;
  readonly channels: OptionalHandle<ChannelsService>;
}

const MAX_WAKE_CHARS = 4_096;
const MAX_MESSAGE_CHARS = 16_384;
const MAX_BODY_BYTES = 262_144;
const DEFAULT_SECS = 120;
/** A signed call is known by the id that it signs. */
const SIGNED_ID = 'webhook-id';
const KEY_HEADERS = ['idempotency-key', 'webhook-id', 'x-github-delivery'];
const HOOK_COST = 10;
const WHO =
  'Needs an API key; where `[webhook_triggers]` is enabled, the token in its place, or a signature by the text of the token: that of Standard Webhooks, or `X-Hub-Signature-256`. What comes again with its id within 24 hours is done once.';

const route = routeGroup({ area: 'webhooks', errors: [404, 409] });
const SIGNED_BY = ['webhook-timestamp', 'webhook-signature', 'x-hub-signature-256'];
const headed = (names: readonly string[], description: string) => names.map((name) => [name, Type.Optional(Type.String({ description }))] as const);
const KeyHeaders = Type.Object(Object.fromEntries([...headed(KEY_HEADERS, 'What comes again with it asks the agent once'), ...headed(SIGNED_BY, 'Of a signature by the token')]));
const AgentName = Type.Optional(Type.String({ minLength: 1, maxLength: 128, description: 'Id or name; by default your first agent' }));

const agentOf = async ({ agents }: HookDeps, actor: Actor, named: string | undefined): Promise<Agent> => {
  const found = named === undefined ? (await agents.list(actor)).find(({ ownerId }) => ownerId === actor.ownerId) : await agents.find(actor, named);
  if (!found) throw webhookErrors.no_agent(named ?? '');
  return found;
};

interface Asked {
  readonly actor: Actor;
  readonly agent: Agent;
  readonly text: string;
  readonly headers: Req['headers'];
}

const submit = async (deps: HookDeps, name: 'wake' | 'agent', { actor, agent, text, headers }: Asked): Promise<Submitted> => {
  const names = headers['webhook-signature'] === undefined ? KEY_HEADERS : [SIGNED_ID];
  const said = names.map((header) => headers[header]).find((value) => value !== undefined && value !== '');
  const key = said === undefined ? undefined : await createCallKeys(deps, HookCalls.name)(actor.ownerId, `${name}\n${said}`);
  return deps.runs.submit(actor, {
    agentId: agent.id,
    door: 'internal',
    cause: { kind: 'webhook' },
    via: { channel: 'webhook' },
    parts: [{ type: 'text', text }],
    origin: { labels: ['ExternalNetwork'], source: 'a webhook' },
    ...(key === undefined ? {} : { key }),
  });
};

export const hookRoutes = (deps: HookDeps): RouteDecl[] => [wake(deps), ask(deps)];

const wake = (deps: HookDeps): RouteDecl =>
  route({
    id: 'wakeByHook',
    method: 'POST',
    path: '/api/hooks/wake',
    summary: 'Wake an agent',
    description: `Tells an agent what happened, and does not wait for it. ${WHO}`,
    examples: { 'something happened': { text: 'The build failed.' }, 'say it to one agent': { text: 'A visitor rang.', agent_id: 'assistant' }, 'at once': { text: 'The disk is full.', mode: 'now' } },
    cost: HOOK_COST,
    maxBodyBytes: MAX_BODY_BYTES,
    keepsBytes: true,
    callers: deps.callers,
    headers: KeyHeaders,
    body: Type.Object({
      // Newlines and tabs are the only control characters.
      text: Type.String({ minLength: 1, maxLength: MAX_WAKE_CHARS, pattern: '^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$' }),
      mode: Type.Optional(OneOf(['now', 'next_heartbeat'], { default: 'now' })),
      agent_id: AgentName,
    }),
    audit: 'hook_wake',
    responses: { 200: Type.Object({ status: OneOf(['accepted']), mode: OneOf(['now']), agent_id: Type.String(), run_id: Type.String() }) },
    handler: async (req) => {
      const { body, headers } = req;
      const actor = await deps.proved(req);
      if (body.mode === 'next_heartbeat') throw webhookErrors.unsupported('The mode next_heartbeat', 'agents have no heartbeat.');
      const agent = await agentOf(deps, actor, body.agent_id);
      const { runId } = await submit(deps, 'wake', { actor, agent, text: body.text, headers });
      // Also for a call that comes again: the daemon may have ended between the two. Its listeners know the run.
      await deps.db.commit([deps.events.event(WebhookWake, { ownerId: actor.ownerId, id: runId, agentId: agent.id, text: body.text })]);
      return reply(200, { status: 'accepted', mode: 'now', agent_id: agent.id, run_id: runId });
    },
  });

const DeliversTo = Type.Optional(Type.String({ description: 'The chat that gets the answer as well: `CHANNEL:CHAT`. `GET /api/channels/deliveries` says what became of it' }));

const chatFor = (deps: HookDeps, actor: Actor, agent: Agent, channel: string | undefined): Promise<Chat> => {
  if (!deps.channels.value) throw webhookErrors.no_channels();
  return deps.channels.value.chatFor(actor, { agentId: agent.id, ...(channel === undefined ? {} : { channel }) });
};

const ask = (deps: HookDeps): RouteDecl =>
  route({
    id: 'askByHook',
    method: 'POST',
    path: '/api/hooks/agent',
    summary: 'Ask an agent and wait for its answer',
    description: `After \`timeout_secs\`, or when the agent waits for a person, the answer is 202 and the run goes on. ${WHO}`,
    examples: {
      'ask your first agent': { message: 'Summarize: the build failed.' },
      'ask one agent, briefly': { message: 'Is it raining?', agent: 'assistant', timeout_secs: 30 },
      'answer in the chat where you last wrote to it': { message: 'Summarize: the build failed.', deliver: true },
      'a long task': { message: 'Compare the two reports.', timeout_secs: 600 },
    },
    cost: HOOK_COST,
    maxBodyBytes: MAX_BODY_BYTES,
    keepsBytes: true,
    callers: deps.callers,
    headers: KeyHeaders,
    errors: [500],
    body: Type.Object({
      message: Type.String({ minLength: 1, maxLength: MAX_MESSAGE_CHARS }),
      agent: AgentName,
      deliver: Type.Optional(Type.Boolean({ description: 'Send the answer to a chat as well: where you last wrote to the agent. Default: whether `channel` is given' })),
      channel: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'The channel of that chat, or one with one place to write to' })),
      model: Type.Optional(Type.String({ maxLength: 200 })),
      timeout_secs: Type.Optional(Type.Integer({ minimum: 10, maximum: 600, default: DEFAULT_SECS })),
    }),
    audit: 'hook_agent',
    responses: {
      200: Type.Object({
        status: OneOf(['completed']),
        agent_id: Type.String(),
        run_id: Type.String(),
        delivers_to: DeliversTo,
        response: Type.String(),
        usage: Type.Object({ input_tokens: Type.Integer(), output_tokens: Type.Integer() }),
      }),
      202: Type.Object({ status: OneOf(['running']), agent_id: Type.String(), run_id: Type.String(), delivers_to: DeliversTo }),
    },
    handler: async (req) => {
      const { body, headers, signal } = req;
      const actor = await deps.proved(req);
      if (body.model !== undefined) throw webhookErrors.unsupported('`model`', 'an agent answers with the model of its manifest.');
      const agent = await agentOf(deps, actor, body.agent);
      const chat = (body.deliver ?? body.channel !== undefined) ? await chatFor(deps, actor, agent, body.channel) : undefined;
      const submitted = await submit(deps, 'agent', { actor, agent, text: body.message, headers });
      if (chat) await deps.channels.value?.answerTo(actor, { runId: submitted.runId, agentId: agent.id, chat });
      await untilEnd((over) => deps.streams.final(RunFrames, submitted.topic, over), deps.clock, (body.timeout_secs ?? DEFAULT_SECS) * 1_000, signal);
      const { status, result, error } = await deps.runs.get(actor, submitted.runId);
      const about = { agent_id: agent.id, run_id: submitted.runId, ...(chat ? { delivers_to: `${chat.channel}:${chat.chat}` } : {}) };
      if (status === 'failed' || status === 'cancelled') throw webhookErrors.run_failed(error?.message ?? `the run was ${status}`);
      if (status !== 'done' || !result) return reply(202, { status: 'running', ...about });
      return reply(200, { status: 'completed', ...about, response: result.response, usage: { input_tokens: result.input_tokens, output_tokens: result.output_tokens } });
    },
  });
