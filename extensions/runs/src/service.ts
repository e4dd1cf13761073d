/**
 * The rules of runs.
 *
 * R3  A message is a row before it is acknowledged. The same key and body is the same run; another body is a conflict.
 * R4  One run per session at a time; the next waits its turn. A waiting run gives way to a new message.
 * R5  Stop reaches whatever runs, waits or is queued, whichever channel it came through.
 */
import { createHash } from 'node:crypto';
import {
  type Actors,
  type Actor,
  type Clock,
  type DurableWorker,
  type Events,
  type HookHandle,
  type Ids,
  isThenable,
  type Journal,
  type JournalRun,
  type Logger,
  type OptionalHandle,
  type Streams,
} from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { LeftOut, LlmService } from '@svc/ext-llm/contract';
import type { ToolsService } from '@svc/ext-tools/contract';
import type { EntryDraft, Part, SessionsService } from '@svc/ext-sessions/contract';
import { answerCalls } from './client-tools/answering.js';
import { openCallsOf } from './client-tools/client-wait.js';
import { isClientTool } from './client-tools/offering.js';
import { resultEntry } from './client-tools/result-entry.js';
import { attachedParts, bringPictures } from './attachments.js';
import { besideOf, besideWords, factOf, conversationOf, isTyped, withoutAsidePrefix } from './beside.js';
import {
  type ClientTools,
  type CommandAnswer,
  type MessageIntercept,
  RunChanged,
  RunEnded,
  type RunDraft,
  RunFrames,
  type RunHalt,
  type RunResult,
  type RunStart,
  RunStarted,
  type UploadsService,
  type RunsService,
  type Submitted,
} from './contract.js';
import type { FirstSteps } from './loop/first-step.js';
import { isOver, sayEnd, sayEndOf, toRunError } from './loop/endings.js';
import { withModelOf } from './loop/progress.js';
import { runErrors } from './errors.js';
import type { QueueConfig, RootsConfig, RunsConfig } from './config.js';
import { type Beside, COMMAND_KIND, RUN_KIND, type RunInput, inputOf } from './run-input.js';
import type { Repeats } from './loop/repeats.js';
import { ACTIVE, eachRun, stopOne, stopRoot } from './stopping.js';
import { belowItsRoot, type Draft } from './roots.js';
import { openWithin } from './tasks/queue-limits.js';
import type { Room } from './room.js';
import { draftAgain, messageOf } from './tasks/retry.js';
import { countTasks, getTask, isTask, listTasks, queueStanding, toInfo } from './tasks/tasks.js';
import { type WatchKeeper, unwatchedPolicy } from './unwatched.js';

export interface RunsDeps {
  readonly journal: Journal;
  readonly streams: Streams;
  readonly events: Events;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: AgentsService;
  readonly sessions: SessionsService;
  readonly llm: Pick<LlmService, 'admit' | 'checkParameters' | 'resolve'>;
  readonly tools: Pick<ToolsService, 'list' | 'forget'>;
  readonly uploads: OptionalHandle<UploadsService>;
  readonly worker: DurableWorker;
  readonly room: Room;
  readonly firstSteps: FirstSteps;
  readonly intercept: HookHandle<typeof MessageIntercept>;
  readonly startHook: HookHandle<typeof RunStart>;
  readonly watch: WatchKeeper;
  readonly repeats: Repeats;
  readonly halt: HookHandle<typeof RunHalt>;
  config(): RunsConfig;
  limits(): QueueConfig;
  roots(): RootsConfig;
}

const MAX_MESSAGE_CHARS = 100_000;
const MAX_LISTED = 500;
/** The fencing token of a run that nobody has held yet. */
const UNCLAIMED = 0;

export const createRunsService = (deps: RunsDeps): RunsService => ({
  submit: (actor, draft) => submit(deps, actor, draft),
  answerCalls: (actor, answer) => answerCalls({ ...deps, attach: (run, after) => attachAfter(deps, run, after) }, actor, answer),
  get: async (actor, runId) => toInfo(await visible(deps, actor, runId)),
  list: async (actor, filter) => (await listRuns(deps, actor, filter)).map(toInfo),
  stop: (actor, target, why) => stop(deps, actor, target, why),
  tasks: (actor, filter) => listTasks(deps, actor, filter),
  task: (actor, runId) => getTask(deps, actor, runId),
  taskCounts: (actor) => countTasks(deps, actor),
  queue: (actor) => queueStanding(deps, actor),
  retry: (actor, runId) => retry(deps, actor, runId),
});

