import { defineErrors } from '@svc/api';

export const triggerErrors = defineErrors('triggers', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no trigger ${id.slice(0, 100)}.`, hint: 'GET /api/triggers and `svc triggers list` show yours.' },
  no_agent: { status: 404, retry: false, message: (name: string) => `There is no agent "${name.slice(0, 100)}".`, hint: 'Name one of your agents by its id.' },
  no_workflow: { status: 404, retry: false, message: (name: string) => `There is no workflow "${name.slice(0, 100)}".`, hint: 'Name one of your workflows by id or name.' },
  no_workflows: { status: 400, retry: false, message: () => 'No installed extension runs workflows.', hint: 'Switch the extension workflows on: `svc ext enable workflows`.' },
  fixed_agent: { status: 400, retry: false, message: () => 'A trigger stays with its agent.', hint: 'Create a new trigger and delete this one, or set target_agent_id.' },
  no_secret: { status: 400, retry: false, message: () => 'A trigger that waits for a webhook needs a secret.', hint: 'Set `secret` to what its sender signs with, 16 characters or more.' },
  bad_signature: {
    status: 401,
    retry: false,
    message: (why: string) => `The call is refused: ${why}.`,
    hint: 'Sign the exact bytes of the body with the secret of the trigger, in the scheme that it names.',
  },
  too_many: { status: 400, retry: false, message: (limit: number) => `An agent may have ${limit} triggers.`, hint: 'Delete one first.' },
  fire_failed: { status: 500, retry: false, message: (why: string) => `The fire failed: ${why}`, hint: '`svc triggers history ID` shows each fire with its reason.' },
});
