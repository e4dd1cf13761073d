import { defineErrors } from '@svc/api';

export const sessionsErrors = defineErrors('sessions', {
  session_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no session ${id} of this agent.`,
    hint: 'List the sessions of the agent, or leave the session id out to use the current one.',
  },
  invalid_session_id: { status: 400, retry: false, message: (id: string) => `"${id}" is not a session id: a UUID is expected.` },
  session_closed: { status: 409, retry: false, message: (id: string) => `The session ${id} was deleted, and its id cannot be reused.`, hint: 'Leave session_id out, or choose another UUID.' },
  no_such_session: { status: 404, retry: false, message: (id: string) => `There is no session ${id}.`, hint: 'GET /api/sessions lists them.' },
  no_such_entry: {
    status: 404,
    retry: false,
    message: (seq: number, newest: number) => `The session has no entry ${seq}: the newest is ${newest}.`,
    hint: 'Each message of a session has its number as `seq`.',
  },
  two_places: { status: 400, retry: false, message: () => 'The request names two places to branch from.', hint: 'Send before_seq or after_seq, and not both.' },
  run_going_on: {
    status: 409,
    retry: true,
    message: () => 'The message to branch from belongs to an active run.',
    hint: 'Wait for the run to end, stop it, or branch from an earlier message.',
  },
  no_such_label: {
    status: 404,
    retry: false,
    message: (label: string) => `No session of this agent has the label "${label}".`,
    hint: 'Labels must match exactly. Titles taken from the first message are not labels.',
  },
  invalid_label: { status: 400, retry: false, message: () => 'A label has 1 to 128 letters, digits, spaces, hyphens and underscores, and not spaces alone.', hint: 'Send null to remove a label.' },
  nothing_to_search: {
    status: 400,
    retry: false,
    message: () => 'The query has no word to search for. Words consist of letters, digits and emoji.',
    hint: 'Search for a word that occurs in a message.',
  },
  too_many_words: { status: 400, retry: false, message: (count: number, limit: number) => `${count} words were given; the limit is ${limit} are the limit.`, hint: 'Use the rarest words.' },
  invalid_time: {
    status: 400,
    retry: false,
    message: (name: string, value: string) => `${name} is "${value.slice(0, 40)}", which is not a valid time.`,
    hint: 'Send a day such as 2026-01-31, or a time such as 2026-01-31T10:00:00Z.',
  },
  session_taken: { status: 409, retry: false, message: (id: string) => `The session id ${id} belongs to another agent.`, hint: 'Leave session_id out, or choose another UUID.' },
  compaction_busy: { status: 409, retry: true, message: () => 'The session is already being compacted.', hint: 'Try again in a moment.' },
  compaction_failed: {
    status: 500,
    retry: true,
    message: (why: string) => `The session was not compacted: ${why}`,
    hint: 'Compaction needs a model: `svc status` shows the default one.',
  },
  no_summary: { status: 503, retry: true, message: (why: string) => `No model is available for the summary. ${why}`, hint: 'Give a provider a key: `svc providers list` shows them.' },
  context_unknown: { status: 503, retry: true, message: () => 'Context windows of models are not available.', hint: 'The extension llm is off: `svc ext enable llm`.' },
  row_unreadable: {
    status: 500,
    retry: false,
    message: (session: string, seq: number) => `Entry ${seq} of session ${session} cannot be read.`,
    hint: 'The rest of the session is intact; "svc doctor" names the row.',
  },
});
