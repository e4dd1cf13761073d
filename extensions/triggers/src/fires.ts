/**
 * Fires: an agent is asked, or a workflow starts.
 *
 * F1  A fire asks its agent once: the run has the fire's id as its key, also after a crash.
 * F2  A fire holds nothing while its run works or waits for a person.
 * F3  The message is no slash command, and text of others in it has their label.
 */
import { type Actor, type Actors, type Clock, type Db, type DurableWorker, isSvcError, type Journal, type LeasedRun, type Logger, type OptionalHandle, type Origin, uuidOfDigest } from '@svc/api';
import { createHash } from 'node:crypto';
import type { Agent, AgentsService } from '@svc/ext-agents/contract';
import { type RunEnds, type RunsService, wakeAsleep } from '@svc/ext-runs/contract';
import type { SessionsService } from '@svc/ext-sessions/contract';
import type { WorkflowsService } from '@svc/ext-workflows/contract';
import { type FireRow, type Trigger, TriggerFire } from './contract.js';
import { triggerErrors } from './errors.js';

export interface FireDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly log: Logger;
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly runs: Pick<RunsService, 'submit' | 'get'>;
  readonly sessions: Pick<SessionsService, 'create'>;
  readonly workflows: OptionalHandle<WorkflowsService>;
  readonly ends: RunEnds;
  readonly closing: AbortSignal;
  trigger(ownerId: string, id: string): Promise<Trigger | undefined>;
}

export interface Fires {
  /** Drives a fire that was stored; without its lease somebody here looks for it. */
  begin(leased: LeasedRun | undefined): void;
  /** Looks at those that wait: what ended while the daemon was off woke nobody. */
  look(): Promise<void>;
}

const AT_ONCE = 8;
const CHECK_MS = 60_000;
const WORKFLOW_CHECK_MS = 5_000;
const MAX_REASON = 500;
const MAX_PROMPT = 100_000;

export const createFires = (deps: FireDeps): Fires => {
  const worker: DurableWorker = deps.journal.worker(TriggerFire, { concurrency: AT_ONCE, drive: (run) => drive(deps, run) });
  return {
    begin: (leased) => (leased ? void worker.take(leased) : worker.poke()),
    look: () => wakeAsleep(deps.journal, deps.actors, TriggerFire.name, wakeKey),
  };
};

const wakeKey = (runId: string): string => `trigger-fire:${runId}`;

async function drive(deps: FireDeps, run: LeasedRun): Promise<void> {
  const { fireId, triggerId } = run.input as { readonly fireId: string; readonly triggerId: string }; // what the engine stored
  const fire = await deps.db.system('a fire').first<FireRow>({ from: 'fires', where: { id: fireId } });
  const trigger = fire && (await deps.trigger(fire.owner_id, triggerId));
  // Deleted meanwhile, with its agent or by a person.
  if (!fire || !trigger) return deps.journal.advance(run, { finish: { status: 'cancelled' } });
  try {
    await (trigger.workflow_id === null ? ask(deps, run, trigger, fire) : start(deps, run, trigger, fire, trigger.workflow_id));
  } catch (cause) {
    if (deps.closing.aborted || !isSvcError(cause)) throw cause;
    deps.log.warn('A trigger failed.', { trigger: trigger.id, fire: fire.id, cause });
    await settle(deps, run, fire, 'error', cause.message);
  }
}

const promptOf = ({ prompt_template: template }: Trigger, { text, prompt }: FireRow): string => (prompt ?? template.split('{{event}}').join(text)).slice(0, MAX_PROMPT);

const ask = async (deps: FireDeps, run: LeasedRun, trigger: Trigger, fire: FireRow): Promise<void> => {
  const owner = deps.actors.of(fire.owner_id);
  const target = trigger.target_agent_id ?? trigger.agent_id;
  const agent = await deps.agents.find(owner, target);
  if (!agent) throw triggerErrors.no_agent(target);
  if (fire.run_id === null && agent.state === 'Suspended') return settle(deps, run, fire, 'skipped', `suspended: ${agent.name} takes no messages`);
  const runId = fire.run_id ?? (await submit(deps, run, trigger, fire, agent, owner));
  if (await ended(deps, run, fire, owner, runId)) return;
  deps.ends.watch(runId, () => deps.journal.wake(owner, wakeKey(run.id), {}));
  await rest(deps, run, CHECK_MS);
  // It may have ended before anybody could be woken.
  if (isOver((await deps.runs.get(owner, runId)).status)) await deps.journal.wake(owner, wakeKey(run.id), {});
};