/** Throws where the agent takes no messages. */
async function agentFor(deps: RunsDeps, actor: Actor, agentId: string): Promise<Agent> {
  const agent = await deps.agents.get(actor, agentId);
  if (agent.state === 'Suspended') throw runErrors.agent_suspended(agent.name);
  return agent;
}

/** Throws `run_too_many`. Work that waits in the queue may come whenever it wants to. */
function enter(deps: RunsDeps, lane: string, { isPatient = false, pool }: Pick<Draft, 'isPatient' | 'pool'> = {}): (() => void) | undefined {
  const leave = deps.room.enter(lane, pool);
  if (!leave && !isPatient) throw runErrors.too_many(deps.config().max_active).with({ headers: { 'retry-after': '1' } });
  return leave;
}

const admit = (deps: RunsDeps, { id, manifest }: Agent): ReturnType<LlmService['admit']> => deps.llm.admit(id, [manifest.model, ...manifest.fallback_models]);

async function submit(deps: RunsDeps, actor: Actor, asked: RunDraft): Promise<Submitted> {
  const placed = belowItsRoot(deps, withoutAsidePrefix(asked));
  const draft = isThenable(placed) ? await placed : placed;
  checkDraft(deps, draft);
  const found = await agentFor(deps, actor, draft.agentId);
  const sessionId = draft.sessionId ?? found.sessionId;
  const text = draft.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  let prompt: string | undefined;
  // A stateless request is words for the model alone: no command of a conversation.
  if (text.startsWith('/') && !draft.history && !draft.origin && isTyped(draft) && !deps.intercept.isEmpty()) {
    const answer = await deps.intercept.call({ actor, agent: found, sessionId, text, door: draft.door, ...(draft.via === undefined ? {} : { via: draft.via }) });
    if (answer && answer.prompt === undefined) return answerCommand(deps, actor, found, sessionId, draft, answer);
    prompt = answer?.prompt;
  }
  const leave = enter(deps, besideOf(draft, sessionId) ? deps.ids.uuid() : sessionId, draft);
  try {
    const agent = draft.sessionId === undefined ? found : withModelOf(found, await deps.sessions.named(actor, found, draft.sessionId));
    // A message that was sent before is answered from its row, whatever the agent may still use.
    if (draft.key === undefined && !draft.isResend) await admit(deps, agent);
    if (draft.thinking === true) await checkThinking(deps, agent);
    if (draft.parts.some((part) => part.type === 'image')) await checkSight(deps, agent);
    const leftOut = await leftOutOf(deps, agent, draft);
    if (draft.clientTools && !draft.history) await checkNames(deps, actor, agent, draft.clientTools);
    if (!deps.startHook.isEmpty()) await askStart(deps, actor, agent, draft);
    const submitted = await accept(deps, actor, agent, {
      sessionId,
      draft,
      prompt,
      isQueued: leave === undefined,
      parts: draft.attachments ? await withAttachments(deps, actor, agent, draft) : draft.parts,
    });
    return leftOut.length === 0 ? submitted : { ...submitted, leftOut };
  } finally {
    leave?.();
  }
}

/** Throws for what the model cannot be asked with and must not be asked without. */
const leftOutOf = async ({ llm }: RunsDeps, agent: Agent, { temperature, parameters }: RunDraft): Promise<readonly LeftOut[]> =>
  temperature === undefined && parameters === undefined ? [] : llm.checkParameters(agent.manifest.model, { ...parameters, ...(temperature === undefined ? {} : { temperature }) });

/** What the attachments say follows what was said. A message that was sent before is answered from its row: nothing is read for it again. */
async function withAttachments(deps: RunsDeps, actor: Actor, agent: Agent, draft: RunDraft): Promise<readonly Part[]> {
  if (draft.key !== undefined && (await deps.journal.byKey(actorFor(deps, actor, agent), RUN_KIND, draft.key))) return draft.parts;
  if (await bringPictures(deps.uploads, actor, draft)) await checkSight(deps, agent);
  return [...draft.parts, ...(await attachedParts(deps.uploads, actor, agent.id, draft))];
}

