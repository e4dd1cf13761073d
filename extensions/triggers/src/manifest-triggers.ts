/**
 * Triggers of an agent's manifest: `[[triggers]]` and `schedule.proactive` of agent.toml.
 *
 * M1  They are made, changed and deleted with the manifest; what was counted of one that stays the same stays.
 * M2  A pattern, agent or workflow that there is not is refused when the manifest is written.
 * M3  Triggers that the manifest does not list are kept, named in the log, or deleted, as `reconcile_orphans` says.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Actors, type Db, type Draft, isSvcError, type Logger, type OpenCollection, type OptionalHandle, type Schemas, type Verdict } from '@svc/api';
import { type Agent, type AgentManifest, type AgentsService, type AgentTrigger, WRONG_MANIFEST } from '@svc/ext-agents/contract';
import type { WorkflowsService } from '@svc/ext-workflows/contract';
import { ManifestRows, type ManifestRow, type Trigger, type Triggers } from './contract.js';
import { triggerErrors } from './errors.js';
import { hookOf, Pattern } from './pattern.js';

type Fields = typeof Triggers.spec.fields;

export interface ManifestTriggerDeps {
  readonly actors: Actors;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly db: Db;
  readonly log: Logger;
  readonly schemas: Pick<Schemas, 'check'>;
  readonly triggers: OpenCollection<Fields>;
  readonly workflows: OptionalHandle<WorkflowsService>;
}

export interface ManifestTriggers {
  /** Why the manifest cannot be kept; undefined where it can. */
  verdict(actor: Actor, manifest: AgentManifest): Promise<Verdict | undefined> | undefined;
  /** The agent was created or changed. */
  reconcile(ownerId: string, agentId: string): Promise<void>;
}

const MOST = 1_000;
const ABOUT_EVENTS = 'This happened: {{event}}\nDo what your instructions say for it. If there is nothing to do, say so in one sentence.';

export const createManifestTriggers = (deps: ManifestTriggerDeps): ManifestTriggers => ({
  verdict: (actor, manifest) => (manifest.triggers === undefined || manifest.triggers.length === 0 ? undefined : firstWrong(deps, actor, manifest)),
  reconcile: async (ownerId, agentId) => {
    const owner = deps.actors.of(ownerId);
    const agent = await deps.agents.find(owner, agentId);
    // Gone meanwhile, and its triggers with it.
    if (agent) await reconciled(deps, owner, agent);
  },
});

const firstWrong = async (deps: ManifestTriggerDeps, actor: Actor, manifest: AgentManifest): Promise<Verdict | undefined> => {
  for (const [place, trigger] of (manifest.triggers ?? []).entries()) {
    const why = await wrongOf(deps, actor, manifest, trigger);
    if (why !== undefined) return { deny: `triggers.${place}.${why}`, code: WRONG_MANIFEST };
  }
  return undefined;
};

const wrongOf = async ({ schemas, agents, workflows }: ManifestTriggerDeps, actor: Actor, { name }: AgentManifest, trigger: AgentTrigger): Promise<string | undefined> => {
  const checked = await schemas.check(Pattern, trigger.pattern, 'pattern');
  if (!checked.ok) return `pattern: ${checked.message}`;
  if (hookOf(trigger.pattern as Pattern)) return 'pattern: a webhook needs a secret, which no manifest holds; create it with `svc triggers create`'; // as checked
  const { target_agent: target, workflow_id: workflow } = trigger;
  if (target !== undefined && target !== name && !(await agents.find(actor, target))) return `target_agent: ${triggerErrors.no_agent(target).message}`;
  if (workflow === undefined) return undefined;
  if (!workflows.value) return `workflow_id: ${triggerErrors.no_workflows().message}`;
  return (await workflows.value.find(actor, workflow)) ? undefined : `workflow_id: ${triggerErrors.no_workflow(workflow).message}`;
};

