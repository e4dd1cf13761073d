/**
 * Long processes of agents.
 *
 * L1  A process is a row before it begins. A call that a restart makes again finds what it started, and starts nothing twice.
 * L2  An agent has at most five at a time, and sees its own alone. They end with it, with its suspension, with what it was granted, and with this area.
 * L3  What the daemon's death left is ended, and is `lost` to whoever asks: never silence.
 * L4  Output is kept up to a bound; what was dropped is counted and said.
 */
import {
  type Actors,
  type Capabilities,
  type Clock,
  type ExtensionContext,
  type Ids,
  isSvcError,
  type Journal,
  type JournalRun,
  type LeasedRun,
  type Logger,
  type ToolCall,
  type Write,
} from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import { type ReachOf, startOf, variablesOf } from '../builtin/command-start.js';
import type { Workspaces } from '../builtin/workspace.js';
import { callDigest } from '../call-digest.js';
import { ProcessWork } from '../contract.js';
import { toolErrors } from '../errors.js';
import { createLiveProcess, endOf, type LiveProcess, readOutput } from './live-process.js';
import type { ProcessEnd, ProcessRow, ProcessStore } from './process-rows.js';

export const MAX_OF_AGENT = 5;
/** Of those that have ended: their output can still be read. Of all agents together. */
const KEPT_ENDED = 32;
/** No process of an agent runs longer. */
const TTL_MS = 24 * 60 * 60 * 1000;
/** How long a call that is made again waits until it is known what became of the first. */
const SETTLE_MS = 5_000;
const POLL_MS = 100;

export interface ProcessDeps {
  readonly store: ProcessStore;
  readonly journal: Pick<Journal, 'open' | 'advance' | 'byKey' | 'worker'>;
  readonly agents: Pick<AgentsService, 'get'>;
  readonly workspaces: Workspaces;
  readonly spawn: ExtensionContext['spawn'];
  readonly reachOf: ReachOf;
  readonly endSurvivors: ExtensionContext['endSurvivors'];
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly log: Logger;
  readonly actors: Actors;
}

export type Found = { readonly live: LiveProcess } | { readonly row: ProcessRow };

export interface Processes {
  /** The process, or what became of the one that this call started before. */
  start(call: ToolCall, command: string): Promise<Found>;
  /** Throws `tools_no_process`. */
  find(call: ToolCall, id: string): Promise<Found>;
  list(call: ToolCall): Promise<ReadonlyArray<{ readonly row: ProcessRow; readonly isHere: boolean }>>;
  /** Ends all of an agent, or of an owner, and resolves when they are gone. */
  endAll(of: { readonly agentId?: string | undefined; readonly ownerId?: string | undefined }, why: string): Promise<void>;
  /** The agent was changed: what it may not have any more ends. */
  review(agentId: string): Promise<void>;
  /** Resolves when all are gone and written down. */
  gone(): Promise<void>;
}

interface State extends ProcessDeps {
  /** Those that are about to begin as well: they have no child yet. */
  readonly running: Map<string, LiveProcess>;
  readonly ended: Map<string, LiveProcess>;
}

export const createProcesses = (deps: ProcessDeps): Processes => {
  const state: State = { ...deps, running: new Map(), ended: new Map() };
  // Those of this generation are never claimed: whatever comes here has lost its daemon.
  deps.journal.worker(ProcessWork, { concurrency: 8, drive: (run) => giveUp(state, run) });
  const isOf = (live: LiveProcess, agentId: string | undefined, ownerId: string | undefined): boolean =>
    (agentId !== undefined && live.agentId === agentId) || (ownerId !== undefined && live.ownerId === ownerId);
  return {
    start: (call, command) => start(state, call, command),
    find: (call, id) => find(state, call, id),
    list: async (call) => (await state.store.list(call.actor, call.agentId)).map((row) => ({ row, isHere: state.running.has(row.id) })),
    endAll: async ({ agentId, ownerId }, why) => {
      const all = [...state.running.values()].filter((live) => isOf(live, agentId, ownerId));
      for (const live of all) live.stop(why);
      await Promise.all(all.map(({ done }) => done));
      for (const live of state.ended.values()) if (isOf(live, agentId, ownerId)) state.ended.delete(live.id);
    },
    review: (agentId) => review(state, agentId),
    gone: async () => void (await Promise.all([...state.running.values()].map(({ done }) => done))),
  };
};