/** Nothing for a message of the agent's owner to its conversation. */
const originOf = (actor: Actor, agent: Agent, draft: RunDraft, beside: Beside | undefined): Pick<RunInput, 'origin'> => {
  if (draft.origin) return { origin: draft.origin };
  if (beside?.kind === 'incognito') return { origin: { labels: [], source: 'the conversation', sessionId: beside.sessionId } };
  return actor.ownerId === agent.ownerId ? {} : { origin: { labels: ['UserInput'], source: `a message of ${actor.id}` } };
};

/** On whose behalf a run is. */
const actorFor = ({ actors }: Pick<RunsDeps, 'actors'>, actor: Actor, agent: Agent): Actor => (agent.ownerId === actor.ownerId ? actor : actors.of(agent.ownerId));

/** One ended run has one retry, whoever asks for it how often: its key says so. No client can send one that begins with a space. */
async function retry(deps: RunsDeps, actor: Actor, runId: string): Promise<{ runId: string; replayed: boolean }> {
  const run = await visible(deps, actor, runId);
  if (!isTask(run)) throw runErrors.not_found(runId);
  const owner = deps.actors.of(run.ownerId);
  const key = ` retry:${run.id}`;
  const earlier = await deps.journal.byKey(owner, RUN_KIND, key);
  if (earlier) return { runId: earlier.id, replayed: true };
  const input = inputOf(run);
  if (!isOver(run)) throw runErrors.not_ended(run.id);
  const agent = await agentFor(deps, actor, input.agentId);
  const leave = enter(deps, input.sessionId);
  try {
    const parts = await messageOf(deps, owner, run);
    await admit(deps, agent);
    const draft = draftAgain(input, parts, key);
    if (!deps.startHook.isEmpty()) await askStart(deps, actor, agent, draft);
    return await accept(deps, owner, agent, { sessionId: input.sessionId, draft, parts, isQueued: false, retryOf: run.id });
  } finally {
    leave?.();
  }
}

interface Accepting {
  readonly draft: Draft;
  readonly sessionId: string;
  readonly parts: readonly Part[];
  /** Instructions that its words named. */
  readonly prompt?: string | undefined;
  /** There is no room to drive it now. */
  readonly isQueued: boolean;
  readonly retryOf?: string;
}

