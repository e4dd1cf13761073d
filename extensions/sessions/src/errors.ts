import { defineErrors } from '@svc/api';

export const sessionsErrors = defineErrors('sessions', {
  session_not_found: {
    status: 404,
    retry: false,
    message: (id: string) => `There is no session ${id} of this agent.`,
    hint: 'List the sessions of the agent, or leave the session id out to use the current one.',
  },
  invalid_session_id: { status: 400, retry: false, message: (id: string) => `"${id}" is not a session id: a UUID is expected.` },
  session_closed: { status: 409, retry: false, message: (id: string) => `The session ${id} was deleted, and its id is not used again.`, hint: 'Leave session_id out, or choose another UUID.' },
  no_such_session: { status: 404, retry: false, message: (id: string) => `There is no session ${id}.`, hint: 'GET /api/sessions lists those that are there.' },
  no_such_entry: {
    status: 404,
    retry: false,
    message: (seq: number, newest: number) => `The session has no entry ${seq}: the newest is ${newest}.`,
    hint: 'Messages of a session name theirs as `seq`.',
  },
  two_places: { status: 400, retry: false, message: () => 'A session branches off at one place, and two are named.', hint: 'Send before_seq or after_seq, and not both.' },
  run_going_on: {
    status: 409,
    retry: true,
    message: () => 'What would be taken along is still being said: its run goes on or waits.',
    hint: 'Wait for its end, stop it, or branch off before its message.',
  },
  no_such_label: {
    status: 404,
    retry: false,
    message: (label: string) => `No session of this agent has the label "${label}".`,
    hint: 'Labels are compared letter by letter; a label that only shows how a conversation began is none.',
  },
  invalid_label: { status: 400, retry: false, message: () => 'A label has 1 to 128 letters, digits, spaces, hyphens and underscores, and not spaces alone.', hint: 'null takes a label away.' },
  nothing_to_search: {
    status: 400,
    retry: false,
    message: () => 'There is no word to search for: letters, digits and pictographs make words, all else parts them.',
    hint: 'Name a word that was said.',
  },
  too_many_words: { status: 400, retry: false, message: (count: number, limit: number) => `${count} words are asked for, and ${limit} are the limit.`, hint: 'Ask for the rarest of them.' },
  invalid_time: {
    status: 400,
    retry: false,
    message: (name: string, value: string) => `${name} is "${value.slice(0, 40)}", which is no time.`,
    hint: 'Send a day such as 2026-01-31, or a time such as 2026-01-31T10:00:00Z.',
  },
  session_taken: { status: 409, retry: false, message: (id: string) => `The session id ${id} belongs to another agent.`, hint: 'Leave session_id out, or choose another UUID.' },
  compaction_busy: { status: 409, retry: true, message: () => 'The session is being compacted already.', hint: 'Try again in a moment.' },
  compaction_failed: {
    status: 500,
    retry: true,
    message: (why: string) => `The session is as it was: ${why}`,
    hint: 'A model has to be reachable for it: `svc status` says which one answers.',
  },
  no_summary: { status: 503, retry: true, message: (why: string) => `Nobody can summarise it. ${why}`, hint: 'Give a provider a key: `svc providers list` shows them.' },
  context_unknown: { status: 503, retry: true, message: () => 'No model can be asked how much it reads.', hint: 'The area llm is off: `svc ext enable llm`.' },
  row_unreadable: {
    status: 500,
    retry: false,
    message: (session: string, seq: number) => `Entry ${seq} of session ${session} cannot be read.`,
    hint: 'The rest of the session is intact; "svc doctor" names the row.',
  },
});
