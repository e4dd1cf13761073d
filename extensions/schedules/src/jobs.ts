/**
 * The rules of jobs.
 *
 * J1  A job belongs to one person, and acts with that person's rights. Nobody else sees or changes it.
 * J2  An agent or workflow that a job names exists when the job is written; with its agent the job goes.
 * J3  What svc cannot do is refused by name when the job is written, never dropped.
 * J4  What an agent wrote into a job is an agent's words when it fires, with all that it had read; what a person writes in their place is a person's.
 */
import { type Actor, type Clock, type Db, type Events, type Found, type HookHandle, type Ids, isSvcError, type ListDecl, type ListQuery, type Origin, readList, type Write } from '@svc/api';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import {
  type Action,
  type Delivery,
  JobChanged,
  type JobOriginRow,
  type JobRow,
  MAX_TARGETS,
  type MISSED,
  type OVERLAP,
  type Plan,
  type SESSION_MODES,
  type StartWorkflow,
  type Target,
} from './contract.js';
import { scheduleErrors } from './errors.js';
import type { Planner } from './plan.js';
import { checkTarget, type TargetDeps } from './targets.js';

export interface JobDeps extends TargetDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly ids: Pick<Ids, 'uuid'>;
  readonly agents: Pick<AgentsService, 'find' | 'get'>;
  readonly workflows: HookHandle<typeof StartWorkflow>;
  readonly planner: Planner;
  limits(): { readonly all: number; readonly perAgent: number };
}

/** What a person sets; undefined leaves the value as it is. */
export interface JobDraft {
  /** Of one that is made anew in the same place. */
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly agent?: string | undefined;
  readonly enabled?: boolean | undefined;
  readonly plan?: Plan | undefined;
  readonly action?: Action | undefined;
  readonly delivery?: Delivery | undefined;
  readonly targets?: ReadonlyArray<Target> | undefined;
  /** The delivery is the chat of the conversation in which this was asked for: nobody has to be allowed to write there. */
  readonly isOwnChat?: boolean | undefined;
  /** Of the words, where an agent wrote them. */
  readonly origin?: Origin | undefined;
  readonly missed?: (typeof MISSED)[number] | undefined;
  readonly overlap?: (typeof OVERLAP)[number] | undefined;
  readonly maxLateSecs?: number | undefined;
  readonly sessionMode?: (typeof SESSION_MODES)[number] | undefined;
  readonly peerId?: string | null | undefined;
}

export interface Job extends Omit<JobRow, 'schedule' | 'action' | 'delivery' | 'delivery_targets' | 'enabled' | 'auto_disabled'> {
  readonly schedule: Plan;
  readonly action: Action;
  readonly delivery: Delivery;
  readonly delivery_targets: ReadonlyArray<Target>;
  readonly enabled: boolean;
  readonly auto_disabled: boolean;
}

export interface Jobs {
  create(actor: Actor, draft: JobDraft): Promise<Job>;
  get(actor: Actor, id: string): Promise<Job>;
  find(actor: Actor, id: string): Promise<Job | undefined>;
  /** A page of the jobs that the actor may see. Rejects as `readList` does. */
  list(actor: Actor, list: ListDecl, query: ListQuery & { readonly agent_id?: string | undefined }): Promise<Found<Job>>;
  /** Newest first. */
  ofAgent(actor: Actor, agentId: string, limit: number): Promise<readonly Job[]>;
  update(actor: Actor, id: string, draft: JobDraft): Promise<Job>;
  remove(actor: Actor, id: string): Promise<void>;
}

const DAY_SECS = 86_400;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a name is one line of visible text.
const CONTROL = /[\u0000-\u001f\u007f]/;
const MAX_NAME = 128;

const parse = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : value);

/** JSON columns are text in a row, and flags are 0 or 1. What is there was written by `toRow`. */
export const jobOf = (row: JobRow): Job => ({
  ...row,
  schedule: parse(row.schedule) as Plan,
  action: parse(row.action) as Action,
  delivery: parse(row.delivery) as Delivery,
  delivery_targets: parse(row.delivery_targets) as Job['delivery_targets'],
  enabled: Boolean(row.enabled),
  auto_disabled: Boolean(row.auto_disabled),
});

export const rowOf = (job: Job): Record<string, string | number | null> => ({
  ...job,
  schedule: JSON.stringify(job.schedule),
  action: JSON.stringify(job.action),
  delivery: JSON.stringify(job.delivery),
  delivery_targets: JSON.stringify(job.delivery_targets),
  enabled: Number(job.enabled),
  auto_disabled: Number(job.auto_disabled),
});

