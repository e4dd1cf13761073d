import { defineErrors } from '@svc/api';

export const inboxErrors = defineErrors('inbox', {
  no_agent: {
    status: 404,
    retry: false,
    message: (name: string) => (name === '' ? 'The file names no agent.' : `There is no agent "${name.slice(0, 100)}".`),
    hint: 'Begin the file with the line `agent:NAME`, or set [inbox] default_agent.',
  },
});
