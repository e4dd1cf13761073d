/** What goals answer beside the routes of every collection. */
import { type ActionsOf, type CollectionRows, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { DEFAULT_ITERATIONS, type Goal, Goals, MAX_CHILDREN, shownRun } from './contract.js';
import type { Runner } from './runner.js';
import shipped from './templates.json' with { type: 'json' };

const route = routeGroup({ area: 'goals' });

const Template = Type.Object(
  {
    id: Type.String(),
    name: Type.String(),
    icon: Type.String({ description: 'Name of a Lucide icon' }),
    description: Type.String(),
    goals: Type.Array(Type.Object({ title: Type.String(), description: Type.String(), status: Goals.spec.fields.properties.status })),
  },
  { 'x-name': 'GoalTemplate' },
);

export const listGoalTemplates: RouteDecl = route({
  id: 'listGoalTemplates',
  method: 'GET',
  path: '/api/goals/templates',
  summary: 'List goal templates',
  description: 'Sets of goals to begin with. Create the goals of one with `POST /api/goals`.',
  responses: { 200: Type.Object({ templates: Type.Array(Template) }) },
  handler: async () => reply(200, { templates: shipped.map((one) => ({ ...one, goals: one.goals.map((goal) => ({ ...goal, status: 'pending' as const })) })) }),
});

export const goalActions = (goals: () => CollectionRows<typeof Goals.spec.fields>, runner: () => Runner): ActionsOf<typeof Goals.spec.actions, Goal> => ({
  start: async ({ actor, item, body }) => ({ ok: true, run: shownRun(await runner().start(actor, item, body.max_iterations ?? DEFAULT_ITERATIONS)) }),
  run: async ({ actor, item }) => {
    const row = await runner().latest(actor, item.id);
    return { running: row?.phase === 'running', ...(row ? { run: shownRun(row) } : {}) };
  },
  stop: async ({ actor, item }) => ({ ok: true, stopped: await runner().stop(actor, item.id, 'a person stopped it') }),
  children: async ({ actor, item }) => {
    const { rows, total } = await goals().list(actor, { parent_id: item.id, order: 'asc', limit: MAX_CHILDREN });
    return { children: rows, total };
  },
});
