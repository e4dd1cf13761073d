import { defineErrors } from '@svc/api';

export const webhookErrors = defineErrors('webhooks', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no webhook ${id.slice(0, 100)}.`, hint: 'GET /api/webhooks and /api/webhooks/events list yours.' },
  delivery_not_found: { status: 404, retry: false, message: (id: string) => `There is no delivery ${id.slice(0, 100)}.`, hint: '`svc webhooks deliveries ID` lists them.' },
  under_way: { status: 409, retry: true, message: () => 'The delivery is still on its way.', hint: '`svc webhooks deliveries ID` shows its next attempt.' },
  no_agent: {
    status: 404,
    retry: false,
    message: (name: string) => (name === '' ? 'You have no agent.' : `There is no agent "${name.slice(0, 100)}".`),
    hint: 'Name one of your agents by id or name.',
  },
  unsafe_url: {
    status: 400,
    retry: false,
    message: (why: string) => `The webhook address is refused: ${why}`,
    hint: 'Use a public http or https address, or add its host to [web.fetch] ssrf_allowed_hosts.',
  },
  too_many: { status: 400, retry: false, message: (limit: number) => `You may have ${limit} webhooks.`, hint: 'Delete one first.' },
  no_channels: {
    status: 400,
    retry: false,
    message: () => 'The answer cannot be sent to a chat: the extension channels is off.',
    hint: 'Switch it on with `svc ext enable channels`, or leave out `deliver` and `channel`.',
  },
  unsupported: { status: 400, retry: false, message: (what: string, why: string) => `${what} is not supported: ${why}`, hint: 'Leave it out.' },
  no_token: {
    status: 401,
    retry: false,
    message: () => 'A hook needs a token, a signature or an API key.',
    hint: 'Send the token of [webhook_triggers] as `Authorization: Bearer TOKEN`, sign with it, or use an API key.',
  },
  bad_signature: { status: 401, retry: false, message: (why: string) => `The signature is refused: ${why}.`, hint: 'Sign the exact bytes of the body with the text of the token.' },
  too_large: { status: 413, retry: false, message: (limit: number) => `A call may have ${limit} bytes.`, hint: 'Send less, or raise max_payload_bytes under [webhook_triggers].' },
  too_many_calls: {
    status: 429,
    retry: true,
    message: (limit: number) => `An address may call hooks ${limit} times a minute.`,
    hint: 'Try again in a minute, use an API key, or raise rate_limit_per_minute under [webhook_triggers].',
  },
  run_failed: { status: 500, retry: true, message: (why: string) => `The agent did not answer: ${why}`, hint: 'GET /api/runs shows each run with its reason.' },
});
