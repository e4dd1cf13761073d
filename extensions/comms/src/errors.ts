import { defineErrors } from '@svc/api';

export const commsErrors = defineErrors('comms', {
  not_found: { status: 404, retry: false, message: (id: string) => `There is no event ${id.slice(0, 100)}.`, hint: 'GET /api/comms/events lists the newest.' },
  no_agent: { status: 404, retry: false, message: (name: string) => `There is no agent "${name.slice(0, 100)}".`, hint: 'Name one of your agents as `agent:ID`, by its id or by its name.' },
  no_target: { status: 400, retry: false, message: () => 'The message has no target.', hint: 'Set `to`, such as `agent:assistant`.' },
  no_content: { status: 400, retry: false, message: () => 'The message has no text.', hint: 'Set `content`.' },
  two_values: { status: 400, retry: false, message: (one: string, other: string) => `${one} and ${other} have different values.`, hint: 'Send one of them.' },
  no_channels: {
    status: 400,
    retry: false,
    message: (to: string) => `"${to.slice(0, 100)}" is a channel, and the extension channels is off.`,
    hint: 'Switch it on with `svc ext enable channels`, or send to an agent: `agent:ID`.',
  },
  channel_denied: { status: 403, retry: false, message: () => 'Owners and admins send messages to channels.', hint: 'Ask one of them, or let an agent with `channels_send` send it.' },
  no_thread: { status: 400, retry: false, message: () => 'thread_id is a conversation with an agent, and the message goes to a channel.', hint: 'Leave thread_id out.' },
  to_itself: { status: 400, retry: false, message: () => 'An agent cannot send a message to itself.', hint: 'Name another agent in `to`, or leave `from` out.' },
  run_failed: { status: 500, retry: true, message: (why: string) => `The agent did not answer: ${why}`, hint: 'GET /api/runs shows each run with its reason.' },
  too_many_streams: { status: 429, retry: true, message: (limit: number) => `${limit} streams of events are open.`, hint: 'Close one first.' },
});