async function accept(deps: RunsDeps, actor: Actor, agent: Agent, { sessionId, draft, parts, prompt, isQueued, retryOf }: Accepting): Promise<Submitted> {
  const beside = besideOf(draft, sessionId);
  const lane = beside ? deps.ids.uuid() : sessionId;
  const input: RunInput = {
    agentId: agent.id,
    sessionId: lane,
    ...(beside ? { beside } : {}),
    door: draft.door,
    ...(draft.via === undefined ? {} : { via: draft.via }),
    ...(draft.rootSince === undefined ? {} : { rootSince: draft.rootSince }),
    depth: draft.depth ?? 0,
    // Nobody watches a retry from its start.
    ...(retryOf === undefined && unwatchedPolicy(draft.door, agent.manifest.autonomous, deps.config()) === 'cancel' ? { unwatched: 'cancel' } : {}),
    ...(retryOf === undefined ? {} : { retryOf }),
    parts,
    ...originOf(actor, agent, draft, beside),
    ...(draft.history === undefined ? {} : { history: draft.history }),
    ...(draft.systemExtra === undefined && prompt === undefined ? {} : { systemExtra: [draft.systemExtra ?? [], prompt ?? []].flat().join('\n\n') }),
    ...(draft.maxTokens === undefined ? {} : { maxTokens: draft.maxTokens }),
    ...(draft.temperature === undefined ? {} : { temperature: draft.temperature }),
    ...(draft.parameters === undefined ? {} : { parameters: draft.parameters }),
    ...(draft.clientTools === undefined ? {} : { clientTools: draft.clientTools, clientOf: actor.id }),
    ...(draft.tools === undefined ? {} : { tools: draft.tools }),
    ...(draft.thinking === undefined ? {} : { thinking: draft.thinking }),
    ...(draft.showThinking === undefined ? {} : { showThinking: draft.showThinking }),
  };
  const fingerprint = draft.key !== undefined || draft.door === 'openai' ? fingerprintOf(agent.id, sessionId, draft, actor) : undefined;
  // A key says by itself what is a repetition.
  if (fingerprint !== undefined && draft.key === undefined) {
    // A stateless run has a lane of its own: it is looked for among those of its agent.
    const among = draft.history ? { subject: agent.id } : { lane: sessionId };
    const earlier = await deps.repeats.find(actor, { among, fingerprint, isResend: draft.isResend ?? false });
    if (earlier) return attach(deps, earlier, sessionId);
  }
  const id = deps.ids.uuid();
  const opened = await openWithin(
    deps.journal,
    { queue: draft.isPatient ? {} : deps.limits(), maxRuns: deps.roots().max_runs },
    {
      id,
      kind: RUN_KIND,
      actor: actorFor(deps, actor, agent),
      lane,
      subject: agent.id,
      session: sessionId,
      input,
      ...(draft.key === undefined ? {} : { key: draft.key }),
      ...(fingerprint === undefined ? {} : { fingerprint }),
      ...(draft.parentRunId === undefined ? {} : { parentId: draft.parentRunId }),
      ...(draft.cause === undefined || draft.cause.kind === 'message' ? {} : { cause: draft.cause }),
      ...(isQueued ? { isQueued } : {}),
      ...(draft.pool === undefined ? {} : { pool: draft.pool }),
    },
    [deps.events.event(RunStarted, { runId: id, agentId: agent.id, sessionId, ownerId: agent.ownerId })],
    beside && beside.kind !== 'stateless' ? undefined : (run) => deps.firstSteps.find(run, agent),
  );
  // What was found and not committed is found again where the run is driven.
  if (opened.leased && !opened.hasBegun) deps.firstSteps.take(opened.leased);
  if (opened.replayed) return attach(deps, opened.run, sessionId);
  try {
    deps.streams.open(RunFrames, id, { token: opened.leased?.token ?? UNCLAIMED });
  } catch (error) {
    // It is accepted: whoever finds room for its stream drives it.
    if (opened.leased) await deps.journal.release(opened.leased);
    throw error;
  }
  if (input.unwatched === 'cancel') deps.watch.keep(id);
  if (opened.leased) void deps.worker.take(opened.leased);
  else await queued(deps, opened.run, lane, draft.clientResults);
  return { runId: id, topic: id, sessionId, replayed: false, position: opened.leased ? 0 : 1, onDisconnect: onDisconnectOf(input) };
}

/** Another run has the session: one that waits for a person gives way, one that runs goes first. */
async function queued(deps: RunsDeps, run: JournalRun, sessionId: string, results: RunDraft['clientResults']): Promise<void> {
  deps.streams.publish(RunFrames, run.id, 'phase', { phase: 'queued' });
  deps.events.publish(RunChanged, { ...factOf(run), status: 'queued' });
  // Any process may claim it, and writes its topic then.
  deps.streams.letGo(run.id, UNCLAIMED);
  const system = deps.actors.system('queue');
  const [waiting] = await deps.journal.list({ actor: system, kind: RUN_KIND, lane: sessionId, status: ['waiting'], limit: 1 });
  if (waiting) await supersede(deps, waiting, results);
  deps.worker.poke();
}

