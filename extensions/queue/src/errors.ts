import { defineErrors } from '@svc/api';

export const taskErrors = defineErrors('task', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no task ${id}.`, hint: 'List them with GET /api/tasks/list. Ended tasks are stored for thirty days.' },
  ended: { status: 409, retry: false, message: (id: string, status: string) => `Task ${id} has already ended (${status}).`, hint: 'Only pending tasks and tasks in progress can be cancelled.' },
});
