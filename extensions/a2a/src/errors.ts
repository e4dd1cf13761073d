import { defineErrors } from '@svc/api';

export const a2aErrors = defineErrors('a2a', {
  off: { status: 404, retry: false, message: () => 'A2A is switched off.', hint: 'Set `enabled = true` under [a2a] in config.toml.' },
  agent_not_found: { status: 404, retry: false, message: (id: string) => `There is no agent elsewhere called ${id}.`, hint: 'GET /api/a2a/agents lists yours; POST /api/a2a/discover adds one.' },
  name_ambiguous: { status: 409, retry: false, message: (name: string) => `Several agents elsewhere are called ${name}.`, hint: 'Use the id or the URL of one: GET /api/a2a/agents lists them.' },
  local_agent_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `No agent ${id} is open to A2A.`,
    hint: 'GET /a2a/agents lists those that are; [a2a] agents in config.toml names them.',
  },
  task_not_found: { status: 404, retry: false, message: (id: string) => `There is no task ${id}.`, hint: 'Use the task_id from the answer to the message.' },
  task_ended: { status: 409, retry: false, message: (id: string, status: string) => `Task ${id} has already ended (${status}).`, hint: 'Only a submitted or working task can be cancelled.' },
  invalid_url: { status: 400, retry: false, message: (url: string) => `${url} is not an http or https address.`, hint: 'Give the address of the other server, such as https://agents.example.com.' },
  no_text: { status: 400, retry: false, message: () => 'The message has no text.', hint: 'Send at least one part such as {"text": "Hello"}.' },
  no_card: {
    status: 502,
    retry: false,
    message: (url: string, why: string) => `${url} has no usable agent card: ${why}.`,
    hint: 'The card should be at /.well-known/agent-card.json or /.well-known/agent.json of that address.',
  },
  upstream: { status: 502, retry: true, message: (name: string, why: string) => `${name} did not take the request: ${why}.`, hint: 'Check that the other server runs, then send the message again.' },
});