/** Results that the new message brought for its calls stand in the place of those that are skipped. */
async function supersede(deps: RunsDeps, waiting: JournalRun, results: RunDraft['clientResults'] = []): Promise<void> {
  const { agentId, sessionId } = inputOf(waiting);
  const system = deps.actors.system('superseded', waiting.ownerId);
  const ref = await deps.sessions.ensure(system, agentId, sessionId, { again: true });
  const entries = await deps.sessions.entries(system, sessionId, { after: Math.max(0, ref.seq - 200) });
  const answered = new Set(entries.flatMap((entry) => (entry.kind === 'tool_result' ? [entry.callId] : [])));
  const open = entries.filter((entry) => entry.kind === 'tool_call' && entry.runId === waiting.id && !answered.has(entry.callId));
  const skipped = open.map((entry): EntryDraft => {
    const callId = entry.callId ?? '';
    const given = isClientTool(inputOf(waiting), entry.tool ?? '') ? results.find((result) => result.callId === callId) : undefined;
    if (given) return resultEntry(waiting.id, callId, entry.tool ?? '', given.content);
    return { kind: 'tool_result', runId: waiting.id, callId, tool: entry.tool ?? '', content: 'Skipped: a new message took its place.', isError: true, status: 'skipped' };
  });
  const { writes } = await deps.sessions.append(system, ref, skipped);
  const why = runErrors.superseded();
  const ended = deps.events.event(RunEnded, { ...factOf(waiting), status: 'cancelled' });
  if (await deps.journal.cancel(system, waiting.id, toRunError(why), [...writes, ended])) await sayEnd(deps, waiting, why);
}

/**
 * A resent request: the run that is going on, wherever that is, or one that ended, whose final frame is said again.
 * `after`: the last frame that the client has been given.
 */
export async function attach(deps: Pick<RunsDeps, 'streams' | 'journal' | 'actors'>, run: JournalRun, sessionId: string, after?: string): Promise<Submitted> {
  const input = inputOf(run);
  const attached: Submitted = { runId: run.id, topic: run.id, sessionId: conversationOf(input) ?? sessionId, replayed: true, position: 0, onDisconnect: onDisconnectOf(input) };
  const clientCalls = openCallsOf(run);
  if (clientCalls) return { ...attached, clientCalls };
  const known = deps.streams.here(run.id);
  if (isOver(run) && (!known || known.own)) await sayEndOf(deps, run);
  else await deps.streams.attach(RunFrames, run.id, after);
  return attached;
}

/** What follows a frame of a run: its next answer. */
async function attachAfter(deps: RunsDeps, run: JournalRun, after: string): Promise<Submitted> {
  const now = (await deps.journal.get(deps.actors.system('client calls'), run.id)) ?? run;
  return { ...(await attach(deps, now, inputOf(now).sessionId, after)), replayed: false, after };
}

const onDisconnectOf = ({ unwatched }: RunInput): Submitted['onDisconnect'] => unwatched ?? 'finish';

async function answerCommand(deps: RunsDeps, actor: Actor, agent: Agent, sessionId: string, draft: RunDraft, answer: CommandAnswer): Promise<Submitted> {
  const opened = await deps.journal.open({
    kind: COMMAND_KIND,
    actor,
    subject: agent.id,
    session: sessionId,
    input: { agentId: agent.id, sessionId, command: answer.command },
    ...(draft.key === undefined ? {} : { key: draft.key, fingerprint: fingerprintOf(agent.id, sessionId, draft, actor) }),
  });
  const topic = opened.run.id;
  const { provider, model } = agent.manifest.model;
  const result: RunResult = {
    response: answer.message,
    input_tokens: 0,
    output_tokens: 0,
    iterations: 0,
    cost_usd: 0,
    session_id: String(answer.data?.session_id ?? sessionId),
    finish: 'stop',
    provider,
    model,
  };
  if (opened.leased) await deps.journal.advance(opened.leased, { finish: { status: 'done', result } });
  // It may have changed the model or the session, and with it what failed before.
  deps.repeats.forget();
  if (opened.replayed) return attach(deps, opened.run, sessionId);
  deps.streams.open(RunFrames, topic);
  deps.streams.publish(RunFrames, topic, 'phase', { phase: 'command', detail: answer.command });
  deps.streams.publish(RunFrames, topic, 'chunk', { content: answer.message, done: false });
  deps.streams.publish(RunFrames, topic, 'done', { done: true, usage: { input_tokens: 0, output_tokens: 0 }, result, command: { name: answer.command, ...answer.data } });
  return { runId: topic, topic, sessionId: result.session_id, replayed: false, position: 0, onDisconnect: 'finish' };
}