export const createJobs = (deps: JobDeps): Jobs => {
  const { db, events, clock } = deps;
  const changed = ({ id, owner_id: ownerId }: Job, change: 'created' | 'updated' | 'deleted') => events.event(JobChanged, { id, ownerId, change });
  const find = async (actor: Actor, id: string): Promise<Job | undefined> => {
    const row = await db.as(actor).first<JobRow>({ from: 'jobs', where: { id: id.toLowerCase() } });
    return row && jobOf(row);
  };
  const get = async (actor: Actor, id: string): Promise<Job> => {
    const job = await find(actor, id);
    if (!job) throw scheduleErrors.job_not_found(id);
    return job;
  };
  return {
    get,
    find,
    create: async (actor, draft) => {
      const agent = draft.agent === undefined ? undefined : await agentOf(deps, actor, draft.agent);
      const now = clock.iso();
      const plain = completed(deps, draft, agent, agent?.ownerId ?? actor.ownerId, now);
      const job = await checked(deps, actor, plain, { isOwnChat: draft.isOwnChat });
      await refuseTooMany(deps, job);
      await db.commit([db.insert('jobs', [rowOf(job)]), ...originRow(db, job, draft), changed(job, 'created')]);
      return job;
    },
    list: async (actor, list, query) => {
      const found = await readList<JobRow>(db.as(actor), list, query, { from: 'jobs', where: query.agent_id === undefined ? {} : { agent_id: query.agent_id } });
      return { ...found, rows: found.rows.map(jobOf) };
    },
    ofAgent: async (actor, agentId, limit) =>
      (await db.as(actor).page<JobRow>({ from: 'jobs', where: { agent_id: agentId }, order: [{ column: 'created_at', descending: true }], limit })).rows.map(jobOf),
    update: async (actor, id, draft) => {
      const before = await get(actor, id);
      const agent = draft.agent === undefined ? undefined : await agentOf(deps, actor, draft.agent);
      if (agent && agent.ownerId !== before.owner_id) throw scheduleErrors.agent_not_found(draft.agent ?? '');
      const next = await checked(deps, actor, changedBy(before, draft, agent, clock.iso()), { before });
      // Counters of fires may move meanwhile; what a person sets may not.
      const { id: _id, revision: _revision, fire_count: _count, last_run: _last, last_status: _status, ...set } = rowOf(next);
      await db
        .commit([
          db.update('jobs', ['id', 'revision'], [{ ...set, id: before.id, revision: before.revision }], { expect: 'each' }),
          db.sql(`UPDATE ${db.table('jobs')} SET revision = revision + 1 WHERE id = ?`, [before.id]),
          ...(draft.action === undefined ? [] : [withoutOrigin(db, before), ...originRow(db, next, draft)]),
          ...(agent === undefined ? [] : [db.sql(`UPDATE ${db.table('job_origins')} SET agent_id = ? WHERE job_id = ?`, [agent.id, before.id])]),
          changed(next, 'updated'),
        ])
        .catch((error: unknown) => {
          throw isSvcError(error) && error.code === 'storage_conflict' ? scheduleErrors.changed(id) : error;
        });
      return get(actor, id);
    },
    remove: async (actor, id) => {
      const job = await get(actor, id);
      await db.commit([
        db.remove('jobs', { id: job.id }, { expect: 'any' }),
        withoutOrigin(db, job),
        db.remove('fires', { job_id: job.id }, { expect: 'any' }),
        db.remove('fire_deliveries', { job_id: job.id }, { expect: 'any' }),
        changed(job, 'deleted'),
      ]);
    },
  };
};

const originRow = (db: Db, { id, owner_id, agent_id }: Job, { origin }: JobDraft): Write[] =>
  origin === undefined ? [] : [db.insert('job_origins', [{ job_id: id, owner_id, agent_id, origin: JSON.stringify(origin) }])];

const withoutOrigin = (db: Db, { id }: Job): Write => db.remove('job_origins', { job_id: id }, { expect: 'any' });

/** Undefined for words of a person. */
export const originOfJob = async (db: Db, { id }: Job): Promise<Origin | undefined> => {
  const row = await db.system('whose words a job has').first<JobOriginRow>({ from: 'job_origins', where: { job_id: id } });
  return row && (parse(row.origin) as Origin); // what `originRow` stored
};

const completed = ({ ids }: JobDeps, draft: JobDraft, agent: Agent | undefined, ownerId: string, now: string): Job => {
  const action = draft.action;
  if (!action) throw scheduleErrors.no_words();
  if (!draft.plan) throw scheduleErrors.bad_plan('there is none.');
  return {
    id: draft.id ?? ids.uuid(),
    owner_id: ownerId,
    agent_id: agent?.id ?? null,
    name: draft.name?.trim() ?? defaultName(action, agent),
    enabled: draft.enabled ?? true,
    schedule: draft.plan,
    action,
    delivery: draft.delivery ?? { kind: 'none' },
    delivery_targets: draft.targets ?? [],
    missed: draft.missed ?? 'once',
    overlap: draft.overlap ?? 'skip',
    max_late_secs: draft.maxLateSecs ?? DAY_SECS,
    session_mode: draft.sessionMode ?? 'persistent',
    peer_id: draft.peerId ?? null,
    revision: 1,
    next_run: null,
    last_run: null,
    last_status: null,
    consecutive_errors: 0,
    auto_disabled: false,
    fire_count: 0,
    created_at: now,
    updated_at: now,
  };
};