const start = async (state: State, call: ToolCall, command: string): Promise<Found> => {
  if (call.agentId === '') throw toolErrors.needs_agent('process_start');
  // Small servers number their calls anew in each run.
  const key = `call:${call.runId}:${call.callId}`;
  const earlier = await state.journal.byKey(call.actor, ProcessWork.name, key);
  if (earlier) return became(state, call, earlier, command);
  // No turn passes between this look and the place that the new one takes.
  const ofAgent = [...state.running.values()].filter((live) => live.agentId === call.agentId).length;
  if (ofAgent >= MAX_OF_AGENT) throw toolErrors.too_many_processes(MAX_OF_AGENT);
  return startNew(state, call, command, key);
};

const startNew = async (state: State, call: ToolCall, command: string, key: string): Promise<Found> => {
  const { actor, agentId, callId, capabilities } = call;
  const [program, args, options] = startOf('process_start', command, capabilities);
  const id = state.ids.uuid();
  const live = createLiveProcess({ id, agentId, ownerId: actor.ownerId, command, grants: capabilities, startedMs: state.clock.mono() });
  // Seen from here on by whoever ends the agent: it is asked afterwards whether it still may.
  state.running.set(id, live);
  try {
    if ((await state.agents.get(actor, agentId)).state === 'Suspended') throw toolErrors.not_offered('process_start', 'the agent is suspended');
    const dir = await state.workspaces.made(call);
    const row = { id, owner_id: actor.ownerId, agent_id: agentId, command, started_at: state.clock.iso() };
    const request = { id, kind: ProcessWork.name, actor, key, fingerprint: callDigest('process_start', command), subject: agentId, input: { agentId, callId } };
    const opened = await state.journal.open(request, [state.store.insert(row), ...(await state.store.trim(actor, agentId))]);
    if (opened.replayed) return await became(state, call, opened.run, command);
    if (!opened.leased) throw toolErrors.cancelled('process_start');
    const agent = await state.reachOf(call, command);
    const spawned = await beginChild(state, live, opened.leased, () =>
      state.spawn(program, args, { ...options, ...variablesOf(capabilities), ...limitsOf(capabilities), cwd: dir.path, signal: live.signal, ownerKey: callId, agent }),
    );
    // Nobody would learn of it.
    if (call.signal.aborted) spawned.stop('its call was cancelled');
    return { live: spawned };
  } finally {
    if (!live.child) {
      state.running.delete(id);
      live.settled();
    }
  }
};

const limitsOf = ({ exec }: Capabilities): { timeoutMs: number; idleTimeoutMs?: number } => ({
  timeoutMs: Math.min(TTL_MS, exec?.timeout_secs ? exec.timeout_secs * 1000 : TTL_MS),
  ...(exec?.no_output_timeout_secs ? { idleTimeoutMs: exec.no_output_timeout_secs * 1000 } : {}),
});

const beginChild = async (state: State, live: LiveProcess, run: LeasedRun, spawn: () => ReturnType<ExtensionContext['spawn']>): Promise<LiveProcess> => {
  try {
    live.child = await spawn();
  } catch (error) {
    const message = isSvcError(error) ? error.message : 'it could not be started';
    await writeDown(state, run, { status: 'failed', error: { code: 'tools_process_not_started', message } }, state.store.remove(live.id));
    throw error;
  }
  // The lease was lost: somebody else calls the process lost already.
  run.signal.addEventListener('abort', () => live.stop('the daemon lost hold of it'), { once: true });
  void watch(state, live, run, live.child);
  return live;
};

