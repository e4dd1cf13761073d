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
  unknown_agent: {
    status: 404,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no agent "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /agents for the list.',
  },
  bad_argument: { status: 400, retry: false, message: (name: string, given: string, wanted: string) => `/${name} takes ${wanted}, not "${given.slice(0, 40)}".`, hint: 'Send /help for the list.' },
  cannot_think: {
    status: 400,
    retry: false,
    message: (model: string) => `${model} does not support thinking. Nothing was changed.`,
    hint: 'Use /model NAME to choose a model that supports thinking.',
  },
  unknown_model: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `The catalog has no model "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /models for the list, or name the provider too: /model openai/NAME.',
  },
});
