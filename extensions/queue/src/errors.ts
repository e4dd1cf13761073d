import { defineErrors } from '@svc/api';

export const taskErrors = defineErrors('task', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no task ${id}.`, hint: 'List them with GET /api/tasks/list. Ended tasks are stored for thirty days.' },
  ended: { status: 409, retry: false, message: (id: string, status: string) => `Task ${id} has already ended (${status}).`, hint: 'Only pending tasks and tasks in progress can be cancelled.' },
  not_ended: { status: 409, retry: false, message: (id: string, status: string) => `Task ${id} is ${status.replace('_', ' ')}.`, hint: 'Only tasks that ended can be retried.' },
  changed: { status: 409, retry: true, message: (id: string) => `Task ${id} changed in the meantime.`, hint: 'Read it again and repeat the call.' },
  no_agent: {
    status: 404,
    retry: false,
    message: (name: string) => `There is no agent "${name.slice(0, 100)}".`,
    hint: 'Assign the task to one of your agents by id or name, or leave assigned_to out.',
  },
  board_full: { status: 429, retry: true, message: (limit: number) => `The task board has ${limit} open tasks.`, hint: 'Complete or cancel some first.' },
  not_yours: {
    status: 409,
    retry: false,
    message: (id: string, status: string) => `Task ${id} is ${status.replace('_', ' ')}, and you do not hold its claim.`,
    hint: 'Claim it first: task_claim.',
  },
});