const isOver = (status: string): boolean => status === 'done' || status === 'failed' || status === 'cancelled';

const ended = async (deps: FireDeps, run: LeasedRun, fire: FireRow, owner: Actor, runId: string): Promise<boolean> => {
  const { status, error } = await deps.runs.get(owner, runId);
  if (!isOver(status)) return false;
  await settle(deps, run, fire, status === 'done' ? 'ok' : 'error', status === 'done' ? null : (error?.message ?? `the run was ${status}`));
  return true;
};

const rest = ({ journal, clock }: FireDeps, run: LeasedRun, ms: number): Promise<void> =>
  journal.wait(run, { reason: 'run', wakeKey: wakeKey(run.id), until: new Date(clock.now() + ms).toISOString() });

const submit = async (deps: FireDeps, run: LeasedRun, trigger: Trigger, fire: FireRow, agent: Agent, owner: Actor): Promise<string> => {
  const isNew = (trigger.session_mode ?? agent.manifest.session_mode) === 'new';
  const sessionId = await conversationOf(deps, owner, agent, isNew ? fire.id : idOf(`trigger|${agent.id}`));
  const { runId } = await deps.runs.submit(owner, {
    agentId: agent.id,
    sessionId,
    parts: [{ type: 'text', text: promptOf(trigger, fire) }],
    door: 'internal',
    key: `trigger:${fire.id}`,
    parentRunId: run.id,
    cause: { kind: 'trigger', id: trigger.id },
    ...originOf(fire),
  });
  await deps.db.commit([deps.db.update('fires', ['id'], [{ id: fire.id, run_id: runId }])]);
  return runId;
};

const originOf = ({ origin }: FireRow): { readonly origin?: Origin } => (origin === null ? {} : { origin: typeof origin === 'string' ? JSON.parse(origin) : origin }); // what the engine stored

const idOf = (about: string): string => {
  const hex = createHash('sha256').update(about).digest('hex');
  return uuidOfDigest(hex);
};

/** Apart from people's. */
const conversationOf = async ({ db, sessions }: FireDeps, owner: Actor, agent: Agent, id: string): Promise<string> => {
  const { writes } = await sessions.create(owner, agent.id, { id, label: 'trigger' });
  await db.commit(writes).catch((error: unknown) => {
    if (!(isSvcError(error) && error.code === 'storage_conflict')) throw error;
  });
  return id;
};

const start = async (deps: FireDeps, run: LeasedRun, trigger: Trigger, fire: FireRow, workflow: string): Promise<void> => {
  const owner = deps.actors.of(fire.owner_id);
  const workflows = deps.workflows.value;
  if (!workflows) throw triggerErrors.no_workflows();
  const origin = originOf(fire);
  const { runId, state, error } = await workflows.start(owner, { workflow, input: promptOf(trigger, fire), key: `trigger:${fire.id}`, parentRunId: run.id, ...origin });
  if (fire.run_id !== runId) await deps.db.commit([deps.db.update('fires', ['id'], [{ id: fire.id, run_id: runId }])]);
  if (state === 'completed') return settle(deps, run, fire, 'ok', null);
  if (state === 'failed' || state === 'cancelled') return settle(deps, run, fire, 'error', error ?? `the workflow was ${state}`);
  return rest(deps, run, WORKFLOW_CHECK_MS);
};

const settle = ({ journal, db, clock }: FireDeps, run: LeasedRun, fire: FireRow, status: 'ok' | 'error' | 'skipped', why: string | null): Promise<void> => {
  const reason = why === null ? null : why.slice(0, MAX_REASON);
  return journal.advance(run, {
    finish: status === 'error' ? { status: 'failed', error: { code: triggerErrors.fire_failed('').code, message: reason ?? '' } } : { status: 'done' },
    also: [db.update('fires', ['id'], [{ id: fire.id, status, reason, ended_at: clock.iso() }])],
  });
};
