import { defineErrors } from '@svc/api';

export const commandErrors = defineErrors('command', {
  unknown: {
    status: 400,
    retry: false,
    message: (name: string, near: string | undefined) => `There is no command /${name}.${near ? ` Did you mean /${near}?` : ''}`,
    hint: 'Send /help for the list.',
  },
});
