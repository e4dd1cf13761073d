/**
 * Snapshots of the working folders of agents, and the way back.
 *
 * P1  A snapshot is taken before a tool changes files. A failure is a warning in the log, never a failure of the call; the next call tries again.
 * P2  Only the workspace of an agent that the caller may see is listed, compared or restored.
 * P3  A repository that can't be read is moved aside and named, and a new one begins.
 * P4  A call whose changes cannot be undone says so in its result.
 */
import { ABSOLUTE_PATH, type Actor, type CheckpointTake, type Clock, COMMIT_ID, isSvcError, type Logger, type Plain, type Static, type SvcError, type TapControl } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import type { CheckpointsSection } from './config.js';
import { checkpointErrors } from './errors.js';
import { messageOf } from './message.js';
import type { Repositories } from './repositories.js';
import { CompactRepository, CompareFiles, type Failed, FollowChanges, ListSnapshots, RestoreFiles, TakeSnapshot } from './workers/operations.js';

/** Loose objects from which on a repository is packed: each fills a block of the disk. */
const COMPACT_AT_OBJECTS = 2_000;
const MIB = 1024 * 1024;

export type Taking = Plain<(typeof CheckpointTake)['subject']>;

export interface CheckpointsDeps {
  readonly repositories: Repositories;
  readonly agents: Pick<AgentsService, 'get'>;
  /** Absolute path of the folder that all workspaces lie in. */
  readonly workspaces: string;
  readonly settings: () => Static<(typeof CheckpointsSection)['schema']>;
  readonly log: Logger;
  readonly clock: Pick<Clock, 'mono'>;
  changed(agentId: string, ownerId: string, restored: boolean): void;
}

export interface Restored {
  readonly folder: string;
  readonly result: Exclude<Plain<(typeof RestoreFiles)['output']>, Failed>;
}

export interface Checkpoints {
  /** Around a tool call. Never rejects. */
  take(taking: Taking, control: Pick<TapControl, 'signal'>): Promise<void>;
  /** Why what this call changed cannot be undone, once; undefined where it can. */
  noteOn(callId: string): string | undefined;
  list(actor: Actor, agentId: string, page: { limit: number; offset: number }): Promise<{ readonly folder: string } & Exclude<Plain<(typeof ListSnapshots)['output']>, Failed>>;
  compare(actor: Actor, agentId: string, commit: string): Promise<{ folder: string; result: Exclude<Plain<(typeof CompareFiles)['output']>, Failed> }>;
  restore(actor: Actor, workingDir: string, commit: string): Promise<Restored>;
  /** What the daemon holds of an agent that goes. */
  forget(agentId: string): Promise<void>;
}

/** Holds in memory only which folders it has seen: after a restart each is looked through once. */
export const createCheckpoints = (deps: CheckpointsDeps): Checkpoints => {
  const seen: Seen = new Map();
  const unsaved = createUnsaved();
  const folderOf = (agentId: string): string => `${deps.workspaces}/${agentId}`;
  const folderFor = async (actor: Actor, agentId: string): Promise<string> => folderOf((await deps.agents.get(actor, agentId)).id);
  return {
    take: async (taking, control) => {
      if (!deps.settings().enabled) return;
      if (taking.moment === 'before') await takeBefore(deps, seen, unsaved, taking, control.signal);
      // What the call wrote is noted while the model reads its result; the next operation of the repository waits for it.
      else void followAfter(deps, seen, taking);
    },
    noteOn: (callId) => unsaved.take(callId),
    list: async (actor, agentId, page) => {
      const folder = await folderFor(actor, agentId);
      return { folder, ...unlessFailed(await deps.repositories.run(ListSnapshots, folder, { op: 'list', ...page }), folder, '') };
    },
    compare: async (actor, agentId, asked) => {
      const folder = await folderFor(actor, agentId);
      const commit = commitOf(asked);
      return { folder, result: unlessFailed(await deps.repositories.run(CompareFiles, folder, { op: 'compare', commit }), folder, commit) };
    },
    restore: async (actor, workingDir, asked) => {
      const agent = await agentAt(deps, actor, workingDir);
      const folder = folderOf(agent.id);
      const commit = commitOf(asked);
      const message = messageOf({ tool: 'restore', agentId: agent.id, sessionId: '', runId: '', callId: '', paths: null });
      const result = unlessFailed(await deps.repositories.run(RestoreFiles, folder, { op: 'restore', commit, message }), folder, commit);
      deps.log.info('files were restored', { folder, commit: result.commit, restored: result.restored.length, skipped: result.skipped.length, agent: agent.id });
      deps.changed(agent.id, agent.ownerId, true);
      return { folder, result };
    },
    forget: async (agentId) => {
      seen.delete(folderOf(agentId));
      await deps.repositories.remove(folderOf(agentId));
    },
  };
};

/** Bytes of each repository, as far as this process knows. */
type Seen = Map<string, number>;

interface Unsaved {
  note(callId: string, why: string): void;
  take(callId: string): string | undefined;
}

const MAX_UNSAVED = 1_000;

