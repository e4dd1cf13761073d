/** What can be wrong with a request of the page. */
import { defineErrors } from '@svc/api';

export const pageErrors = defineErrors('page', {
  panel_missing: {
    status: 404,
    retry: false,
    message: (extension: string) => `The extension "${extension}" shows no panel now.`,
    hint: 'It may have been switched off, or is not installed: GET /api/extensions lists all. Reload the page.',
  },
});
