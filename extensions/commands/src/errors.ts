import { defineErrors } from '@svc/api';

export const commandErrors = defineErrors('command', {
  unknown: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no command /${name}.${near ? ` Did you mean /${near}?` : ''}`,
    hint: 'Send /help for the list.',
  },
  bad_argument: { status: 400, retry: false, message: (name: string, given: string, wanted: string) => `/${name} takes ${wanted}, not "${given.slice(0, 40)}".`, hint: 'Send /help for the list.' },
  cannot_think: {
    status: 400,
    retry: false,
    message: (model: string) => `${model} cannot be told to think before it answers. Nothing was changed.`,
    hint: 'Choose a model that reasons with /model NAME.',
  },
  unknown_model: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `The catalog has no model "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /models for the list, or name the provider too: /model openai/NAME.',
  },
});
