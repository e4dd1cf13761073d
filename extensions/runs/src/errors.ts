import { defineErrors } from '@svc/api';

export const runErrors = defineErrors('run', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no run ${id}.` },
  invalid_time: {
    status: 400,
    retry: false,
    message: (value: string) => `"${value.slice(0, 40)}" is not a valid time.`,
    hint: 'Send a day such as 2026-01-31, or a time such as 2026-01-31T10:00:00Z.',
  },
  empty_message: { status: 400, retry: false, message: () => 'The message is empty.', hint: 'Send {"message": "…"} with some text.' },
  message_too_large: {
    status: 413,
    retry: false,
    message: (chars: number, limit: number) => `The message has ${chars} characters; at most ${limit} are taken.`,
    hint: 'Put long texts into a file of the agent and refer to it.',
  },
  too_many: { status: 503, retry: true, message: (limit: number) => `${limit} runs are in flight, which is the limit.`, hint: 'Try again in a moment, or raise [runs] max_active.' },
  refused: { status: 403, retry: false, message: (reason: string) => reason },
  iteration_limit: {
    status: 500,
    retry: false,
    message: (limit: number) => `The run made ${limit} model calls without reaching an answer.`,
    hint: 'Ask for a smaller step, or raise max_iterations of the agent.',
  },
  loop_guard_break: { status: 500, retry: false, message: (reason: string) => `The run was ended: ${reason}` },
  stopped: { status: 409, retry: false, message: () => 'The run was stopped.' },
  unwatched: {
    status: 499,
    retry: true,
    message: () => 'The run was cancelled because its last watcher disconnected.',
    hint: 'Send the message again. To let such runs continue, set unwatched = "finish" under [runs], or under [autonomous] of the agent.',
  },
  superseded: { status: 409, retry: false, message: () => 'A new message replaced a queued run.' },
  too_deep: { status: 400, retry: false, message: (depth: number) => `Agents may call each other ${depth} deep at most.` },
  circular_wait: {
    status: 409,
    retry: false,
    message: (chain: string) => `This call would deadlock: each agent would wait for the next in ${chain}.`,
    hint: 'Answer with what you know, or let the other agent call you.',
  },
  agent_suspended: {
    status: 409,
    retry: false,
    message: (name: string) => `The agent ${name} is suspended and takes no messages.`,
    hint: 'Resume it with PUT /api/agents/{id}/resume. Agents with enabled = false in their manifest start suspended.',
  },
  cannot_think: {
    status: 400,
    retry: false,
    message: (model: string) => `${model} does not support thinking.`,
    hint: 'Leave thinking out, or choose a model that supports it: /models lists them.',
  },
  attachments_unsupported: {
    status: 400,
    retry: false,
    message: () => 'Attachments are not available: no extension stores uploads.',
    hint: 'Send images in "images", and put other material into a file of the agent. The extension "files" stores uploads: `svc ext enable files`.',
  },
  cannot_see: {
    status: 400,
    retry: false,
    message: (model: string) => `${model} does not support images.`,
    hint: 'Leave the image out, or choose a model that supports images: /models lists them.',
  },
  agent_gone: { status: 404, retry: false, message: () => 'The agent of this run no longer exists.' },
  invalid_key: { status: 400, retry: false, message: () => 'An Idempotency-Key has 1 to 255 printable ASCII characters.' },
  internal: { status: 500, retry: false, message: () => 'Internal server error', hint: 'See the log: svc logs' },
});
