/**
 * What must hold of goals beyond their fields.
 *
 * G1  Goals form a tree: no goal stands below itself, also when two changes are made at once.
 * G2  A goal belongs to the owner of the goal above it, and goes with that goal.
 */
import type { AgentsService } from '@svc/ext-agents/contract';
import type { ChangeOf, CollectionRules, ExtensionContext, Ruled, Write } from '@svc/api';
import { type Goal, GoalRunRows, Goals } from './contract.js';
import { goalErrors } from './errors.js';

const MAX_DEPTH = 32;
const MAX_BELOW = 10_000;

type Fields = typeof Goals.spec.fields;
type Change = ChangeOf<Fields>;

export interface RuleDeps {
  readonly ctx: Pick<ExtensionContext, 'db' | 'events'>;
  readonly agents: Pick<AgentsService, 'get'>;
}

export const goalRules = (deps: RuleDeps): CollectionRules<Fields> => ({
  check: async (change, rows) => {
    const { item } = change;
    const goal = { ...item, title: item.title.trim(), parent_id: item.parent_id || null, agent_id: item.agent_id || null };
    const [parent] = await goalsAbove(rows, { ...change, item: goal });
    if (goal.agent_id !== null && goal.agent_id !== change.before?.agent_id) await deps.agents.get(change.actor, goal.agent_id);
    return change.before || !parent ? goal : { ...goal, owner_id: parent.owner_id };
  },
  // Whoever moves one of these meanwhile makes this commit fail, and it is checked again.
  also: async (change, rows) => (await goalsAbove(rows, change)).map((goal) => rows.unchanged(goal)),
  alsoDeleted: async ({ item }) => {
    const below = await goalsBelow(deps, item.id);
    const parents = [item.id, ...below.map(({ id }) => id)];
    return [
      removed(deps, parents),
      deps.ctx.db.remove(GoalRunRows.name, { goal_id: parents }, { expect: 'any' }),
      ...below.map(({ id, owner_id: ownerId }) => deps.ctx.events.event(Goals.changed, { id, ownerId, change: 'deleted' })),
    ];
  },
});

/** By their parents, so that one that was made a moment ago goes too. */
const removed = ({ ctx }: RuleDeps, parents: readonly string[]): Write => ctx.db.remove(Goals.table.name, { parent_id: parents });

/** From its parent up. Throws where there is none, where it is somebody else's, or where the goal itself is among them. */
const goalsAbove = async (rows: Ruled<Fields>, { actor, item, before }: Change): Promise<Goal[]> => {
  const above: Goal[] = [];
  for (let id = item.parent_id; id; id = above.at(-1)?.parent_id ?? null) {
    if (id === item.id) throw goalErrors.cycle(item.id);
    if (above.length >= MAX_DEPTH) throw goalErrors.too_deep(MAX_DEPTH);
    const goal = await rows.find(actor, id);
    if (!goal) throw goalErrors.parent_not_found(id);
    if (before && goal.owner_id !== item.owner_id) throw goalErrors.parent_of_another();
    above.push(goal);
  }
  return above;
};

const goalsBelow = async ({ ctx }: RuleDeps, id: string): Promise<Array<Pick<Goal, 'id' | 'owner_id'>>> => {
  const found: Array<Pick<Goal, 'id' | 'owner_id'>> = [];
  for (let parents = [id]; parents.length > 0 && found.length < MAX_BELOW; ) {
    const children = await ctx.db
      .system('goals below one that is deleted')
      .select<Pick<Goal, 'id' | 'owner_id'>>({ from: Goals.table.name, columns: ['id', 'owner_id'], where: { parent_id: parents } });
    found.push(...children);
    parents = children.map((child) => child.id);
  }
  return found;
};
