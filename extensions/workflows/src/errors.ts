import { defineErrors } from '@svc/api';

export const workflowErrors = defineErrors('workflows', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no workflow ${id.slice(0, 100)}.`, hint: 'GET /api/workflows and `svc workflows list` show yours.' },
  run_not_found: { status: 404, retry: false, message: (id: string) => `There is no run ${id.slice(0, 100)} of a workflow.`, hint: '`svc workflows runs ID` lists those of a workflow.' },
  bad_step: {
    status: 400,
    retry: false,
    message: (step: string, why: string) => `The step "${step.slice(0, 100)}" cannot be used: ${why}.`,
    hint: 'Correct the step; the documentation of createWorkflow lists the fields of each mode.',
  },
  no_steps: { status: 400, retry: false, message: () => 'The workflow has no steps.', hint: 'Give at least one step with `agent` and `input`.' },
  twice: { status: 400, retry: false, message: (name: string) => `Two steps are called "${name.slice(0, 100)}".`, hint: 'A name is the variable of its step, so each step has one of its own.' },
  unknown_step: {
    status: 400,
    retry: false,
    message: (step: string, name: string) => `The step "${step.slice(0, 100)}" refers to "${name.slice(0, 100)}", which is no step it can refer to.`,
    hint: 'Name a step of this workflow; a branch leads forward only.',
  },
  cycle: { status: 400, retry: false, message: (name: string) => `The step "${name.slice(0, 100)}" waits for itself.`, hint: 'Remove one of the depends_on in the circle.' },
  two_values: {
    status: 400,
    retry: false,
    message: (step: string, names: string) => `The step "${step.slice(0, 100)}" has different values in ${names}.`,
    hint: 'They are names for one field: send one of them.',
  },
  agent_not_found: { status: 404, retry: false, message: (name: string) => `There is no agent "${name.slice(0, 100)}".`, hint: 'Name one of your agents by id or name.' },
  failed: { status: 500, retry: true, message: (step: string, why: string) => `The step "${step}" failed: ${why}`, hint: '`svc workflows show-run ID` shows each step.' },
  step_without_agent: { status: 404, retry: false, message: (step: string, why: string) => `The step "${step}" failed: ${why}`, hint: 'Name an agent that exists in the step, and run it again.' },
  step_over_limit: { status: 429, retry: true, message: (step: string, why: string) => `The step "${step}" failed: ${why}`, hint: 'Raise the limit, or run it again later.' },
  run_cancelled: { status: 409, retry: false, message: (why: string) => `The run was cancelled: ${why}`, hint: 'Start it again with /rerun.' },
  over: { status: 409, retry: false, message: (state: string) => `The run is ${state} already.`, hint: 'Start it again with /rerun.' },
  not_paused: { status: 409, retry: false, message: () => 'The run is not paused.', hint: 'Only a paused run can be resumed.' },
  paused: { status: 409, retry: false, message: () => 'The run is paused already.', hint: 'Resume it with its resume_token.' },
  wrong_token: {
    status: 401,
    retry: false,
    message: () => 'The resume_token is not the one of this pause.',
    hint: 'Use the token that /pause answered. Whoever may cancel the run can start it again with /rerun.',
  },
  no_question: { status: 409, retry: false, message: () => 'The run waits for no person.', hint: 'GET /api/workflows/operator/pending lists those that do.' },
  bad_action: { status: 400, retry: false, message: (action: string, allowed: string) => `The step does not take the action ${action}; it takes ${allowed}.`, hint: 'Choose one of these actions.' },
  changed: { status: 409, retry: true, message: (id: string) => `The workflow ${id} was changed at the same time.`, hint: 'Read it again and repeat the change.' },
});
