import { defineErrors } from '@svc/api';

export const webhookErrors = defineErrors('webhooks', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no webhook ${id.slice(0, 100)}.`, hint: 'GET /api/webhooks and /api/webhooks/events list yours.' },
  delivery_not_found: { status: 404, retry: false, message: (id: string) => `There is no delivery ${id.slice(0, 100)}.`, hint: '`svc webhooks deliveries ID` lists them.' },
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
  unsupported: { status: 400, retry: false, message: (what: string, why: string) => `${what} is not supported: ${why}`, hint: 'Leave it out.' },
  run_failed: { status: 500, retry: true, message: (why: string) => `The agent did not answer: ${why}`, hint: 'GET /api/runs shows each run with its reason.' },
});
