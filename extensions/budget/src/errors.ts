import { defineErrors } from '@svc/api';

export const budgetErrors = defineErrors('budget', {
  not_set: {
    status: 409,
    retry: false,
    message: (path: string, why: string) => `${path} was written, but it does not hold: ${why}`,
    hint: 'Correct config.toml. `svc doctor` names the line.',
  },
});
