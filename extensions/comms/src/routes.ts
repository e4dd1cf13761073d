/** Events, the graph, and messages in the name of agents, over HTTP. */
import { type Actor, type Clock, type Ids, openResource, type OptionalHandle, type RouteDecl, routeGroup, seesAll, stream, type Streams } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { ChannelsService } from '@svc/ext-channels/contract';
import { RunFrames, type RunsService, untilEnd } from '@svc/ext-runs/contract';
import { Comms, CommsEvent, DEFAULT_EVENTS, MAX_EVENTS, type SendBody } from './contract.js';
import { commsErrors } from './errors.js';
import type { Feed } from './feed.js';
import type { Live } from './live.js';

export interface CommsDeps {
  readonly agents: Pick<AgentsService, 'find' | 'list' | 'modelsOf'>;
  readonly runs: Pick<RunsService, 'submit' | 'get'>;
  readonly streams: Pick<Streams, 'final'>;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly feed: Feed;
  readonly live: Live;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly channels: OptionalHandle<ChannelsService>;
}

const WAIT_MS = 120_000;
const route = routeGroup({ area: 'comms' });

export const commsRoutes = (deps: CommsDeps): RouteDecl[] => [
  ...openResource(Comms, {
    list: async ({ actor, query: { limit = DEFAULT_EVENTS } }) => {
      const { events, total } = await deps.feed.newest(actor, Math.min(limit, MAX_EVENTS));
      return { events, items: events, total };
    },
    actions: {
      topology: ({ actor }) => topology(deps, actor),
      send: ({ actor, body, req }) => send(deps, actor, body, req.signal),
    },
  }).routes,
  route({
    id: 'streamCommsEvents',
    method: 'GET',
    path: '/api/comms/events/stream',
    summary: 'Stream what passes between agents',
    description: 'Each event as it happens, without a name and with its id. A client that sends Last-Event-ID first gets those that it missed. A line `: ping` comes every 15 seconds.',
    errors: [429],
    responses: { 200: { description: 'An event without a name for each', contentType: 'text/event-stream', events: { '': CommsEvent } } },
    handler: async ({ actor, headers, signal }) => {
      const last = headers['last-event-id'];
      const missed = last === undefined ? [] : await deps.feed.after(actor, last);
      return stream(200, 'text/event-stream', deps.live.follow(actor, missed, signal), { 'cache-control': 'no-store' });
    },
  }),
];

const topology = async ({ agents, feed }: CommsDeps, actor: Actor) => {
  const all = await agents.list(actor);
  const [models, { events }] = await Promise.all([agents.modelsOf(all), feed.newest(actor, MAX_EVENTS)]);
  const known = new Set(all.map(({ id }) => id));
  const peers = new Map<string, { from: string; to: string; kind: 'peer' }>();
  for (const { kind, source_id: from, target_id: to } of events) {
    if (kind !== 'agent_message' || from === null || to === null || !known.has(from) || !known.has(to)) continue;
    const [one = '', other = ''] = [from, to].sort();
    peers.set(`${one}|${other}`, { from: one, to: other, kind: 'peer' });
  }
  return {
    nodes: all.map(({ id, name, state }, index) => ({ id, name, state, model: modelOf(models[index]) })),
    edges: [...all.flatMap(({ id, parentId }) => (parentId !== null && known.has(parentId) ? [{ from: parentId, to: id, kind: 'parent_child' as const }] : [])), ...peers.values()],
    routes: all.map(({ id, name, state }) => ({ to: `agent:${id}`, agent_id: id, agent_name: name, accepts: state !== 'Suspended' })),
  };
};

const modelOf = (choice: { readonly provider: string; readonly model: string } | undefined): string => (choice ? `${choice.provider}/${choice.model}` : '');

