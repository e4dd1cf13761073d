/**
 * What the official protocol asks of a server, answered by runs. The SDK reads and writes the wire.
 *
 * O1  A task is a run: it has one id on all routes, and who may not see the run does not see the task.
 * O2  A context is a conversation of its own with an agent: it reads nothing of what people wrote to the agent.
 * O3  A message of another agent runs for the owner of the agent, labelled untrusted.
 */
import { createHash } from 'node:crypto';
import type { Message, StreamResponse, Task as WireTask, TaskState } from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { type Actor, type Actors, type Clock, type ExtensionContext, type Ids, isSvcError, isUuid, type Streams, uuidOfDigest } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { type RunFrame, RunFrames, type RunsService, type Submitted, type Task } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';

const MAX_WAIT_MS = 120_000;
const MAX_LISTED = 500;
const MAX_PAGE = 100;
const USUAL_PAGE = 50;
const MAX_CONTEXT = 200;
const CHANNEL = 'a2a';

export type Sdk = typeof import('@a2a-js/sdk') & { readonly errors: typeof import('@a2a-js/sdk/errors') };

export interface OfficialDeps {
  readonly runs: Pick<RunsService, 'submit' | 'task' | 'tasks' | 'stop'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly actors: Actors;
  readonly streams: Pick<Streams, 'follow' | 'attach'>;
  readonly clock: Pick<Clock, 'sleep' | 'iso'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly db: Pick<ExtensionContext['db'], 'commit'>;
  /** Those that the caller may ask, the oldest first. */
  served(actor: Actor): Promise<Agent[]>;
}

export interface Request {
  readonly actor: Actor;
  readonly signal: AbortSignal;
  /** The card of 1.0. */
  readonly card: object;
}

interface Begun {
  readonly id: string;
  readonly contextId: string;
  readonly topic: string;
  readonly after: string | undefined;
  /** It has ended before: a repeated message. */
  readonly ended: Task | undefined;
}

type State = keyof typeof TaskState;
const STATES: Readonly<Record<Task['status'], State>> = {
  queued: 'TASK_STATE_SUBMITTED',
  running: 'TASK_STATE_WORKING',
  waiting: 'TASK_STATE_INPUT_REQUIRED',
  done: 'TASK_STATE_COMPLETED',
  failed: 'TASK_STATE_FAILED',
  cancelled: 'TASK_STATE_CANCELED',
};
const ARTIFACT = 'answer';

const textPart = (value: string) => ({ content: { $case: 'text' as const, value }, metadata: undefined, filename: '', mediaType: 'text/plain' });
const artifact = (text: string) => ({ artifactId: ARTIFACT, name: ARTIFACT, description: '', parts: [textPart(text)], metadata: undefined, extensions: [] });

