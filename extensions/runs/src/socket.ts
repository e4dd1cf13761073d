/** WebSocket chat: GET /api/agents/{id}/ws (interface.md, Events). */
import { type Connection, type Logger, type SocketDecl, defineSocket, isSvcError } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { RunsService } from './contract.js';
import { wsEncoder } from './frames.js';
import { after, findResumed, type ResumeDeps } from './resume.js';

export const SOCKET_ID = 'runs.ws';

export interface SocketDeps extends ResumeDeps {
  readonly runs: RunsService;
  readonly agents: AgentsService;
  readonly log: Logger;
}

interface ClientFrame {
  readonly type: 'message' | 'ping' | 'resume';
  /** message: what is said. resume: the id of the last frame that came. */
  readonly content: string;
  /** Echoed on the frame that ends the exchange. */
  readonly messageId?: string;
  /** The same key and content is the same run, as with the header on other doors. */
  readonly key?: string;
}

const MAX_MESSAGE_ID_CHARS = 128;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const chatSocket = (deps: SocketDeps): SocketDecl =>
  defineSocket({
    id: SOCKET_ID,
    path: '/api/agents/{id}/ws',
    summary: 'Chat with an agent over a WebSocket',
    auth: 'bearer',
    permission: 'runs.send',
    cost: 5,
    messageCost: 30,
    upgrade: async (req) => {
      const agent = await deps.agents.get(req.actor, req.params.id ?? '');
      const sessionId = req.query.session_id;
      if (sessionId !== undefined && !UUID.test(sessionId)) throw invalidSession(sessionId);
      return { agentId: agent.id, ...(sessionId === undefined ? {} : { sessionId }) };
    },
    opened: async (conn) => {
      conn.send({ type: 'connected', agent_id: conn.state.agentId });
      conn.send(agentsFrame(await deps.agents.list(conn.actor)));
    },
    message: (conn, text) => onMessage(deps, conn, text),
  });

const invalidSession = (id: string): Error => Object.assign(new Error(`"${id}" is not a session id: a UUID is expected.`), { code: 'sessions_invalid_session_id', status: 400, retry: false });

async function onMessage(deps: SocketDeps, conn: Connection, text: string): Promise<void> {
  const frame = parseClientFrame(text);
  if (typeof frame === 'string') return conn.send({ type: 'error', content: frame, code: 'format_error' });
  if (frame.type === 'ping') return conn.send({ type: 'pong' });
  try {
    if (frame.type === 'resume') return await resumeOn(deps, conn, frame);
    const submitted = await deps.runs.submit(conn.actor, {
      agentId: String(conn.state.agentId),
      door: 'ws',
      parts: [{ type: 'text', text: frame.content }],
      ...(typeof conn.state.sessionId === 'string' ? { sessionId: conn.state.sessionId } : {}),
      ...(frame.key === undefined ? {} : { key: frame.key }),
    });
    conn.follow(submitted.topic, wsEncoder(frame.messageId));
  } catch (error) {
    if (!isSvcError(error)) deps.log.error('a socket message failed', { cause: error });
    const shown = isSvcError(error) ? { content: error.message, code: error.code, ...(error.hint ? { hint: error.hint } : {}) } : { content: 'Internal server error', code: 'internal_error' };
    conn.send({ type: 'error', ...shown, ...(frame.messageId === undefined ? {} : { message_id: frame.messageId }) });
  }
}

/** What the client missed of its run, then what still comes. */
async function resumeOn(deps: SocketDeps, conn: Connection, frame: ClientFrame): Promise<void> {
  const resumed = await findResumed(deps, conn.actor, String(conn.state.agentId), frame.content);
  if (!resumed) return conn.send({ type: 'error', content: `"${frame.content.slice(0, 80)}" is not the id of a frame.`, code: 'format_error' });
  const encoder = wsEncoder(frame.messageId);
  for (const missed of resumed.missed) {
    const text = encoder.encode(missed);
    if (text !== undefined) conn.send(text);
  }
  conn.follow(resumed.runId, { ...after(encoder, resumed), preamble: '' }, resumed.after);
}

/** Plain text that is not JSON is a message. */
export function parseClientFrame(text: string): ClientFrame | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { type: 'message', content: clean(text) };
  }
  if (typeof value !== 'object' || value === null) return { type: 'message', content: clean(text) };
  const { type, content, message_id: messageId, idempotency_key: key, last_event_id: lastFrame } = value as Record<string, unknown>;
  const named = typeof messageId === 'string' ? { messageId: messageId.slice(0, MAX_MESSAGE_ID_CHARS) } : {};
  if (type === 'ping') return { type: 'ping', content: '' };
  if (type === 'resume') return typeof lastFrame === 'string' ? { type: 'resume', content: lastFrame, ...named } : 'A resume frame needs "last_event_id", the id of the last frame that came.';
  if (type !== 'message') return `Unknown frame type ${JSON.stringify(type ?? null)}: send {"type":"message","content":"…"}, {"type":"resume","last_event_id":"…"} or {"type":"ping"}.`;
  if (typeof content !== 'string' || content.trim() === '') return 'A message frame needs a non-empty "content".';
  return { type: 'message', content: clean(content), ...named, ...(typeof key === 'string' ? { key } : {}) };
}

/** Control characters but for line breaks and tabs have no place in a message. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the point
const clean = (text: string): string => text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '');

export const agentsFrame = (agents: readonly Agent[]): object => ({
  type: 'agents_updated',
  agents: agents.map((agent) => ({ id: agent.id, name: agent.name, state: agent.state, model_provider: agent.manifest.model.provider, model_name: agent.manifest.model.model })),
});

/** One serialised frame per set of agents that a caller may see, for all its sockets. */
export async function broadcastAgents(deps: Pick<SocketDeps, 'agents'>, connections: readonly Connection[]): Promise<void> {
  const texts = new Map<string, string>();
  for (const conn of connections) {
    const scope = `${conn.actor.role}/${conn.actor.ownerId}`;
    let text = texts.get(scope);
    if (text === undefined) {
      text = JSON.stringify(agentsFrame(await deps.agents.list(conn.actor)));
      texts.set(scope, text);
    }
    conn.send(text);
  }
}
