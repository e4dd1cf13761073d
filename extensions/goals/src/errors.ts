import { defineErrors } from '@svc/api';

export const goalErrors = defineErrors('goals', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no goal ${id}.`, hint: 'GET /api/goals lists yours.' },
  parent_not_found: { status: 404, retry: false, message: (id: string) => `The parent goal ${id} does not exist.`, hint: 'GET /api/goals lists yours; null makes it a top-level goal.' },
  parent_of_another: { status: 400, retry: false, message: () => 'A goal and the goal above it belong to the same person.', hint: 'Choose a goal of the same owner.' },
  no_agent: { status: 400, retry: false, message: () => 'No agent works on this goal.', hint: 'Set agent_id of the goal to one of your agents.' },
  cycle: { status: 400, retry: false, message: (id: string) => `The goal ${id} would be its own subgoal.`, hint: 'Choose a parent that is not below this goal.' },
  too_deep: { status: 400, retry: false, message: (limit: number) => `Goals are nested at most ${limit} levels deep.`, hint: 'Choose a parent further up.' },
});
