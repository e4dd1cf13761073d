/** HTTP in, service call, HTTP out. */
import {
  type Actors,
  ErrorBody,
  IdempotencyKey,
  type Journal,
  type MediaReply,
  type Req,
  type RouteDecl,
  type Static,
  type Streams,
  Type,
  Uuid,
  UuidText,
  defineRoute,
  documented,
  follow,
  reply,
  waitFor,
} from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import { AttachmentBody, MAX_ATTACHMENTS, attachmentsOf } from './attachments.js';
import type { Channel, RunDraft, RunsService } from './contract.js';
import { runErrors } from './errors.js';
import { answerFields, eventStream } from './frames/frame-schemas.js';
import { RunAnswer, RunSse, runHeaders } from './frames/projections.js';
import { findResumed, missedBy } from './loop/resume.js';
import { RUN_KIND } from './run-input.js';
import { attach } from './service.js';

export interface RouteDeps {
  readonly runs: RunsService;
  readonly actors: Actors;
  readonly agents: AgentsService;
  readonly sessions: SessionsService;
  readonly journal: Journal;
  readonly streams: Streams;
}

/** Images travel inside the message. */
/** Messages of one conversation that wait; more are there only where somebody floods it. */
const MAX_IN_LANE = 100;
const MAX_MESSAGE_BODY_BYTES = 8 * 1_048_576;

const AgentPath = Type.Object({ id: UuidText('Agent id') });
const Image = Type.Object(
  {
    media_type: Type.String({ pattern: '^image/(png|jpeg|gif|webp)$', description: '`image/png`, `image/jpeg`, `image/gif` or `image/webp`' }),
    data: Type.String({ minLength: 1, description: 'The bytes, as base64' }),
  },
  { 'x-name': 'MessageImage' },
);
const MessageBody = Type.Object(
  {
    message: Type.String({ description: 'The message to the agent' }),
    session_id: Type.Optional(UuidText('A session of the agent; by default, its current one')),
    images: Type.Optional(Type.Array(Image, { maxItems: 20 })),
    attachments: Type.Optional(
      Type.Array(AttachmentBody, {
        maxItems: MAX_ATTACHMENTS,
        description: 'Uploads to attach to the message: the model sees pictures and reads PDFs and text. Each is copied to the workspace under `uploads/`. Refused if uploads are unavailable',
      }),
    ),
    ephemeral: Type.Optional(Type.Boolean({ description: 'A side question: reads and adds nothing of the conversation, uses no tools. The same as a message that begins with `/btw `' })),
    incognito: Type.Optional(Type.Boolean({ description: 'Reads the conversation; neither the message nor its answer is stored' })),
    thinking: Type.Optional(Type.Boolean({ description: 'Whether the model thinks before it answers' })),
    show_thinking: Type.Optional(
      Type.Boolean({ description: "Whether to stream and store the model's reasoning, if the model exposes it. The default is the agent's setting, which is true by default" }),
    ),
  },
  // Not all three are empty.
  { ...documented({ not: { properties: { message: { maxLength: 0 }, images: { maxItems: 0 }, attachments: { maxItems: 0 } } } }), 'x-name': 'MessageRequest' },
);
type MessageBody = Static<typeof MessageBody>;
const Answer = Type.Object(
  {
    ...answerFields,
    run_id: Uuid,
    finish: Type.Optional(Type.String({ description: 'Why the model ended: `stop`, `length`, `cancelled` and the like' })),
    waiting: Type.Optional(Type.Object({ run_id: Uuid, approval_id: Type.String() }, { description: 'The run waits for a person; `response` is empty' })),
  },
  { 'x-name': 'MessageAnswer' },
);
const Stopped = Type.Object({ status: Type.String(), message: Type.String(), stopped: Type.Integer({ description: 'How many runs' }) }, { 'x-name': 'StoppedRuns' });
const errors = { 400: ErrorBody, 404: ErrorBody, 409: ErrorBody };
/** A message may meet what its run meets: no key for the model's provider, a quota, too many runs. */
const messageErrors = { ...errors, 412: ErrorBody, 413: ErrorBody, 429: ErrorBody, 503: ErrorBody };

const LastEventId = {
  'Last-Event-ID': Type.Optional(Type.String({ description: 'The `id` of the last event received, as `<run>.<attempt>.<number>`: the stream continues after it' })),
};

const examples: Readonly<Record<string, MessageBody>> = {
  'A question': { message: 'What changed in the report since Monday?' },
  'In a separate session, with thinking': { message: 'Plan the move to the new office.', session_id: '5a3c7c7e-7a39-4b59-8f0c-0f6f1f2b7a10', thinking: true },
  'A picture': { message: 'What does this sign say?', images: [{ media_type: 'image/png', data: 'iVBORw0KGgo=' }] },
  'A side question': { message: 'What time is it in Lisbon?', ephemeral: true },
};

export const messageRoutes = (deps: RouteDeps): RouteDecl[] => [sendRoute(deps), streamRoute(deps), followRoute(deps), stopRoute(deps)];

const sendRoute = (deps: RouteDeps): RouteDecl =>
  defineRoute({
    id: 'sendMessage',
    method: 'POST',
    path: '/api/agents/{id}/message',
    summary: 'Send a message and wait for the answer',
    description:
      'Responds when the run has ended, which may take minutes: use a long client timeout, or the stream. The message is stored first, so the run continues if the daemon restarts, and by default also if you disconnect. With an `Idempotency-Key`, you can repeat the request safely. A message that starts with `/` is a command (`/help` lists them). The header `x-svc-run` has the run id, and `x-svc-on-disconnect` says whether the run finishes or is cancelled if you disconnect (`[runs] on_disconnect`).',
    examples,
    auth: 'bearer',
    permission: 'runs.send',
    cost: 30,
    params: AgentPath,
    headers: Type.Object(IdempotencyKey),
    body: MessageBody,
    maxBodyBytes: MAX_MESSAGE_BODY_BYTES,
    responses: { 200: Answer, ...messageErrors },
    handler: async (req) => {
      const submitted = await deps.runs.submit(req.actor, toDraft(req, 'rest'));
      return waitFor(submitted.topic, RunAnswer, submitted, { headers: runHeaders(submitted) });
    },
  });