const NAME_CHARS = 40;
const defaultName = (action: Action, agent: Agent | undefined): string => {
  const about = action.kind === 'agent_turn' ? action.message : action.kind === 'workflow' ? action.workflow_id : action.text;
  return `${agent ? `${agent.name}: ` : ''}${about.replaceAll(/\s+/g, ' ').trim().slice(0, NAME_CHARS)}`;
};

const changedBy = (before: Job, draft: JobDraft, agent: Agent | undefined, now: string): Job => {
  const enabled = draft.enabled ?? before.enabled;
  return {
    ...before,
    agent_id: agent?.id ?? before.agent_id,
    name: draft.name?.trim() ?? before.name,
    enabled,
    schedule: draft.plan ?? before.schedule,
    action: draft.action ?? before.action,
    delivery: draft.delivery ?? before.delivery,
    delivery_targets: draft.targets ?? before.delivery_targets,
    missed: draft.missed ?? before.missed,
    overlap: draft.overlap ?? before.overlap,
    max_late_secs: draft.maxLateSecs ?? before.max_late_secs,
    // Whoever enables a job again begins anew.
    ...(draft.enabled === true ? { consecutive_errors: 0, auto_disabled: false } : {}),
    updated_at: now,
  };
};

const agentOf = async ({ agents }: JobDeps, actor: Actor, idOrName: string): Promise<Agent> => {
  const found = await agents.find(actor, idOrName);
  if (!found) throw scheduleErrors.agent_not_found(idOrName);
  return found;
};

/** Throws for what cannot fire; with its next time. */
const checked = async (deps: JobDeps, actor: Actor, job: Job, { before, isOwnChat = false }: { readonly before?: Job; readonly isOwnChat?: boolean | undefined }): Promise<Job> => {
  if (job.name === '' || job.name.length > MAX_NAME || CONTROL.test(job.name)) throw scheduleErrors.bad_name();
  const { action } = job;
  if (action.kind === 'agent_turn' && job.agent_id === null) throw scheduleErrors.no_target();
  if (action.kind === 'workflow' && JSON.stringify(action) !== JSON.stringify(before?.action)) await knownWorkflow(deps, actor, job.id, action.workflow_id);
  if (job.delivery_targets.length > MAX_TARGETS) throw scheduleErrors.unsupported(`More than ${MAX_TARGETS} delivery targets`, 'each is called after every fire.');
  await checkTargets(deps, actor, isOwnChat ? { ...job, delivery: { kind: 'none' } } : job, before);
  const now = deps.clock.now();
  const isSame = before !== undefined && JSON.stringify(before.schedule) === JSON.stringify(job.schedule);
  const schedule = isSame ? job.schedule : await deps.planner.check(job.schedule, now);
  if (!job.enabled) return { ...job, schedule, next_run: null };
  const keeps = isSame && before.enabled && before.next_run !== null;
  // A date that was enabled again after it had fired is due no more.
  if (!keeps && schedule.kind === 'at') await deps.planner.check(schedule, now);
  return { ...job, schedule, next_run: keeps ? before.next_run : await deps.planner.next(schedule, now) };
};

/** What stood there before was allowed when it was written. */
const checkTargets = async (deps: JobDeps, actor: Actor, job: Job, before: Job | undefined): Promise<void> => {
  const known = new Set(before?.agent_id === job.agent_id ? [before.delivery, ...before.delivery_targets].map((one) => JSON.stringify(one)) : []);
  const fresh = [job.delivery, ...job.delivery_targets].filter((target) => target.kind === 'webhook' || !known.has(JSON.stringify(target)));
  if (fresh.every(({ kind }) => kind === 'none')) return;
  const agent = job.agent_id === null ? undefined : await deps.agents.find(actor, job.agent_id);
  for (const target of fresh) await checkTarget(deps, actor, agent, target);
};

const knownWorkflow = async ({ workflows }: JobDeps, actor: Actor, jobId: string, workflow: string): Promise<void> => {
  if (workflows.isEmpty()) throw scheduleErrors.no_workflows();
  if ((await workflows.call({ actor, workflow, input: '', jobId })) === undefined) throw scheduleErrors.workflow_not_found(workflow);
};

const refuseTooMany = async ({ db, limits }: JobDeps, { agent_id: agentId }: Job): Promise<void> => {
  const { all, perAgent } = limits();
  const reader = db.system('limits of jobs');
  if ((await reader.count('jobs')) >= all) throw scheduleErrors.too_many(all, 'in all');
  if (agentId !== null && (await reader.count('jobs', { agent_id: agentId })) >= perAgent) throw scheduleErrors.too_many(perAgent, 'of one agent');
};
