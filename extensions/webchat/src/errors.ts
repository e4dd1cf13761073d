/** What can be wrong with a request of the page. */
import { defineErrors } from '@svc/api';

export const webchatErrors = defineErrors('webchat', {
  invalid_place: {
    status: 400,
    retry: false,
    message: (given: string) => `"${given.slice(0, 80)}" is not a valid position. Set "after" to the epoch of the last hello, a dot, and the seq of the last frame.`,
    hint: 'Leave "after" out and reload what you show.',
  },
  panel_missing: {
    status: 404,
    retry: false,
    message: (extension: string) => `The extension "${extension}" has no panel now.`,
    hint: 'It may have been switched off, or is not installed: GET /api/extensions lists all. Reload the page.',
  },
});
