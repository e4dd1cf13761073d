import { defineErrors } from '@svc/api';

export const sessionsErrors = defineErrors('sessions', {
  session_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no session ${id} of this agent.`,
    hint: 'List the sessions of the agent, or leave the session id out to use the current one.',
  },
  invalid_session_id: { status: 400, retry: false, message: (id: string) => `"${id}" is not a session id: a UUID is expected.` },
  row_unreadable: {
    status: 500,
    retry: false,
    message: (session: string, seq: number) => `Entry ${seq} of session ${session} cannot be read.`,
    hint: 'The rest of the session is intact; "svc doctor" names the row.',
  },
});
