/** WebSocket chat: GET /api/agents/{id}/ws. An id that is no UUID answers 400, and an agent that does not exist 404, before the upgrade. */
import { type Actor, type Connection, type Logger, type SocketDecl, SvcError, Type, UuidText, defineSocket, follow, isSvcError } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { type ClientFrame, parseClientFrame } from './frames/client-frame.js';
import type { RunsService } from './contract.js';
import { runErrors } from './errors.js';
import { wsText } from './frames/frames.js';
import { socketCodeOf } from './frames/socket-errors.js';
import { RunSocket } from './frames/projections.js';
import { findResumed, type ResumeDeps } from './loop/resume.js';

export const SOCKET_ID = 'chatWithAgent';

export interface SocketDeps extends ResumeDeps {
  readonly sessions: Pick<SessionsService, 'entries' | 'named'>;
  readonly runs: RunsService;
  readonly agents: AgentsService;
  readonly log: Logger;
}

export const chatSocket = (deps: SocketDeps): SocketDecl =>
  defineSocket({
    id: SOCKET_ID,
    path: '/api/agents/{id}/ws',
    params: Type.Object({ id: UuidText('Agent id') }),
    query: Type.Object({ session_id: Type.Optional(UuidText('A session of the agent; by default, its current one')) }),
    summary: 'Chat with an agent over a WebSocket',
    description:
      'Frames are JSON texts. You send `{"type":"message","content":"…"}`, `{"type":"command","command":"help"}`, `{"type":"resume","last_event_id":"…"}` or `{"type":"ping"}`; a text that is not JSON is a message. You get `connected`, then `thinking`, `text_delta`, `tool_start`, `tool_end` (the arguments of the call, at most 500 characters), `tool_result` and one `response` or `error` for each message, each with a `frame_id`. The `code` of an `error` is one of `agent_not_found`, `budget_exceeded`, `context_length_exceeded`, `rate_limited`, `billing_error`, `auth_error`, `model_not_found`, `format_error`, `llm_error` and `upload_access_denied`; `reason` is the daemon\'s own code. A frame over 64 KiB is answered by an `error` and closes the socket. `agents_updated` comes every five seconds. The frame that ends a message repeats its `message_id`. A message that you send twice with the same `idempotency_key` is one message. A browser, which cannot set headers here, sends the key as the subprotocol `bearer.<key>`.',
    auth: 'bearer',
    permission: 'runs.send',
    cost: 5,
    messageCost: 30,
    upgrade: async (req) => {
      const agent = await deps.agents.get(req.actor, req.params.id ?? '');
      const sessionId = req.query.session_id;
      if (sessionId !== undefined) await deps.sessions.named(req.actor, agent, sessionId);
      return { agentId: agent.id, ...(sessionId === undefined ? {} : { sessionId }) };
    },
    opened: async (conn) => {
      conn.send({ type: 'connected', agent_id: conn.state.agentId });
      conn.send(await agentsFrame(deps.agents, conn.actor));
    },
    message: (conn, text) => onMessage(deps, conn, text),
  });

async function onMessage(deps: SocketDeps, conn: Connection, text: string): Promise<void> {
  const frame = parseClientFrame(text);
  // Thrown: the platform tells it, and closes a socket that sends such frames again and again.
  if (typeof frame === 'string') throw new SvcError('format_error', frame, { status: 400 });
  if (frame.type === 'ping') return conn.send({ type: 'pong' });
  try {
    if (frame.type === 'resume') return await resumeOn(deps, conn, frame);
    const submitted = await deps.runs.submit(conn.actor, {
      agentId: String(conn.state.agentId),
      door: 'ws',
      parts: frame.content === '' ? [] : [{ type: 'text', text: frame.content }],
      ...(typeof conn.state.sessionId === 'string' ? { sessionId: conn.state.sessionId } : {}),
      ...frame.extras,
    });
    conn.follow(follow(submitted.topic, RunSocket, frame.messageId === undefined ? undefined : { messageId: frame.messageId }));
  } catch (error) {
    if (!isSvcError(error)) deps.log.error('a socket message failed', { cause: error });
    const { code, message, status, hint } = isSvcError(error) ? error : runErrors.internal();
    const shown = { content: message, code: socketCodeOf(code, status), reason: code, ...(hint ? { hint } : {}) };
    conn.send({ type: 'error', ...shown, ...(frame.messageId === undefined ? {} : { message_id: frame.messageId }) });
  }
}

/** What the client missed of its run, then what still comes. */
async function resumeOn(deps: SocketDeps, conn: Connection, frame: ClientFrame): Promise<void> {
  const resumed = await findResumed(deps, conn.actor, String(conn.state.agentId), frame.content);
  if (!resumed) return conn.send({ type: 'error', content: `"${frame.content.slice(0, 80)}" is not the id of a frame.`, code: 'format_error' });
  for (const missed of resumed.missed) conn.send(wsText(missed, frame.messageId));
  const args = { ...(frame.messageId === undefined ? {} : { messageId: frame.messageId }), ...(resumed.missed.length === 0 ? {} : { announced: resumed.attempt }) };
  conn.follow(follow(resumed.runId, RunSocket, args, { after: resumed.after }));
}

export const agentsFrame = async (service: Pick<AgentsService, 'list' | 'modelsOf'>, actor: Actor): Promise<object> => {
  const agents = await service.list(actor);
  const models = await service.modelsOf(agents);
  return {
    type: 'agents_updated',
    agents: agents.map(({ id, name, state }, index) => ({ id, name, state, model_provider: models[index]?.provider, model_name: models[index]?.model })),
  };
};

/** One serialised frame per set of agents that a caller may see, for all its sockets. */
export async function broadcastAgents(deps: Pick<SocketDeps, 'agents'>, connections: readonly Connection[]): Promise<void> {
  const texts = new Map<string, string>();
  for (const conn of connections) {
    const scope = `${conn.actor.role}/${conn.actor.ownerId}`;
    let text = texts.get(scope);
    if (text === undefined) {
      text = JSON.stringify(await agentsFrame(deps.agents, conn.actor));
      texts.set(scope, text);
    }
    conn.send(text);
  }
}
