/**
 * What other daemons ask: which agents there are, and messages to them.
 *
 * M1  A message runs for the owner of the agent, within their budget, and counts as written by an untrusted agent.
 * M2  Only agents that [network] agents names are seen and reached.
 * M3  Each daemon has a conversation of its own with an agent: it reads nothing of what people wrote to it.
 */
import { createHash } from 'node:crypto';
import { type Actor, type ExtensionContext, isSvcError, isUuid, uuidOfDigest } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { RunFrames, type RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { NetworkSettings } from './config.js';
import { legible } from './node/legible.js';
import type { Asked } from './node/link.js';
import type { PeerRates } from './node/rates.js';
import type { PeerAgent, ResponseBody } from './wire/messages.js';

const OWNER = 'owner';
const ANSWER_MS = 600_000;
const MAX_DESCRIPTION = 500;
/** So that a handshake stays within its 65,536 bytes. */
const MAX_AGENTS_BYTES = 49_152;

export interface InboundDeps {
  readonly ctx: Pick<ExtensionContext, 'actors' | 'clock' | 'db' | 'streams'>;
  readonly agents: Pick<AgentsService, 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'stop'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly rates: PeerRates;
  settings(): Pick<NetworkSettings, 'agents' | 'max_messages_per_peer_per_minute' | 'max_llm_tokens_per_peer_per_hour'>;
  nodeName(nodeId: string): string;
}

export interface Inbound {
  /** Those of the owner that the settings name, oldest first. */
  shared(actor?: Actor): Promise<Agent[]>;
  /** As others are sent them. */
  offered(): Promise<PeerAgent[]>;
  answer(nodeId: string, asked: Asked, signal: AbortSignal): Promise<ResponseBody>;
}

export const peerAgentOf = ({ id, name, state, manifest }: Agent): PeerAgent => ({
  ...{ id, name, state },
  description: (manifest.description ?? '').slice(0, MAX_DESCRIPTION),
  tags: manifest.tags ?? [],
  tools: [],
});

const fail = (code: number, message: string): ResponseBody => ({ method: 'error', code, message });

export const createInbound = (deps: InboundDeps): Inbound => {
  const { actors } = deps.ctx;
  const shared: Inbound['shared'] = async (actor = actors.of(OWNER)) => {
    const names = deps.settings().agents;
    const own = (await deps.agents.list(actor)).filter(({ ownerId, name }) => ownerId === OWNER && (names.includes('*') || names.includes(name)));
    return own.sort((a, b) => a.createdAt.localeCompare(b.createdAt));
  };
  const offered = async (): Promise<PeerAgent[]> => {
    let left = MAX_AGENTS_BYTES;
    return (await shared()).map(peerAgentOf).filter((agent) => {
      left -= Buffer.byteLength(JSON.stringify(agent)) + 1;
      return left >= 0;
    });
  };
  const discover = async (query: string): Promise<ResponseBody> => {
    const wanted = query.toLowerCase();
    return { method: 'discover_result', agents: (await offered()).filter(({ name, description, tags }) => [name, description, ...tags].some((text) => text.toLowerCase().includes(wanted))) };
  };
  return {
    ...{ shared, offered },
    answer: async (nodeId, asked, signal) => {
      if (asked.method === 'discover') return discover(asked.query);
      const { max_messages_per_peer_per_minute: perMinute, max_llm_tokens_per_peer_per_hour: tokensPerHour } = deps.settings();
      const why = deps.rates.take(nodeId, { perMinute, tokensPerHour });
      if (why !== undefined) return fail(429, why);
      const agents = await shared();
      const agent = isUuid(asked.agent) ? agents.find(({ id }) => id === asked.agent.toLowerCase()) : agents.find(({ name }) => name === asked.agent);
      if (!agent) return fail(500, `Agent not found: ${asked.agent}`);
      return answered(deps, agent, nodeId, asked, signal).catch((error: unknown) => fail(500, isSvcError(error) ? error.message : 'The agent could not answer.'));
    },
  };
};

/** Its conversation with one daemon. */
const sessionOf = async ({ ctx, sessions }: InboundDeps, actor: Actor, agent: Agent, nodeId: string, label: string): Promise<string> => {
  const id = uuidOfDigest(
    createHash('sha256')
      .update(JSON.stringify(['peer', agent.id, nodeId]))
      .digest('hex'),
  );
  const { writes } = await sessions.create(actor, agent.id, { id, label });
  await ctx.db.commit(writes).catch((error: unknown) => {
    // It is there since an earlier message.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  return id;
};

const answered = async (deps: InboundDeps, agent: Agent, nodeId: string, { message, sender }: Extract<Asked, { method: 'agent_message' }>, gone: AbortSignal): Promise<ResponseBody> => {
  const { actors, clock, streams } = deps.ctx;
  if (message.trim() === '') return fail(500, 'The message has no text.');
  const actor = actors.of(agent.ownerId);
  const node = legible(deps.nodeName(nodeId), 80);
  const by = sender === null ? node : `${legible(sender, 80)}@${node}`;
  const sessionId = await sessionOf(deps, actor, agent, nodeId, `peer: ${node}`.slice(0, 100));
  const { runId, topic } = await deps.runs.submit(actor, {
    agentId: agent.id,
    sessionId,
    door: 'internal',
    parts: [{ type: 'text', text: message }],
    cause: { kind: 'peer', id: nodeId.slice(0, 200) },
    via: { channel: 'peer', chat: nodeId.slice(0, 200), sender: by.slice(0, 200) },
    origin: { labels: ['UntrustedAgent', 'ExternalNetwork'], source: `the agent ${by} of another daemon`, sessionId },
  });
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const late = clock.sleep(ANSWER_MS, signal).then(
    () => undefined,
    () => undefined,
  );
  const final = streams.final(RunFrames, topic, signal);
  const frame = await Promise.race([final, late]).finally(() => {
    over.abort();
    final.catch(() => undefined);
  });
  if (gone.aborted) {
    await deps.runs.stop(actor, { runId }, 'the peer that asked has gone');
    return fail(500, 'Connection closed');
  }
  if (!frame) return fail(500, `${agent.name} has not answered within ${ANSWER_MS / 60_000} minutes.`);
  if (frame.type === 'error') return fail(500, frame.data.error);
  if (frame.type !== 'done') return fail(500, `${agent.name} gave no answer.`);
  deps.rates.spent(nodeId, frame.data.result.input_tokens + frame.data.result.output_tokens);
  return { method: 'agent_response', text: frame.data.result.response };
};
