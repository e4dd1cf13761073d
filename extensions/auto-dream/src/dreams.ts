/**
 * Dreams: an agent tidies its memory while nobody waits.
 *
 * D1  Of one agent there is one dream at a time, on all daemons together: its row is claimed, and work in the journal holds the lease.
 * D2  In a dream the agent has its memory tools alone, within its budget; neither question nor answer joins a conversation.
 * D3  A dream ends: with an answer, by its time limit, or because a person stops it. It goes on after a restart of the daemon.
 */
import { type Actor, type Actors, type Clock, type Db, type Events, type Ids, isSvcError, isTable, type Journal, type LeasedRun, type Logger, type OptionalHandle, type Streams } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { MemoryService } from '@svc/ext-memory/contract';
import { type RunFrame, RunFrames, type RunsService } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { AutoDreamConfig } from './config.js';
import { failedAgain, gatesOf, nextAt } from './due.js';
import { promptFor } from './prompt.js';
import { Dream, DreamChanged, type DreamRow } from './tables.js';

export interface DreamDeps {
  readonly db: Db;
  readonly events: Events;
  readonly journal: Journal;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Pick<Actors, 'of' | 'system'>;
  readonly agents: Pick<AgentsService, 'get' | 'list'>;
  readonly runs: Pick<RunsService, 'submit' | 'stop' | 'get'>;
  readonly sessions: Pick<SessionsService, 'recent' | 'entries' | 'counts'>;
  readonly memory: OptionalHandle<MemoryService>;
  readonly streams: Streams;
  readonly closing: AbortSignal;
  config(): AutoDreamConfig;
}

export interface Turn {
  readonly text: string;
  readonly tool_use_count: number;
}

export interface Fired {
  readonly fired: boolean;
  readonly taskId?: string;
  readonly reason: string;
}

export interface Dreams {
  rows(actor: Actor, agentIds: readonly string[]): Promise<ReadonlyMap<string, DreamRow>>;
  /** By a person: hours and conversations are skipped. */
  trigger(agent: Agent): Promise<Fired>;
  abort(actor: Actor, agent: Agent): Promise<{ readonly aborted: boolean; readonly reason: string }>;
  /** Begins what is due. */
  scan(): Promise<void>;
}

const TOOLS = ['memory_*', 'knowledge_*', 'wiki_*'];
const WRITES: Readonly<Record<string, string>> = { memory_store: 'key', wiki_write: 'topic', knowledge_add_entity: 'name', knowledge_add_relation: 'source' };
const MAX_TURNS = 30;
const MAX_TOUCHED = 200;
const MAX_TURN_CHARS = 500;
const AT_ONCE = 2;
const EPOCH = '1970-01-01T00:00:00.000Z';
const STOPPED = 'a person stopped the dream';

export const jsonOf = <T>(value: unknown): T => (typeof value === 'string' ? (JSON.parse(value) as T) : (value as T));

type Begin = (agent: Agent, before: DreamRow | undefined) => Promise<Fired>;
interface Claimed {
  readonly taskId?: string;
  readonly leased?: LeasedRun | undefined;
}