const send = async (deps: CommsDeps, actor: Actor, body: SendBody, gone: AbortSignal) => {
  const to = oneOf('to', body.to, 'to_agent_id', body.to_agent_id);
  const content = oneOf('content', body.content, 'message', body.message);
  const from = oneOf('from', body.from, 'from_agent_id', body.from_agent_id);
  if (to === undefined) throw commsErrors.no_target();
  if (content === undefined) throw commsErrors.no_content();
  const sender = from === undefined || from === 'system' ? undefined : await agentOf(deps, actor, from);
  const target = await findAgent(deps, actor, to);
  if (!target) return sendToChannel(deps, actor, to, content, sender, body.thread_id);
  // A message of one person's agent to another person's would cross between them.
  if (sender && sender.ownerId !== target.ownerId) throw commsErrors.no_agent(to);
  if (sender?.id === target.id) throw commsErrors.to_itself();
  const { runId, topic, sessionId } = await deps.runs.submit(actor, {
    agentId: target.id,
    ...(body.thread_id === undefined ? {} : { sessionId: body.thread_id }),
    door: 'internal',
    parts: [{ type: 'text', text: sender ? `[From the agent ${sender.name}]\n${content}` : content }],
    ...(sender ? { cause: { kind: 'agent', id: sender.id }, isPatient: false, origin: { labels: ['UntrustedAgent'], source: 'another agent' } } : {}),
  });
  await deps.feed.note({
    ownerId: target.ownerId,
    happening: `message:${runId}`,
    kind: 'agent_message',
    sourceId: sender?.id ?? null,
    ...(sender ? {} : { sourceName: 'system' }),
    targetId: target.id,
    detail: content,
  });
  await untilEnd((over) => deps.streams.final(RunFrames, topic, over), deps.clock, WAIT_MS, gone);
  const { status, result, error } = await deps.runs.get(actor, runId);
  if (status === 'failed' || status === 'cancelled') throw commsErrors.run_failed(error?.message ?? `the run was ${status}`);
  const isDone = status === 'done' && result !== null;
  const answer = {
    ok: true as const,
    status: isDone ? ('completed' as const) : ('running' as const),
    message_id: runId,
    response: isDone ? result.response : null,
    input_tokens: result?.input_tokens ?? 0,
    output_tokens: result?.output_tokens ?? 0,
    thread_id: sessionId,
  };
  return answer;
};

const oneOf = (name: string, value: string | undefined, otherName: string, other: string | undefined): string | undefined => {
  if (value !== undefined && other !== undefined && value !== other) throw commsErrors.two_values(name, otherName);
  return value ?? other;
};

/** `agent:ID`, an id or a name. */
const findAgent = ({ agents }: CommsDeps, actor: Actor, said: string): Promise<Agent | undefined> => agents.find(actor, said.startsWith('agent:') ? said.slice('agent:'.length) : said);

const agentOf = async (deps: CommsDeps, actor: Actor, said: string): Promise<Agent> => {
  const found = await findAgent(deps, actor, said);
  if (!found) throw commsErrors.no_agent(said);
  return found;
};

/** `NAME:CHAT`, or `NAME` of a channel with one place to write to. */
const sendToChannel = async ({ channels, ids }: CommsDeps, actor: Actor, to: string, content: string, sender: Agent | undefined, thread: string | undefined) => {
  const [, name = '', chat] = /^(?!agent:)(?:channel:)?([a-z][a-z0-9_-]{0,63})(?::(.+))?$/s.exec(to) ?? [];
  if (name === '') throw commsErrors.no_agent(to);
  if (!channels.value) throw chat === undefined ? commsErrors.no_agent(to) : commsErrors.no_channels(to);
  if (chat !== undefined && !seesAll(actor)) throw commsErrors.channel_denied();
  if (thread !== undefined) throw commsErrors.no_thread();
  const message = { channel: name, ...(chat === undefined ? {} : { chat }), message: content, key: `comms:${ids.uuid()}`, ...(sender ? { agentId: sender.id } : {}) };
  const id = await sendTo(channels.value, actor, message, to);
  return { ok: true as const, status: 'queued' as const, message_id: id, response: null, input_tokens: 0, output_tokens: 0, thread_id: null };
};

/** A name that is no channel was meant as an agent; what is one is not for everybody. */
const sendTo = async (channels: ChannelsService, actor: Actor, message: Parameters<ChannelsService['send']>[1], to: string): Promise<string> => {
  const isChannel = (await channels.names()).includes(message.channel);
  if (!isChannel && message.chat === undefined) throw commsErrors.no_agent(to);
  if (isChannel && !seesAll(actor)) throw commsErrors.channel_denied();
  return channels.send(actor, message);
};
