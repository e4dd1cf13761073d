import { defineErrors } from '@svc/api';

export const journalErrors = defineErrors('journal', {
  lease_lost: {
    status: 409,
    retry: false,
    message: (runId: string) => `Run ${runId} is no longer leased by this process; nothing was written.`,
    hint: 'Stop working on it. The new holder continues from its last step.',
  },
  not_written: {
    status: 503,
    retry: true,
    message: (why: string) => `The run cannot be saved at the moment: ${why}`,
    hint: 'Nothing is lost: the run continues when the database can be written again. Check the disk and the database; "svc doctor" and the log say why.',
  },
  key_conflict: {
    status: 409,
    retry: false,
    message: (key: string) => `The idempotency key "${key}" was used for another request.`,
    hint: 'Use a new key for a new request, or send the same body again.',
  },
  step_conflict: {
    status: 409,
    retry: false,
    message: (runId: string) => `Run ${runId} already has an outcome for one of these steps, or never started it.`,
    hint: 'Read its steps again. Steps with an outcome are not repeated.',
  },
  outcome_unknown: {
    status: 409,
    retry: false,
    message: (kind: string) => `Whether the step "${kind}" took effect before the interruption is unknown, and it must not be repeated.`,
    hint: 'Check what it acts on, then decide.',
  },
  queue_full: { status: 429, retry: true, message: (limit: number) => `${limit} runs are queued, which is the limit.`, hint: 'Try again when some of them have ended.' },
  erased: {
    status: 409,
    retry: false,
    message: (runId: string) => `Run ${runId} was stopped because its data is being deleted.`,
    hint: 'Nothing is left to do. Its owner, agent or conversation was deleted.',
  },
  bad_time: { status: 500, retry: false, message: (text: string) => `"${text}" is not a time.`, hint: 'Give ISO 8601 in UTC.' },
  bad_row: {
    status: 500,
    retry: false,
    message: (id: string, column: string) => `The row of run ${id} cannot be read: ${column} is damaged.`,
    hint: 'Restore a copy of the database, or cancel the run.',
  },
});
