import { defineErrors } from '@svc/api';

export const noticeErrors = defineErrors('notice', {
  not_found: { status: 404, retry: false, message: (id: string) => `You have no notice ${id.slice(0, 100)}.`, hint: 'List yours with GET /api/notices.' },
  too_many: {
    status: 429,
    retry: true,
    message: (limit: number) => `Your owner was not notified: an agent may send ${limit} notices within an hour.`,
    hint: 'Say it in your answer, or put several things into one notice later.',
  },
  empty: { status: 400, retry: false, message: () => 'Your owner was not notified: the summary has no visible text.', hint: 'Say in a sentence what they should know.' },
});