/** What the protocol and its SDK call by one name, of one caller. */
export const createServed = (deps: OfficialDeps, sdk: Sdk, { actor, signal, card }: Request): A2ARequestHandler => {
  const { errors } = sdk;
  const status = (state: State, at: string, message?: Message) => ({ state: sdk.TaskState[state], message, timestamp: at });
  const said = (text: string, { id, contextId }: Pick<Begun, 'id' | 'contextId'>): Message => ({
    ...{ messageId: deps.ids.uuid(), contextId, taskId: id, role: sdk.Role.ROLE_AGENT, parts: [textPart(text)] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  });
  const wireTask = (begun: Pick<Begun, 'id' | 'contextId'>, state: State, at: string, answer?: string, fault?: string): WireTask => ({
    id: begun.id,
    contextId: begun.contextId,
    status: status(state, at, fault === undefined ? undefined : said(fault, begun)),
    artifacts: answer === undefined ? [] : [artifact(answer)],
    history: [],
    metadata: undefined,
  });
  const toWire = (task: Task): WireTask =>
    wireTask({ id: task.id, contextId: contextOf(task) }, STATES[task.status], task.endedAt ?? task.startedAt ?? task.createdAt, task.result?.response, task.error?.message);
  const found = async (id: string): Promise<Task> => {
    const task = isUuid(id) ? await deps.runs.task(actor, id.toLowerCase()) : undefined;
    if (!task) throw new errors.TaskNotFoundError(`There is no task ${id}.`);
    return task;
  };
  const begin = (message: Message | undefined, tenant: string): Promise<Begun> => begun(deps, sdk, actor, message, tenant, found);

  /** The end of a task as its last frame says it. Undefined for a frame that is not the end. */
  const endOf = (task: Begun, frame: RunFrame): WireTask | undefined => {
    const at = deps.clock.iso();
    if (frame.type === 'error') return wireTask(task, frame.data.code === 'run_stopped' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_FAILED', at, undefined, frame.data.error);
    if (frame.type === 'done') return wireTask(task, frame.data.result.finish === 'cancelled' ? 'TASK_STATE_CANCELED' : 'TASK_STATE_COMPLETED', at, frame.data.result.response);
    if (frame.type === 'phase' && frame.data.phase === 'waiting')
      return wireTask(task, 'TASK_STATE_INPUT_REQUIRED', at, undefined, frame.data.detail ?? 'It waits for somebody, such as for an approval.');
    return undefined;
  };
  const updatesOf = async function* (task: Begun): AsyncGenerator<StreamResponse, void, undefined> {
    const ids = { taskId: task.id, contextId: task.contextId, metadata: undefined };
    let isBegun = false;
    for await (const frame of framesOf(deps, task, signal)) {
      const end = endOf(task, frame);
      if (frame.type === 'chunk' && frame.data.content !== '') {
        yield { payload: { $case: 'artifactUpdate', value: { ...ids, artifact: artifact(frame.data.content), append: isBegun, lastChunk: false } } };
        isBegun = true;
      } else if (frame.type === 'phase' && (frame.data.phase === 'restarted' || frame.data.phase === 'retrying')) isBegun = false;
      if (!end) continue;
      const [answer] = end.artifacts;
      if (answer) yield { payload: { $case: 'artifactUpdate', value: { ...ids, artifact: answer, append: false, lastChunk: true } } };
      yield { payload: { $case: 'statusUpdate', value: { ...ids, status: end.status } } };
      return;
    }
  };
  const noPush = async (): Promise<never> => {
    throw new errors.PushNotificationNotSupportedError('Push notifications are not supported.');
  };
  return {
    getAgentCard: async () => sdk.AgentCard.fromJSON(card),
    getAuthenticatedExtendedAgentCard: async () => {
      throw new errors.ExtendedAgentCardNotConfiguredError('There is no extended card. GET /a2a/agents lists the agents.');
    },
    sendMessage: async ({ message, configuration, tenant }) => {
      const task = await begin(message, tenant);
      if (task.ended) return toWire(task.ended);
      if (configuration?.returnImmediately) return wireTask(task, 'TASK_STATE_WORKING', deps.clock.iso());
      for await (const frame of framesOf(deps, task, signal, MAX_WAIT_MS)) {
        const end = endOf(task, frame);
        if (end) return end;
      }
      return wireTask(task, 'TASK_STATE_WORKING', deps.clock.iso());
    },
    sendMessageStream: async function* ({ message, tenant }) {
      const task = await begin(message, tenant);
      if (task.ended) return yield { payload: { $case: 'task', value: toWire(task.ended) } };
      yield { payload: { $case: 'task', value: wireTask(task, 'TASK_STATE_WORKING', deps.clock.iso()) } };
      yield* updatesOf(task);
    },
    getTask: async ({ id }) => toWire(await found(id)),
    cancelTask: async ({ id }) => {
      const task = await found(id);
      if (task.endedAt !== null || (await deps.runs.stop(actor, { runId: task.id }, 'cancelled over A2A')) === 0) throw new errors.TaskNotCancelableError(`Task ${id} has already ended.`);
      return wireTask({ id: task.id, contextId: contextOf(task) }, 'TASK_STATE_CANCELED', deps.clock.iso());
    },
    resubscribe: async function* ({ id }) {
      const task = await found(id);
      if (task.endedAt !== null) throw new errors.UnsupportedOperationError(`Task ${id} has ended.`);
      await deps.streams.attach(RunFrames, task.id);
      yield { payload: { $case: 'task', value: toWire(task) } };
      yield* updatesOf({ id: task.id, contextId: contextOf(task), topic: task.id, after: undefined, ended: undefined });
    },
    listTasks: async ({ contextId, status: wanted, pageSize = USUAL_PAGE, pageToken, statusTimestampAfter, includeArtifacts }) => {
      const start = pageToken === '' ? 0 : Number(pageToken);
      if (pageSize < 1 || pageSize > MAX_PAGE || !Number.isInteger(start) || start < 0) throw new errors.RequestMalformedError(`pageSize is 1 to ${MAX_PAGE}, and pageToken one that was given.`);
      const { tasks } = await deps.runs.tasks(actor, { limit: MAX_LISTED });
      const all = tasks
        .filter((task) => task.via?.channel === CHANNEL && (contextId === '' || contextOf(task) === contextId))
        .map(toWire)
        .filter(({ status: now }) => (wanted === sdk.TaskState.TASK_STATE_UNSPECIFIED || now?.state === wanted) && (!statusTimestampAfter || (now?.timestamp ?? '') > statusTimestampAfter))
        .sort((a, b) => (b.status?.timestamp ?? '').localeCompare(a.status?.timestamp ?? ''));
      const page = all.slice(start, start + pageSize).map((task) => (includeArtifacts ? task : { ...task, artifacts: [] }));
      return { tasks: page, nextPageToken: start + pageSize < all.length ? String(start + pageSize) : '', pageSize, totalSize: all.length };
    },
    createTaskPushNotificationConfig: noPush,
    getTaskPushNotificationConfig: noPush,
    listTaskPushNotificationConfigs: noPush,
    deleteTaskPushNotificationConfig: noPush,
  };
};

/** The conversation that a client names. One that was sent over the older routes is in the session itself. */
const contextOf = ({ via, sessionId }: Task): string => via?.chat ?? sessionId;

async function* framesOf({ streams, clock }: OfficialDeps, { topic, after }: Begun, gone: AbortSignal, limitMs?: number): AsyncGenerator<RunFrame, void, undefined> {
  const frames = streams.follow(RunFrames, topic, after ?? 0);
  const over = new AbortController();
  const signal = AbortSignal.any([gone, over.signal]);
  const close = (): void => frames.close();
  signal.addEventListener('abort', close, { once: true });
  if (limitMs !== undefined) clock.sleep(limitMs, signal).then(close, () => undefined); // it ended before
  try {
    for await (const frame of frames) {
      yield frame;
      if (frame.final) return;
    }
  } finally {
    over.abort();
  }
}

const begun = async (deps: OfficialDeps, { errors }: Sdk, actor: Actor, message: Message | undefined, tenant: string, found: (id: string) => Promise<Task>): Promise<Begun> => {
  if (!message || message.messageId === '') throw new errors.RequestMalformedError('message.messageId is missing.');
  const text = message.parts.map(({ content }) => (content?.$case === 'text' ? content.value : '')).join('\n');
  if (message.parts.some(({ content }) => content !== undefined && content.$case !== 'text')) throw new errors.ContentTypeNotSupportedError('Only parts in text are taken.');
  if (text.trim() === '') throw new errors.RequestMalformedError('The message has no text.');
  if (message.contextId.length > MAX_CONTEXT) throw new errors.RequestMalformedError(`contextId has ${MAX_CONTEXT} characters at most.`);
  if (message.taskId !== '') {
    const task = await found(message.taskId);
    if (message.contextId !== '' && message.contextId !== contextOf(task)) throw new errors.RequestMalformedError('The task belongs to another contextId.');
    throw new errors.UnsupportedOperationError(
      task.endedAt === null ? 'The task is at work; send the next message when it has ended, with its contextId.' : 'The task has ended; send the next message with its contextId.',
    );
  }
  const named = [tenant, message.metadata?.agentId].find((one): one is string => typeof one === 'string' && one !== '');
  const agents = await deps.served(actor);
  const agent = named === undefined ? agents[0] : (agents.find(({ id }) => id === named.toLowerCase()) ?? agents.find(({ name }) => name === named));
  if (!agent) throw new errors.RequestMalformedError(`No agent ${named ?? 'at all'} is open to A2A.`);
  const { contextId, submitted } = await submit(deps, actor, agent, message, text);
  const ended = submitted.replayed ? await deps.runs.task(actor, submitted.runId) : undefined;
  return {
    id: submitted.runId,
    contextId: submitted.replayed && ended ? contextOf(ended) : contextId,
    topic: submitted.topic,
    after: submitted.after,
    ended: ended && ended.endedAt !== null ? ended : undefined,
  };
};

const submit = async (deps: OfficialDeps, actor: Actor, agent: Agent, message: Message, text: string): Promise<{ contextId: string; submitted: Submitted }> => {
  const digest = (...parts: readonly string[]): string => uuidOfDigest(createHash('sha256').update(JSON.stringify(parts)).digest('hex'));
  // The same message again is in the same context, although it names none.
  const contextId = message.contextId === '' ? digest('a2a context', actor.id, message.messageId) : message.contextId;
  const sessionId = digest('a2a', agent.id, actor.id, contextId);
  const as = deps.actors.of(agent.ownerId);
  const { writes } = await deps.sessions.create(as, agent.id, { id: sessionId, label: `a2a: ${contextId}`.slice(0, 100) });
  await deps.db.commit(writes).catch((error: unknown) => {
    // It is there since an earlier message.
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  const submitted = await deps.runs.submit(as, {
    agentId: agent.id,
    sessionId,
    door: 'internal',
    cause: { kind: 'a2a' },
    via: { channel: CHANNEL, chat: contextId },
    parts: [{ type: 'text', text }],
    key: `a2a:${actor.id}:${message.messageId}`,
    origin: { labels: ['UntrustedAgent'], source: 'an agent over A2A', sessionId },
  });
  return { contextId, submitted };
};
