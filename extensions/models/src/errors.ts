import { defineErrors } from '@svc/api';

export const modelErrors = defineErrors('models', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string) => `The catalog has no model "${name}".`,
    hint: 'GET /api/models lists what it has. A provider may serve models that the catalog does not know; agents can name those too.',
  },
});
