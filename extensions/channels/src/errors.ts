import { defineErrors } from '@svc/api';

export const channelErrors = defineErrors('channels', {
  not_found: { status: 404, retry: false, message: (name: string) => `There is no channel ${name.slice(0, 100)}.`, hint: 'GET /api/channels/registry lists the platforms that have a name.' },
  no_adapter: {
    status: 404,
    retry: false,
    message: (name: string) => `svc has no adapter for ${name}.`,
    hint: 'GET /api/channels lists those that it has. A program of your own can connect it: see [[sidecar_channels]].',
  },
  not_configured: {
    status: 409,
    retry: false,
    message: (name: string) => `The channel ${name} is not configured.`,
    hint: 'Set it up with POST /api/channels/{name}/configure, or `svc channels setup`.',
  },
  bad_fields: { status: 400, retry: false, message: (name: string, why: string) => `The channel ${name} cannot be configured: ${why}.`, hint: 'GET /api/channels/{name} lists its fields.' },
  in_config: { status: 409, retry: false, message: (name: string) => `The channel ${name} is set up in config.toml.`, hint: 'Change its table under [channels] there, or take it out first.' },
  bad_signature: { status: 403, retry: false, message: (why: string) => `The message was not accepted: ${why}.`, hint: 'Sign the exact bytes of the body with the secret of the channel.' },
  bad_message: { status: 400, retry: false, message: (why: string) => `The message is not readable: ${why}.`, hint: 'Send JSON such as {"sender_id": "ada", "message": "Hello"}.' },
  no_code: { status: 404, retry: false, message: () => 'No sender waits with this code.', hint: 'Codes are valid for a day and can be used once. Ask the sender to write again.' },
  no_person: { status: 409, retry: false, message: () => 'svc cannot say which person you are here.', hint: 'Sign in with a key of your own, or at your provider, and try again.' },
  sender_not_found: { status: 404, retry: false, message: (id: string) => `There is no sender ${id.slice(0, 100)}.`, hint: 'GET /api/channels/senders lists them.' },
  delivery_not_found: { status: 404, retry: false, message: (id: string) => `There is no delivery ${id.slice(0, 100)}.`, hint: 'GET /api/channels/deliveries lists them.' },
  not_retryable: { status: 409, retry: false, message: (state: string) => `The delivery is ${state} and cannot be sent again.`, hint: 'Only failed and unknown deliveries can be retried.' },
  still_going: { status: 409, retry: true, message: (state: string) => `The delivery is ${state} and cannot be deleted.`, hint: 'Wait until it has ended.' },
  binding_not_found: { status: 404, retry: false, message: (index: string) => `There is no binding ${index.slice(0, 100)}.`, hint: 'GET /api/bindings lists them; use the position or the id.' },
  bad_binding: {
    status: 400,
    retry: false,
    message: (why: string) => `The binding is not usable: ${why}.`,
    hint: 'Name an agent, and at least one of channel, account_id, peer_id, guild_id and roles.',
  },
  too_many: { status: 409, retry: false, message: (what: string, most: number) => `There are ${most} ${what}, which is the limit.`, hint: 'Delete one that you no longer need.' },
  no_recipient: { status: 400, retry: false, message: (name: string) => `Nobody is named to receive the message on ${name}.`, hint: 'Name a recipient: the id of a chat on that platform.' },
  no_qr_session: { status: 404, retry: false, message: () => 'There is no sign-in by QR code with this id.', hint: 'Start one with POST /api/channels/whatsapp/qr/start.' },
  send_failed: { status: 502, retry: false, message: (name: string, why: string) => `${name} did not take the message: ${why}.`, hint: 'Test the channel with POST /api/channels/{name}/test.' },
});
