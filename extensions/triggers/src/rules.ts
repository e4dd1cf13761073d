/** What a trigger may be. */
import type { Actor, ChangeOf, Db, OptionalHandle, Write } from '@svc/api';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { WorkflowsService } from '@svc/ext-workflows/contract';
import type { CounterRow, Triggers } from './contract.js';
import { triggerErrors } from './errors.js';
import { hookOf, shortened } from './pattern.js';

export interface RuleDeps {
  readonly db: Db;
  readonly agents: Pick<AgentsService, 'find'>;
  readonly workflows: OptionalHandle<WorkflowsService>;
  maxPerAgent(): number;
  /** The secret of a trigger is about to be another one. */
  changingSecret(item: { readonly id: string; readonly owner_id: string }, next: string | null): Promise<void>;
}

type Fields = typeof Triggers.spec.fields;

export const triggerRules = (deps: RuleDeps) => ({
  check: async ({ actor, item, before }: ChangeOf<Fields>) => {
    if (before && before.agent_id !== item.agent_id) throw triggerErrors.fixed_agent();
    const ownerId = before ? item.owner_id : await ownerOfAgent(deps, actor, item.agent_id);
    if (hookOf(item.pattern) && !(item as { readonly has_secret?: boolean }).has_secret) throw triggerErrors.no_secret();
    if (!before) await refuseMany(deps, item.agent_id);
    if (item.target_agent_id !== null && item.target_agent_id !== before?.target_agent_id && (await ownerOfAgent(deps, actor, item.target_agent_id)) !== ownerId)
      throw triggerErrors.no_agent(item.target_agent_id);
    if (item.workflow_id !== null && item.workflow_id !== before?.workflow_id) await knownWorkflow(deps, actor, item.workflow_id);
    if (before && item.secret !== undefined) await deps.changingSecret(before, item.secret);
    return { ...item, owner_id: ownerId, agent_id: item.agent_id.toLowerCase(), pattern: shortened(item.pattern) };
  },
  also: ({ item, before }: ChangeOf<Fields>): Write[] => {
    if (!before) return [deps.db.insert('counters', [{ trigger_id: item.id, owner_id: item.owner_id, agent_id: item.agent_id, fire_count: 0, last_fired_at: null }])];
    return JSON.stringify(before.pattern) === JSON.stringify(item.pattern) ? [] : [deps.db.remove('cooldowns', { trigger_id: item.id }, { expect: 'any' })];
  },
  alsoDeleted: ({ item }: ChangeOf<Fields>): Write[] => [
    ...['counters', 'cooldowns', 'fires', 'manifest_triggers'].map((table) => deps.db.remove(table, { trigger_id: item.id }, { expect: 'any' })),
    deps.db.remove('secret_rotations', { id: item.id }, { expect: 'any' }),
  ],
});

/** By id, with what was counted of each. */
export const countersOf = async ({ db }: Pick<RuleDeps, 'db'>, ids: readonly string[]): Promise<ReadonlyMap<string, CounterRow>> => {
  if (ids.length === 0) return new Map();
  const rows = await db.system('fires of triggers').select<CounterRow>({ from: 'counters', where: { trigger_id: ids }, limit: ids.length });
  return new Map(rows.map((row) => [row.trigger_id, row]));
};

const ownerOfAgent = async ({ agents }: RuleDeps, actor: Actor, id: string): Promise<string> => {
  const agent = await agents.find(actor, id);
  if (!agent) throw triggerErrors.no_agent(id);
  return agent.ownerId;
};

const refuseMany = async ({ db, maxPerAgent }: RuleDeps, agentId: string): Promise<void> => {
  const most = maxPerAgent();
  if ((await db.system('limit of triggers').count('triggers', { agent_id: agentId })) >= most) throw triggerErrors.too_many(most);
};

const knownWorkflow = async ({ workflows }: RuleDeps, actor: Actor, workflow: string): Promise<void> => {
  if (!workflows.value) throw triggerErrors.no_workflows();
  if (!(await workflows.value.find(actor, workflow))) throw triggerErrors.no_workflow(workflow);
};
