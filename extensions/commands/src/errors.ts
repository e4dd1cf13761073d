import { defineErrors } from '@svc/api';

export const commandErrors = defineErrors('command', {
  unknown: {
    status: 400,
    retry: false,
    message: (name: string, near: readonly string[]) => `Unknown command /${name}.${near.length > 0 ? ` Did you mean ${near.map((one) => `/${one}`).join(' or ')}?` : ''}`,
    hint: 'Send /help for the list. To send this text to the agent, start it with a space.',
  },
  not_found: { status: 404, retry: false, message: (name: string) => `There is no command /${name}.`, hint: 'GET /api/commands lists them.' },
  not_allowed: { status: 403, retry: false, message: (name: string, why: string) => `/${name} was not done. ${why}` },
  bad_answer: { status: 502, retry: false, message: (name: string, why: string) => `The extension of /${name} gave an answer that is not valid: ${why}` },
  bad_argument: { status: 400, retry: false, message: (name: string, given: string, wanted: string) => `/${name} takes ${wanted}, not "${given.slice(0, 40)}".`, hint: 'Send /help for the list.' },
});
