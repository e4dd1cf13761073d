import { defineErrors } from '../errors.js';

/** What every collection answers alike. */
export const collectionErrors = defineErrors('collection', {
  two_pages: { status: 400, retry: false, message: () => 'The request names both offset and after.', hint: 'Use `offset` to count pages, or `after` with `next` of the previous page.' },
  bad_cursor: { status: 400, retry: false, message: () => 'The value of after does not belong to this list.', hint: 'Send `next` of the previous page unchanged.' },
  missing: { status: 404, retry: false, message: (one: string, key: string) => `There is no ${one} ${key.slice(0, 200)}.`, hint: 'List those that there are.' },
  needed: {
    status: 400,
    retry: false,
    message: (field: string, others: readonly string[]) => `${field} is missing.`.concat(others.length === 0 ? '' : ` It may be given as ${others.join(' or ')}, too.`),
    hint: 'Add the field.',
  },
  taken: {
    status: 409,
    retry: false,
    message: (one: string, fields: readonly string[]) => `There is already a ${one} with this ${fields.join(' and ')}.`,
    hint: 'Choose another value, or change the one that exists.',
  },
  changed: {
    status: 412,
    retry: false,
    message: (one: string, id: string) => `The ${one} ${id} was changed since you read it.`,
    hint: 'Read it again and repeat the change with its new ETag in If-Match.',
  },
  bad_revision: {
    status: 400,
    retry: false,
    message: (header: string) => `If-Match is ${header}, which is not an ETag of this collection.`,
    hint: 'Send the ETag of GET unchanged, or omit If-Match.',
  },
});