const watch = async (state: State, live: LiveProcess, run: LeasedRun, child: NonNullable<LiveProcess['child']>): Promise<void> => {
  const reading = readOutput(live, child, state.clock).catch((cause: unknown) => state.log.warn('the output of a process could not be read to its end', { process: live.id, cause }));
  const ended = await child.exit;
  await reading;
  live.end = endOf(ended, live.why());
  live.endedMs = state.clock.mono();
  await writeDown(state, run, { status: 'done', result: {} }, state.store.end(live.id, live.end, state.clock.iso()));
  state.running.delete(live.id);
  state.ended.set(live.id, live);
  for (const id of state.ended.keys()) {
    if (state.ended.size <= KEPT_ENDED) break;
    state.ended.delete(id);
  }
  live.news();
  live.settled();
};

/** What cannot be written down is found by the next life of the daemon, as lost. */
const writeDown = async (state: State, run: LeasedRun, finish: NonNullable<Parameters<Journal['advance']>[1]['finish']>, also: Write): Promise<void> => {
  await state.journal.advance(run, { finish, also: [also] }).catch((cause: unknown) => state.log.error('the end of a process could not be written down', { process: run.id, cause }));
};

/** A run that was claimed: the daemon that held it is gone. */
const giveUp = async (state: State, run: LeasedRun): Promise<void> => {
  const { callId } = run.input as { callId: string }; // as ProcessWork declares it
  await state.endSurvivors(callId);
  const end: ProcessEnd = { state: 'lost', exitCode: null, note: 'the daemon stopped while it ran' };
  await state.journal.advance(run, {
    finish: { status: 'failed', error: { code: 'tools_process_lost', message: 'The daemon stopped while the process ran.' } },
    also: [state.store.end(run.id, end, state.clock.iso())],
  });
  state.log.warn('a process of an agent was lost with an earlier life of the daemon', { process: run.id, agent: run.subject });
};

/** What a call had started before. It may take a moment until it is known. */
const became = async (state: State, call: ToolCall, run: JournalRun, command: string): Promise<Found> => {
  if (run.fingerprint !== callDigest('process_start', command)) throw toolErrors.no_process(run.id);
  const untilMs = state.clock.mono() + SETTLE_MS;
  for (;;) {
    const live = state.running.get(run.id) ?? state.ended.get(run.id);
    if (live?.child) return { live };
    const row = await state.store.get(call.actor, call.agentId, run.id);
    if (row && (row.state !== 'running' || state.clock.mono() >= untilMs)) return { row };
    if (!row && !live) throw toolErrors.process_not_started(run.error?.message ?? 'it was ended before it began');
    await state.clock.sleep(POLL_MS, call.signal);
  }
};

const find = async (state: State, call: ToolCall, id: string): Promise<Found> => {
  const live = state.running.get(id) ?? state.ended.get(id);
  if (live?.child && live.agentId === call.agentId && live.ownerId === call.actor.ownerId) return { live };
  const row = call.agentId === '' ? undefined : await state.store.get(call.actor, call.agentId, id);
  if (!row) throw toolErrors.no_process(id);
  return { row };
};

const review = async (state: State, agentId: string): Promise<void> => {
  const all = [...state.running.values()].filter((live) => live.agentId === agentId);
  if (all.length === 0) return;
  const agent = await state.agents.get(state.actors.system('processes'), agentId).catch((error: unknown) => {
    if (isSvcError(error) && error.code === 'agent_not_found') return undefined;
    throw error;
  });
  for (const live of all) {
    if (!agent || agent.state === 'Terminated') live.stop('the agent was killed');
    else if (agent.state === 'Suspended') live.stop('the agent was suspended');
    else if (isNarrowed(live.grants, agent.manifest.capabilities)) live.stop('the grant that it was started with was removed');
  }
};

const MODES = ['deny', 'allowlist', 'full'];

type Started = Pick<Capabilities, 'shell' | 'exec'> & Partial<Pick<Capabilities, 'network' | 'mounts'>>;

/** Whether something is missing now of what a process was started under. */
export const isNarrowed = (before: Started, now: Started): boolean => {
  const mode = ({ exec }: Started): number => MODES.indexOf(exec?.mode ?? 'full');
  const isLess = (had: readonly string[] = [], has: readonly string[] = []): boolean => had.some((one) => !has.includes(one));
  return isLess(before.shell, now.shell) || isLess(before.network, now.network) || isLess(before.mounts, now.mounts) || mode(now) < mode(before);
};