const streamRoute = (deps: RouteDeps): RouteDecl =>
  defineRoute({
    id: 'streamMessage',
    method: 'POST',
    path: '/api/agents/{id}/message/stream',
    summary: 'Send a message and stream the answer',
    description:
      'The events of the run as they come; exactly one `done` or `error` is the last. Every event has an `id`. If the connection breaks, repeat the request with the same `Idempotency-Key` and the last `id` as `Last-Event-ID`: the stream continues after that event and no second run starts, even after a restart of the daemon. A `phase` event `restarted` may follow: discard the text after the last tool event, since it is sent again. The header `x-svc-on-disconnect` says whether the run finishes or is cancelled if you disconnect.',
    examples,
    auth: 'bearer',
    permission: 'runs.send',
    cost: 30,
    params: AgentPath,
    headers: Type.Object({ ...IdempotencyKey, ...LastEventId }),
    body: MessageBody,
    maxBodyBytes: MAX_MESSAGE_BODY_BYTES,
    responses: { 200: eventStream, ...messageErrors },
    handler: async (req) => {
      const resumed = await resume(deps, req, req.params.id);
      if (resumed) return resumed;
      const submitted = await deps.runs.submit(req.actor, toDraft(req, 'sse'));
      return follow(submitted.topic, RunSse, undefined, { headers: runHeaders(submitted) });
    },
  });

const followRoute = (deps: RouteDeps): RouteDecl =>
  defineRoute({
    id: 'followSession',
    method: 'GET',
    path: '/api/agents/{id}/sessions/{session_id}/stream',
    summary: 'Stream the active run of a session',
    description: 'The events of the active run, whoever sent the message, from the start or after `Last-Event-ID`. Without an active run, the status is 404: read the session instead.',
    auth: 'bearer',
    permission: 'runs.read',
    cost: 5,
    params: Type.Object({ id: UuidText('Agent id'), session_id: UuidText('A session of the agent') }),
    headers: Type.Object(LastEventId),
    responses: { 200: eventStream, ...errors },
    handler: (req) => attachToSession(deps, req),
  });

const stopRoute = (deps: RouteDeps): RouteDecl =>
  defineRoute({
    id: 'stopAgent',
    method: 'POST',
    path: '/api/agents/{id}/stop',
    summary: "Stop the agent's current run",
    description: 'Cancels all active and queued runs of the agent, on all channels. Text up to this point stays in the session. The agent stays ready: the next message starts a new run.',
    auth: 'bearer',
    permission: 'runs.send',
    cost: 5,
    params: AgentPath,
    responses: { 200: Stopped, 400: ErrorBody, 404: ErrorBody },
    handler: async (req) => {
      const agent = await deps.agents.get(req.actor, req.params.id);
      const stopped = await deps.runs.stop(req.actor, { agentId: agent.id }, 'stopped by request');
      return reply(200, { status: 'ok', message: stopped > 0 ? 'Run cancelled' : 'No active run', stopped });
    },
  });

function toDraft(req: Req<{ id: string }, unknown, MessageBody>, door: Channel): RunDraft {
  const { attachments, ephemeral, incognito, thinking, show_thinking: showThinking } = req.body;
  const key = req.headers['idempotency-key'];
  return {
    agentId: req.params.id,
    door,
    parts: [
      ...(req.body.message === '' ? [] : [{ type: 'text' as const, text: req.body.message }]),
      ...(req.body.images ?? []).map((image) => ({ type: 'image' as const, mediaType: image.media_type, data: image.data })),
    ],
    ...attachmentsOf(attachments),
    ...(req.body.session_id === undefined ? {} : { sessionId: req.body.session_id }),
    ...(ephemeral ? { ephemeral } : {}),
    ...(incognito ? { incognito } : {}),
    ...(thinking === undefined ? {} : { thinking }),
    ...(showThinking === undefined ? {} : { showThinking }),
    ...(key === undefined ? {} : { key }),
  };
}

/** A POST that names a frame of this agent's run attaches to it and never starts another. */
async function resume(deps: RouteDeps, req: Req, agentId: string): Promise<MediaReply | undefined> {
  const resumed = await findResumed(deps, req.actor, agentId, req.headers['last-event-id'] ?? '');
  return resumed ? follow(resumed.runId, RunSse, missedBy(resumed), { after: resumed.after, headers: { 'x-svc-run': resumed.runId } }) : undefined;
}

async function attachToSession(deps: RouteDeps, req: Req<{ id: string; session_id: string }>): Promise<MediaReply> {
  const agent = await deps.agents.get(req.actor, req.params.id);
  const session = await deps.sessions.named(req.actor, agent, req.params.session_id);
  const resumed = await resume(deps, req, agent.id);
  if (resumed) return resumed;
  const going = await deps.journal.list({ actor: req.actor, kind: RUN_KIND, lane: session.id, status: ['running', 'waiting', 'queued'], limit: MAX_IN_LANE });
  // The newest stands first. The one that answers now is told before those that wait for it.
  const run = going.findLast(({ status }) => status !== 'queued') ?? going.at(-1);
  if (!run) throw runErrors.not_found(`in session ${session.id} now`);
  await attach(deps, run, session.id);
  return follow(run.id, RunSse, undefined, { headers: { 'x-svc-run': run.id } });
}
