import { defineErrors } from '@svc/api';

export const dreamErrors = defineErrors('auto_dream', {
  agent_not_found: { status: 404, retry: false, message: (id: string) => `There is no agent ${id.slice(0, 80)}.`, hint: 'GET /api/auto-dream/status lists yours.' },
});