const createUnsaved = (): Unsaved => {
  const calls = new Map<string, string>();
  return {
    note: (callId, why) => {
      calls.set(callId, why);
      const [oldest] = calls.keys();
      if (calls.size > MAX_UNSAVED && oldest !== undefined) calls.delete(oldest);
    },
    take: (callId) => {
      const why = calls.get(callId);
      calls.delete(callId);
      return why;
    },
  };
};

const takeBefore = async (deps: CheckpointsDeps, seen: Seen, unsaved: Unsaved, { folder, paths, tool, call }: Taking, signal: AbortSignal): Promise<void> => {
  const { repositories, log, settings } = deps;
  const { scope, max_mb: maxMb } = settings();
  const about = { folder, tool, agent: call.agentId, run: call.runId };
  try {
    const input = { op: 'take' as const, paths: [...(paths ?? [])], command: paths === null ? call.callId : null, scope, message: messageOf({ ...call, tool, paths }), is_first: !seen.has(folder) };
    const taken = await repositories.run(TakeSnapshot, folder, input, signal);
    if ('failed' in taken) {
      unsaved.note(call.callId, taken.detail);
      log.warn('a snapshot was not taken; the tool call goes on', { ...about, error: taken.detail });
      return;
    }
    const bytes = (seen.get(folder) ?? 0) + taken.bytes;
    seen.set(folder, bytes);
    if (taken.moved_aside !== null) log.warn('the snapshot repository could not be read; it was moved aside and a new one was started', { ...about, repository: taken.moved_aside });
    for (const { path, why } of taken.left_out) log.debug('a file is not in the snapshot', { ...about, path, why });
    if (!taken.is_followed) unsaved.note(call.callId, 'the working folder has too many files, or their names are too long');
    if (!taken.is_followed) log.warn('the working folder has too many files; what commands change in it is not followed', about);
    if (taken.objects >= COMPACT_AT_OBJECTS || bytes > maxMb * MIB) void compact(deps, seen, folder, maxMb);
    deps.changed(call.agentId, call.actor.ownerId, false);
  } catch (error) {
    unsaved.note(call.callId, textOf(error));
    log.warn('a snapshot was not taken; the tool call goes on', { ...about, error: textOf(error) });
  }
};

const followAfter = async ({ repositories, log }: CheckpointsDeps, seen: Seen, { folder, paths, tool, call }: Taking): Promise<void> => {
  try {
    const followed = await repositories.run(FollowChanges, folder, { op: 'follow', paths: [...(paths ?? [])], command: paths === null ? call.callId : null, tool });
    if ('failed' in followed) return;
    const known = seen.get(folder);
    if (known !== undefined) seen.set(folder, known + followed.bytes);
    if (followed.left_out > 0) log.warn('a call changed more than a snapshot takes', { folder, tool, run: call.runId, left_out: followed.left_out });
  } catch (error) {
    log.warn('what a tool changed could not be noted for the next snapshot', { folder, tool, run: call.runId, error: textOf(error) });
  }
};

const compact = async ({ repositories, log, clock }: CheckpointsDeps, seen: Seen, folder: string, maxMb: number): Promise<void> => {
  const began = clock.mono();
  try {
    const { bytes, snapshots, dropped } = unlessFailed(await repositories.run(CompactRepository, folder, { op: 'compact', max_bytes: maxMb * MIB }), folder, '');
    seen.set(folder, bytes);
    log.info('a snapshot repository was compacted', { folder, bytes, snapshots, dropped, ms: Math.round(clock.mono() - began) });
  } catch (error) {
    log.warn('a snapshot repository could not be compacted', { folder, error: textOf(error) });
  }
};

const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return isSvcError(error) && error.cause instanceof Error ? `${error.message} ${error.cause.message}` : error.message;
};

const commitOf = (asked: string): string => {
  if (!COMMIT_ID.fits(asked)) throw checkpointErrors.bad_commit(asked.slice(0, 60));
  return asked.toLowerCase();
};

/** Throws `checkpoints_root_refused`, or what agents say of one that the caller may not see. */
const agentAt = async ({ agents, workspaces }: CheckpointsDeps, actor: Actor, workingDir: string): Promise<Agent> => {
  if (!ABSOLUTE_PATH.fits(workingDir)) throw checkpointErrors.relative_folder(workingDir.slice(0, 200));
  const folder = workingDir.replace(/\/+$/, '');
  const name = folder.startsWith(`${workspaces}/`) ? folder.slice(workspaces.length + 1) : '';
  if (!/^[0-9a-f-]{36}$/.test(name)) throw checkpointErrors.root_refused(workingDir.slice(0, 200));
  return agents.get(actor, name);
};

const unlessFailed = <T extends object>(answer: T | Failed, folder: string, commit: string): Exclude<T, Failed> => {
  if (!('failed' in answer)) return answer as Exclude<T, Failed>;
  throw errorOf(answer, folder, commit);
};

const errorOf = ({ failed, detail }: Failed, folder: string, commit: string): SvcError => {
  switch (failed) {
    case 'no_repository':
      return checkpointErrors.none(folder);
    case 'unknown_commit':
      return checkpointErrors.not_found(commit);
    case 'ambiguous_commit':
      return checkpointErrors.ambiguous(commit);
    case 'bad_root':
      return checkpointErrors.bad_root(detail);
    case 'broken':
      return checkpointErrors.broken(folder);
  }
};
