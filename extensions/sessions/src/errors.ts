import { defineErrors } from '@svc/api';

export const sessionsErrors = defineErrors('sessions', {
  session_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no session ${id} of this agent.`,
    hint: 'List the sessions of the agent, or leave the session id out to use the current one.',
  },
  invalid_session_id: { status: 400, retry: false, message: (id: string) => `"${id}" is not a session id: a UUID is expected.` },
  session_taken: { status: 409, retry: false, message: (id: string) => `The session id ${id} belongs to another agent.`, hint: 'Leave session_id out, or choose another UUID.' },
  compaction_busy: { status: 409, retry: true, message: () => 'The session is being compacted already.', hint: 'Try again in a moment.' },
  compaction_failed: {
    status: 500,
    retry: true,
    message: (why: string) => `The session is as it was: ${why}`,
    hint: 'A model has to be reachable for it: `svc status` says which one answers.',
  },
  no_summary: { status: 503, retry: true, message: (why: string) => `Nobody can summarise it. ${why}`, hint: 'Give a provider a key: `svc providers list` shows them.' },
  row_unreadable: {
    status: 500,
    retry: false,
    message: (session: string, seq: number) => `Entry ${seq} of session ${session} cannot be read.`,
    hint: 'The rest of the session is intact; "svc doctor" names the row.',
  },
});
