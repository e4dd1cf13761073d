import { defineErrors } from '@svc/api';

export const scheduleErrors = defineErrors('schedules', {
  job_not_found: { status: 404, retry: false, message: (id: string) => `There is no job ${id.slice(0, 100)}.`, hint: 'GET /api/cron/jobs and `svc cron list` show yours.' },
  agent_not_found: { status: 404, retry: false, message: (name: string) => `There is no agent "${name.slice(0, 100)}".`, hint: 'Name one of your agents by id or name.' },
  workflow_not_found: { status: 404, retry: false, message: (name: string) => `There is no workflow "${name.slice(0, 100)}".`, hint: 'Name one of your workflows by id or name.' },
  no_workflows: { status: 400, retry: false, message: () => 'No installed extension runs workflows.', hint: 'Switch the extension workflows on: `svc ext enable workflows`.' },
  no_target: { status: 400, retry: false, message: () => 'The job names neither an agent nor a workflow.', hint: 'Set agent_id, or workflow_id.' },
  two_targets: { status: 400, retry: false, message: () => 'The job names both an agent and a workflow.', hint: 'Set one of agent_id and workflow_id.' },
  no_words: { status: 400, retry: false, message: () => 'The job has no message for its agent.', hint: 'Set `prompt`, or `action` with a message.' },
  two_values: { status: 400, retry: false, message: (one: string, other: string) => `${one} and ${other} have different values.`, hint: 'Send one of them.' },
  bad_plan: {
    status: 400,
    retry: false,
    message: (why: string) => `The schedule cannot be used: ${why}`,
    hint: 'Use five cron fields such as `0 9 * * 1-5`, `{"kind": "every", "every_secs": 1800}`, or `{"kind": "at", "at": "2027-01-31T09:00:00Z"}`.',
  },
  bad_name: { status: 400, retry: false, message: () => 'The name is empty or longer than 128 characters, or has a control character.', hint: 'Use letters, digits, spaces, hyphens and underscores.' },
  fixed: { status: 400, retry: false, message: (field: string) => `${field} cannot be changed.`, hint: 'Create a new job and delete this one.' },
  unsupported: { status: 400, retry: false, message: (what: string, why: string) => `${what} is not supported: ${why}`, hint: 'Leave it out.' },
  unsafe_url: {
    status: 400,
    retry: false,
    message: (why: string) => `The webhook address is refused: ${why}`,
    hint: 'Use a public http or https address, or add its host to [web.fetch] ssrf_allowed_hosts.',
  },
  bad_target: {
    status: 400,
    retry: false,
    message: (said: string) => `"${said.slice(0, 100)}" is no place that an answer could be sent to.`,
    hint: 'Use none, last_channel, an https address, email:ADDRESS, or NAME:CHAT such as telegram:123456789.',
  },
  no_channels: {
    status: 400,
    retry: false,
    message: (to: string) => `"${to.slice(0, 100)}" needs the extension channels, which is off.`,
    hint: 'Switch it on with `svc ext enable channels`, or send answers to a webhook.',
  },
  channel_denied: {
    status: 403,
    retry: false,
    message: (name: string) => `You may not have answers sent to the channel ${name.slice(0, 100)}.`,
    hint: 'Ask an owner or admin, use an agent whose manifest grants `channels_send` for it, or deliver to `last_channel`.',
  },
  too_many: { status: 400, retry: false, message: (limit: number, whose: string) => `There may be ${limit} jobs ${whose}.`, hint: 'Delete one first. `max_cron_jobs` sets the limit for all.' },
  changed: { status: 409, retry: true, message: (id: string) => `The job ${id} was changed at the same time.`, hint: 'Read it again and repeat the change.' },
  fire_failed: { status: 500, retry: true, message: (why: string) => `The job ran and failed: ${why}`, hint: '`svc cron fires ID` shows each fire with its reason.' },
});