const reconciled = async (deps: ManifestTriggerDeps, owner: Actor, agent: Agent): Promise<void> => {
  const { db, triggers } = deps;
  const wanted = await wantedBy(deps, owner, agent);
  const rows = await db.as(owner).select<ManifestRow>({ from: ManifestRows.name, where: { agent_id: agent.id }, limit: MOST });
  const isPlain = agent.manifest.reconcile_orphans === undefined && rows.length === 0 && wanted.size === 0;
  if (isPlain) return;
  const standing = (await triggers.list(owner, { limit: MOST, agent_id: agent.id })).rows;
  for (const { id, trigger_id: triggerId } of rows) {
    const isThere = standing.some((one: Trigger) => one.id === triggerId);
    if (isThere && wanted.has(id)) wanted.delete(id);
    else if (isThere) await triggers.remove(owner, triggerId);
    else await db.commit([db.remove(ManifestRows.name, { id }, { expect: 'any' })]);
  }
  for (const [id, draft] of wanted) await made(deps, owner, agent, id, draft);
  const ofManifest = new Set(rows.map(({ trigger_id: one }) => one));
  await orphaned(
    deps,
    owner,
    agent,
    standing.filter((one: Trigger) => !ofManifest.has(one.id)),
  );
};

/** Once, whichever daemon is the first. */
const made = async ({ db, triggers, log }: ManifestTriggerDeps, owner: Actor, agent: Agent, id: string, draft: Draft<Fields>): Promise<void> => {
  try {
    await triggers.create(owner, draft, (item) => [db.insert(ManifestRows.name, [{ id, owner_id: agent.ownerId, agent_id: agent.id, trigger_id: item.id }])]);
  } catch (error) {
    if (!isSvcError(error) || error.status >= 500) throw error;
    if (error.code !== 'storage_conflict') log.warn('A trigger of a manifest could not be made.', { agent: agent.id, why: error.message });
  }
};

const orphaned = async ({ triggers, log }: ManifestTriggerDeps, owner: Actor, agent: Agent, orphans: readonly Trigger[]): Promise<void> => {
  const mode = agent.manifest.reconcile_orphans;
  if (orphans.length === 0 || mode === undefined || mode === 'keep') return;
  const ids = orphans.map(({ id }) => id);
  if (mode === 'warn') return log.warn('An agent has triggers that its manifest does not list.', { agent: agent.id, triggers: ids });
  for (const id of ids) await triggers.remove(owner, id);
};

/** By what each says: one that is changed is another one. */
const wantedBy = async ({ agents }: ManifestTriggerDeps, owner: Actor, agent: Agent): Promise<Map<string, Draft<Fields>>> => {
  const wanted = new Map<string, Draft<Fields>>();
  const { triggers = [], schedule } = agent.manifest;
  const proactive = schedule === undefined || typeof schedule === 'string' ? [] : (schedule.proactive?.conditions ?? []);
  const all: readonly AgentTrigger[] = [...triggers, ...proactive.map((condition) => ({ pattern: patternOf(condition), prompt_template: ABOUT_EVENTS }))];
  for (const entry of all) {
    const { target_agent: target, pattern, ...rest } = entry;
    const targetId = target === undefined ? undefined : (await agents.find(owner, target))?.id;
    const said = JSON.stringify(entry);
    const ordinal = all.slice(0, all.indexOf(entry)).filter((other) => JSON.stringify(other) === said).length;
    const id = createHash('sha256').update(`${agent.id}\n${said}\n${ordinal}`).digest('hex');
    wanted.set(id, { ...rest, agent_id: agent.id, pattern: pattern as Pattern, ...(targetId === undefined ? {} : { target_agent_id: targetId }) }); // checked when it was written
  }
  return wanted;
};

const patternOf = (condition: string): Pattern => {
  const [kind = '', ...rest] = condition.split(':');
  const value = rest.join(':');
  if (kind === 'memory') return { memory_key_pattern: { key_pattern: value } };
  if (kind === 'content') return { content_match: { substring: value } };
  return value === 'agent_spawned' ? { agent_spawned: { name_pattern: '*' } } : ((value === '' ? 'all' : value) as Pattern); // the pattern of the key lets no other word pass
};
