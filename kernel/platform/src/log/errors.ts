import { defineErrors } from '@svc/api';

export const logErrors = defineErrors('log', {
  too_many_followers: {
    status: 503,
    retry: true,
    message: (limit: number) => `The log already has ${limit} readers.`,
    hint: 'Close one of them, or read the log file.',
  },
});
