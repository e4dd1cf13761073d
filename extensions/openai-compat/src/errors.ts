import { defineErrors } from '@svc/api';

export const compatErrors = defineErrors('', {
  missing_message: { status: 400, retry: false, message: () => 'messages holds no user message.', hint: 'The last user message is what the agent is asked.' },
  unsupported_part: { status: 400, retry: false, message: (type: string) => `Content parts of type "${type}" are not taken.`, hint: 'Send text and image_url parts.' },
  invalid_image: { status: 400, retry: false, message: (why: string) => `An image cannot be taken: ${why}.`, hint: 'Send data:image/png;base64,… (png, jpeg, gif or webp).' },
  unsupported_value: { status: 400, retry: false, message: (what: string) => what },
  no_agent: { status: 404, retry: false, message: () => 'There is no agent to answer.', hint: 'Spawn one: svc agent spawn.' },
  model_not_found: { status: 404, retry: false, message: (id: string) => `There is no model ${id}.`, hint: 'GET /v1/models lists them: each agent is one.' },
});
