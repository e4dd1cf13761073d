import { defineErrors } from '@svc/api';

export const commandErrors = defineErrors('command', {
  unknown: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no command /${name}.${near ? ` Did you mean /${near}?` : ''}`,
    hint: 'Send /help for the list.',
  },
  unknown_model: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `The catalog has no model "${name}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'Send /models for the list, or name the provider too: /model openai/NAME.',
  },
});