export const createDreams = (deps: DreamDeps): Dreams => {
  const worker = deps.journal.worker(Dream, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  const begin: Begin = async (agent, before) => {
    const { taskId, leased } = await claim(deps, agent, before);
    if (leased) void worker.take(leased);
    return taskId === undefined ? { fired: false, reason: 'A dream of this agent is under way.' } : { fired: true, taskId, reason: 'The dream has begun.' };
  };
  return {
    rows: async (actor, agentIds) => {
      const rows = agentIds.length === 0 ? [] : await deps.db.as(actor).select<DreamRow>({ from: 'dreams', where: { agent_id: [...agentIds] } });
      return new Map(rows.map((row) => [row.agent_id, row]));
    },
    trigger: async (agent) => {
      const refusal = refusalOf(deps, agent);
      return refusal === undefined ? begin(agent, await rowOf(deps, agent.id)) : { fired: false, reason: refusal };
    },
    abort: async (actor, agent) => {
      const row = await rowOf(deps, agent.id);
      if (row?.status !== 'running') return { aborted: false, reason: 'No dream of this agent is under way.' };
      return (await stopDream(deps, actor, row)) ? { aborted: true, reason: STOPPED } : { aborted: false, reason: 'The dream is just beginning or ending: ask again in a moment.' };
    },
    scan: () => scan(deps, begin),
  };
};

/** Why an agent does not dream at all; undefined where it may. */
export const refusalOf = ({ config, memory }: Pick<DreamDeps, 'config' | 'memory'>, { manifest }: Pick<Agent, 'manifest'>): string | undefined => {
  if (!memory.value) return 'The extension memory is off: there is nothing to tidy.';
  if (!config().enabled) return 'Dreams are off: [auto_dream] enabled = true in config.toml switches them on.';
  if (manifest.auto_dream_enabled !== true) return 'The agent has not opted in: auto_dream_enabled = true in its manifest does it.';
  if (manifest.tools_disabled) return 'The agent has no tools.';
  const { memory_read: reads, memory_write: writes } = manifest.capabilities;
  return reads.length > 0 && writes.length > 0 ? undefined : 'The agent may not read and write memory: grant memory_read and memory_write under [capabilities].';
};

const rowOf = ({ db }: DreamDeps, agentId: string): Promise<DreamRow | undefined> => db.system('the dream of an agent').first<DreamRow>({ from: 'dreams', where: { agent_id: agentId } });

/** The row and the work are one commit. Who comes second with the same number finds the work of the first. */
const claim = async (deps: DreamDeps, agent: Agent, before: DreamRow | undefined): Promise<Claimed> => {
  if (before?.status === 'running') return {};
  const number = (before?.number ?? 0) + 1;
  const id = deps.ids.uuid();
  const row: DreamRow = {
    agent_id: agent.id,
    owner_id: agent.ownerId,
    number,
    task_id: id,
    run_id: null,
    status: 'running',
    phase: 'orient',
    started_at: deps.clock.iso(),
    ended_at: null,
    consolidated_at: before?.consolidated_at ?? null,
    failures: before?.failures ?? 0,
    failed_on: before?.failed_on ?? null,
    tool_use_count: 0,
    memories_touched: '[]',
    turns: '[]',
    usage: null,
    error: null,
  };
  const { db, journal, actors } = deps;
  const key = `${agent.id}:${number}`;
  const { leased, replayed } = await journal.open(
    {
      id,
      kind: Dream.name,
      actor: actors.of(agent.ownerId),
      key,
      fingerprint: key,
      lane: `auto-dream:${agent.id}`,
      subject: agent.id,
      cause: { kind: 'task', id: 'auto-dream' },
      input: { agentId: agent.id, number },
    },
    [db.upsert('dreams', ['agent_id'], [row]), changed(deps, row, 'running')],
  );
  return replayed ? {} : { taskId: id, leased };
};

const changed = ({ events }: DreamDeps, { agent_id: agentId, owner_id: ownerId }: Pick<DreamRow, 'agent_id' | 'owner_id'>, status: 'running' | 'completed' | 'failed' | 'aborted') =>
  events.event(DreamChanged, { ownerId, agentId, status });

const scan = async (deps: DreamDeps, begin: Begin): Promise<void> => {
  const config = deps.config();
  if (!config.enabled || !deps.memory.value) return;
  const system = deps.actors.system('dreams');
  const willing = (await deps.agents.list(system)).filter((agent) => agent.state === 'Running' && refusalOf(deps, agent) === undefined);
  for (const agent of willing) {
    const before = await rowOf(deps, agent.id);
    const gates = gatesOf(agent, config);
    if (before?.status === 'running' || (nextAt(before, gates) ?? 0) > deps.clock.now()) continue;
    if (gates.minSessions > 0 && (await sessionsSince(deps, system, agent.id, before)) < gates.minSessions) continue;
    await begin(agent, before).catch((cause: unknown) => deps.log.warn('a dream could not be begun', { agent: agent.id, cause }));
  }
};

export const sessionsSince = async ({ sessions }: Pick<DreamDeps, 'sessions'>, actor: Actor, agentId: string, row: DreamRow | undefined): Promise<number> =>
  (await sessions.counts(actor, [agentId], row?.started_at ?? EPOCH))[agentId]?.recent ?? 0;

const drive = async (deps: DreamDeps, leased: LeasedRun): Promise<void> => {
  const { agentId, number } = leased.input as { agentId: string; number: number }; // what `claim` stored
  const row = await rowOf(deps, agentId);
  if (row?.number !== number || row.status !== 'running') return deps.journal.advance(leased, { finish: { status: 'cancelled' } });
  try {
    await dream(deps, leased, row);
  } catch (error) {
    if (deps.closing.aborted || leased.signal.aborted) throw error;
    deps.log.warn('a dream failed', { agent: agentId, cause: error });
    await end(deps, leased, row, { status: 'failed', error: isSvcError(error) ? error.message : 'The dream failed; the log says why.' });
  }
};

const dream = async (deps: DreamDeps, leased: LeasedRun, row: DreamRow): Promise<void> => {
  const memory = deps.memory.value;
  if (!memory) return end(deps, leased, row, { status: 'failed', error: 'The extension memory is off.' });
  const actor = deps.actors.of(row.owner_id);
  const runId = row.run_id ?? (await ask(deps, leased, actor, row, memory));
  const seen: Seen = { uses: 0, touched: new Set(), turns: [], said: '', usesBefore: 0 };
  const isLate = await follow(deps, leased, row, actor, runId, seen);
  const { status, result, error } = await deps.runs.get(actor, runId);
  const figures = figuresOf(seen);
  if (status === 'cancelled')
    return end(deps, leased, row, isLate ? { status: 'failed', error: `The dream took longer than ${deps.config().timeout_secs} s.` } : { status: 'aborted', error: STOPPED }, figures);
  if (status !== 'done') return end(deps, leased, row, { status: 'failed', error: error?.message ?? `The run of the dream is ${status}.` }, figures);
  await change(deps, row, { phase: 'prune' });
  const merged = await memory.consolidate(actor, row.agent_id);
  const usage = result && { input_tokens: result.input_tokens, output_tokens: result.output_tokens, cost_usd: result.cost_usd };
  return end(deps, leased, row, { status: 'completed' }, { ...figures, usage: JSON.stringify(usage) }, merged);
};

/** The first two phases: what is there, and what was said. Then the agent is asked. */
const ask = async (deps: DreamDeps, leased: LeasedRun, actor: Actor, row: DreamRow, memory: MemoryService): Promise<string> => {
  const agent = await deps.agents.get(actor, row.agent_id);
  await change(deps, row, { phase: 'gather' });
  const { text, origin } = await promptFor({ sessions: deps.sessions, memory }, actor, agent);
  const { runId } = await deps.runs.submit(actor, {
    agentId: agent.id,
    door: 'internal',
    history: [],
    parts: [{ type: 'text', text }],
    tools: TOOLS,
    parentRunId: leased.id,
    cause: { kind: 'task', id: 'auto-dream' },
    isPatient: true,
    ...(origin === undefined ? {} : { origin }),
  });
  await change(deps, row, { phase: 'consolidate', run_id: runId });
  return runId;
};

interface Seen {
  uses: number;
  readonly touched: Set<string>;
  readonly turns: Turn[];
  said: string;
  usesBefore: number;
}

/** Until the run has ended. True where it took too long, and was stopped. */
const follow = async (deps: DreamDeps, leased: LeasedRun, row: DreamRow, actor: Actor, runId: string, seen: Seen): Promise<boolean> => {
  const leftMs = Math.max(1_000, Date.parse(row.started_at) + deps.config().timeout_secs * 1_000 - deps.clock.now());
  const over = new AbortController();
  const signal = AbortSignal.any([over.signal, leased.signal, deps.closing]);
  let isLate = false;
  const deadline = deps.clock.sleep(leftMs, signal).then(
    async () => {
      isLate = true;
      await deps.runs.stop(actor, { runId }, 'the dream took too long');
    },
    () => undefined,
  );
  try {
    if (isOver((await deps.runs.get(actor, runId)).status)) return false;
    await deps.streams.attach(RunFrames, runId);
    const frames = deps.streams.follow(RunFrames, runId);
    const close = (): void => frames.close();
    signal.addEventListener('abort', close);
    for await (const frame of frames) {
      if (note(seen, frame)) await change(deps, row, figuresOf(seen));
      if (frame.final) break;
    }
    signal.removeEventListener('abort', close);
    signal.throwIfAborted();
    return isLate;
  } finally {
    over.abort();
    await deadline;
  }
};

const isOver = (status: string): boolean => status === 'done' || status === 'failed' || status === 'cancelled';

/** True where there is something to show. */
const note = (seen: Seen, frame: RunFrame): boolean => {
  if (frame.type === 'chunk') seen.said += frame.data.content;
  if (frame.type === 'tool_use') {
    if (seen.said !== '') closeTurn(seen);
    seen.uses += 1;
    return true;
  }
  if (frame.type === 'tool_result' && !frame.data.is_error) {
    const field = WRITES[frame.data.tool];
    const name = field === undefined || !isTable(frame.data.input) ? undefined : frame.data.input[field];
    if (typeof name === 'string' && seen.touched.size < MAX_TOUCHED) seen.touched.add(name);
  }
  if (frame.type === 'done') closeTurn(seen);
  return false;
};

const closeTurn = (seen: Seen): void => {
  if (seen.turns.length < MAX_TURNS) seen.turns.push({ text: seen.said.slice(0, MAX_TURN_CHARS), tool_use_count: seen.uses - seen.usesBefore });
  seen.said = '';
  seen.usesBefore = seen.uses;
};

const figuresOf = ({ uses, touched, turns }: Seen) => ({ tool_use_count: uses, memories_touched: JSON.stringify([...touched]), turns: JSON.stringify(turns) });

type Fields = Partial<Record<keyof DreamRow, string | number | null>>;

const change = ({ db }: DreamDeps, { agent_id, number }: DreamRow, fields: Fields): Promise<unknown> => db.commit([db.update('dreams', ['agent_id', 'number'], [{ agent_id, number, ...fields }])]);

const end = async (
  deps: DreamDeps,
  leased: LeasedRun,
  row: DreamRow,
  { status, error = null }: { status: 'completed' | 'failed' | 'aborted'; error?: string | null },
  figures: Fields = {},
  merged = 0,
): Promise<void> => {
  const now = deps.clock.iso();
  const set = {
    ...figures,
    agent_id: row.agent_id,
    number: row.number,
    status,
    error,
    phase: 'done',
    ended_at: now,
    ...(status === 'failed' ? failedAgain(row, deps.clock.now()) : { failures: 0, failed_on: null }),
    ...(status === 'completed' ? { consolidated_at: now } : {}),
  };
  const finish =
    status === 'completed'
      ? ({ status: 'done', result: { merged } } as const)
      : ({ status: status === 'aborted' ? 'cancelled' : 'failed', error: { code: 'auto_dream_failed', message: error ?? '' } } as const);
  await deps.journal.advance(leased, { finish, also: [deps.db.update('dreams', ['agent_id', 'number'], [set]), changed(deps, row, status)] });
};

/** Before the agent was asked there is no run yet: the work itself is ended. */
const stopDream = async (deps: DreamDeps, actor: Actor, row: DreamRow): Promise<boolean> => {
  if (row.run_id === null) return false;
  return (await deps.runs.stop(actor, { runId: row.run_id }, STOPPED)) > 0;
};
