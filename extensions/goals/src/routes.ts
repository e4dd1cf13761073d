/** What goals answer beside the routes of every collection. */
import { type OpenCollection, reply, type RouteDecl, routeGroup, Type } from '@svc/api';
import { Goals } from './contract.js';
import shipped from './templates.json' with { type: 'json' };

const route = routeGroup({ area: 'goals' });
const MAX_CHILDREN = 500;

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

export const goalRoutes = (goals: OpenCollection<typeof Goals.spec.fields>): RouteDecl[] => [
  route({
    id: 'listGoalTemplates',
    method: 'GET',
    path: '/api/goals/templates',
    summary: 'List goal templates',
    description: 'Sets of goals to begin with. Create the goals of one with `POST /api/goals`.',
    responses: { 200: Type.Object({ templates: Type.Array(Template) }) },
    handler: async () => reply(200, { templates: shipped.map((one) => ({ ...one, goals: one.goals.map((goal) => ({ ...goal, status: 'pending' as const })) })) }),
  }),
  goals.itemRoute(
    {
      id: 'listGoalChildren',
      method: 'GET',
      path: '/children',
      summary: 'List the goals directly below a goal',
      description: `Oldest first, ${MAX_CHILDREN} at most.`,
      responses: { 200: Type.Object({ children: Type.Array(Goals.item), total: Type.Integer() }) },
    },
    async (goal, { actor }) => {
      const { rows, total } = await goals.list(actor, { parent_id: goal.id, order: 'asc', limit: MAX_CHILDREN });
      return reply(200, { children: rows, total });
    },
  ),
];
