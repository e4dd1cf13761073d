import { defineErrors } from '@svc/api';

export const CHOICE_HINT = 'Send "auto", "none", "required", or {"type": "function", "function": {"name": "…"}}.';

export const compatErrors = defineErrors('', {
  missing_message: { status: 400, retry: false, message: () => 'messages contains no user message.', hint: 'The agent answers the last user message.' },
  no_question: { status: 400, retry: false, message: (why: string) => `A stateless request ends with a user message: ${why}.`, hint: 'End with the message that should be answered.' },
  unsupported_part: { status: 400, retry: false, message: (type: string) => `Content parts of type "${type}" are not taken.`, hint: 'Send text and image_url parts.' },
  invalid_image: { status: 400, retry: false, message: (why: string) => `An image cannot be taken: ${why}.`, hint: 'Send data:image/png;base64,… (png, jpeg, gif or webp).' },
  unsupported_value: { status: 400, retry: false, message: (what: string) => what },
  bad_tool: {
    status: 400,
    retry: false,
    message: (tool: string, why: string) => `The tool ${tool} cannot be used: ${why}.`,
    hint: 'Send {"type": "function", "function": {"name": "…", "description": "…", "parameters": {"type": "object", …}}}.',
  },
  bad_tool_choice: { status: 400, retry: false, message: (why: string) => `tool_choice cannot be met: ${why}.`, hint: CHOICE_HINT },
  results_missing: { status: 400, retry: false, message: (ids: string) => `Results are missing for these tool calls: ${ids}.`, hint: 'Send one tool message for each call of the answer.' },
  response_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no response ${id.slice(0, 80)}.`,
    hint: 'Responses to stateless requests and to requests with a history of their own are not stored.',
  },
  response_continued: {
    status: 409,
    retry: false,
    message: (id: string) => `The response ${id} was already continued, and only the newest one of a conversation can be.`,
    hint: 'Send the id of the newest response, or the whole input with store: false.',
  },
  bad_model: {
    status: 400,
    retry: false,
    message: (model: string, why: string) => `The model ${model} cannot be used: ${why}.`,
    hint: 'Write svc:<agent>, svc:<agent>@<session> or svc:<agent>:stateless.',
  },
  bad_header: { status: 400, retry: false, message: (name: string, expected: string) => `The header ${name} takes ${expected}.` },
  session_conflict: { status: 400, retry: false, message: (what: string) => `The request asks for ${what}.` },
  session_not_found: { status: 404, retry: false, message: (label: string) => `The agent has no session labelled "${label}".`, hint: 'Create one with a label: POST /api/agents/{id}/sessions.' },
  session_ambiguous: { status: 409, retry: false, message: (label: string) => `The agent has several sessions labelled "${label}".`, hint: 'Use its id instead.' },
  too_many_users: {
    status: 409,
    retry: false,
    message: (agent: string, limit: number) => `${agent} has ${limit} sessions, which is the limit: no further \`user\` gets one.`,
    hint: 'Name a session with X-Svc-Session, send X-Svc-Stateless: 1, or delete unused sessions.',
  },
  no_agent: { status: 404, retry: false, message: () => 'There is no agent to answer.', hint: 'Spawn one: svc agent spawn.' },
  model_not_found: { status: 404, retry: false, message: (id: string) => `There is no model ${id}.`, hint: 'GET /v1/models lists them: each agent is one.' },
});