async function stop(deps: RunsDeps, actor: Actor, target: { runId?: string; agentId?: string; rootId?: string }, why: string): Promise<number> {
  if (target.rootId !== undefined) return stopRoot(deps, actor, target.rootId, runErrors.stopped().with({ cause: why }));
  const runs = target.runId === undefined ? eachRun(deps.journal, { actor, kind: RUN_KIND, status: ACTIVE, ...aboutAgent(target.agentId) }) : [await visible(deps, actor, target.runId)];
  let stopped = 0;
  for await (const run of runs) stopped += await stopOne(deps, actor, run, runErrors.stopped().with({ cause: why }));
  return stopped;
}

const listRuns = (deps: RunsDeps, actor: Actor, { agentId, active, limit = MAX_LISTED }: { agentId?: string; active?: boolean; limit?: number }): Promise<JournalRun[]> =>
  deps.journal.list({ actor, kind: RUN_KIND, limit, ...(active ? { status: ACTIVE } : {}), ...aboutAgent(agentId) });

const aboutAgent = (agentId: string | undefined): { subject?: string } => (agentId === undefined ? {} : { subject: agentId });

async function visible(deps: RunsDeps, actor: Actor, runId: string): Promise<JournalRun> {
  const run = await deps.journal.get(actor, runId);
  if (!run) throw runErrors.not_found(runId);
  return run;
}

function checkDraft(deps: RunsDeps, draft: RunDraft): void {
  let chars = 0;
  for (const part of draft.parts) chars += part.type === 'text' ? part.text.length : 0;
  const hasMore = draft.attachments !== undefined || draft.parts.some((part) => part.type === 'image');
  const isAnswer = draft.parts.length === 0 && (draft.history?.at(-1)?.results?.length ?? 0) > 0;
  if (chars === 0 && !hasMore && !isAnswer) throw runErrors.empty_message();
  if (chars > MAX_MESSAGE_CHARS) throw runErrors.message_too_large(chars, MAX_MESSAGE_CHARS);
  if (draft.key !== undefined && !/^[\x21-\x7e][\x20-\x7e]{0,254}$/.test(draft.key)) throw runErrors.invalid_key();
  const { max_depth: maxDepth } = deps.config();
  if ((draft.depth ?? 0) > maxDepth) throw runErrors.too_deep(maxDepth);
}

/** A call is the agent's or the sender's: by its name, nobody could say whose. */
async function checkNames({ tools }: RunsDeps, actor: Actor, agent: Agent, client: ClientTools): Promise<void> {
  const own = new Set((agent.manifest.tools_disabled ? [] : await tools.list(actor, agent.id, agent.manifest)).map(({ name }) => name));
  const taken = client.tools.filter(({ name }) => own.has(name));
  if (taken.length > 0) throw runErrors.tool_name_taken(taken.map(({ name }) => name).join(', '), agent.name);
}

/** Whoever asks for thoughts from a model that has none is told so, instead of being given none. */
async function checkThinking(deps: RunsDeps, agent: Agent): Promise<void> {
  const target = await deps.llm.resolve(agent.manifest.model);
  if (!target.canThink) throw runErrors.cannot_think(`${target.provider}/${target.model}`);
}

/** A picture that the model refuses would stand in the conversation, and be refused with every message after it. */
async function checkSight(deps: RunsDeps, agent: Agent): Promise<void> {
  const target = await deps.llm.resolve(agent.manifest.model);
  if (target.canSee === false) throw runErrors.cannot_see(`${target.provider}/${target.model}`);
}

async function askStart(deps: RunsDeps, actor: Actor, agent: Agent, draft: RunDraft): Promise<void> {
  const verdict = await deps.startHook.call({ actor, agent, draft });
  if (verdict) throw runErrors.refused('deny' in verdict ? verdict.deny : verdict.suspend.reason);
}

/** A key is its owner's, whoever sends it; without one, only the same caller can send the same request again. */
const fingerprintOf = (agentId: string, sessionId: string, draft: RunDraft, actor: Actor): string => {
  const asked = [
    agentId,
    sessionId,
    draft.parts satisfies readonly Part[],
    draft.systemExtra ?? null,
    draft.maxTokens ?? null,
    draft.temperature ?? null,
    ...besideWords(draft),
    ...(draft.attachments ?? []),
  ];
  return createHash('sha256')
    .update(JSON.stringify(draft.key === undefined ? [...asked, actor.id] : asked))
    .digest('hex');
};
