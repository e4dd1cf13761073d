/** What an agent may do with its goals. */
import { type AnyTool, type CollectionRows, defineTool, OneOf, Type } from '@svc/api';
import { GOAL_STATES, type Goals } from './contract.js';
import { goalErrors } from './errors.js';

export const goalUpdate = (goals: CollectionRows<typeof Goals.spec.fields>): AnyTool =>
  defineTool({
    name: 'goal_update',
    description: `Reports the progress of one of your goals: status (${GOAL_STATES.join(', ')}) and progress in percent.`,
    params: Type.Object({ goal_id: Type.String({ format: 'uuid' }), status: Type.Optional(OneOf(GOAL_STATES)), progress: Type.Optional(Type.Integer({ minimum: 0, maximum: 100 })) }),
    risk: 'write',
    openWorld: false,
    replay: 'safe',
    parallel: false,
    run: async ({ goal_id: id, ...change }, { actor, agentId }) => {
      const goal = await goals.get(actor, id);
      if (goal.agent_id !== agentId) throw goalErrors.not_found(id);
      const { title, status: state, progress: percent } = await goals.update(actor, id, change);
      return `${title}: ${state}, ${percent} %`;
    },
  });
