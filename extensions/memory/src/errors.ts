import { defineErrors } from '@svc/api';

export const memoryErrors = defineErrors('memory', {
  not_found: { status: 404, retry: false, message: (id: string) => `You have no memory entry ${id.slice(0, 100)}.`, hint: 'List yours with GET /api/memory.' },
  key_not_found: { status: 404, retry: false, message: (key: string) => `There is no key ${JSON.stringify(key.slice(0, 200))}.`, hint: 'List the keys with GET /api/memory/agents/{id}/kv.' },
  bad_key: { status: 400, retry: false, message: (why: string) => `This key cannot be stored: ${why}.`, hint: 'Use 1 to 256 characters, without control characters.' },
  empty: { status: 400, retry: false, message: () => 'The content has no visible text.', hint: 'Send what should be remembered as `content`.' },
  too_large: {
    status: 400,
    retry: false,
    message: (chars: number, limit: number) => `The content has ${chars} characters; at most ${limit} are stored.`,
    hint: 'Store the text as a file, and remember what it is about and its path.',
  },
  value_too_large: {
    status: 400,
    retry: false,
    message: (bytes: number, limit: number) => `The value has ${bytes} bytes; at most ${limit} are stored.`,
    hint: 'Store it as a file in the workspace of the agent.',
  },
  secret: {
    status: 400,
    retry: false,
    message: (rule: string) => `This looks like a secret (${rule}), and secrets are never remembered.`,
    hint: 'Store secrets with `svc vault set`, and name the place instead.',
  },
  bad_row: {
    status: 400,
    retry: false,
    message: (index: number, why: string) => `Row ${index} cannot be imported: ${why}. Nothing was imported.`,
    hint: 'Correct the row, or leave it out, and import again.',
  },
  nothing_to_import: { status: 400, retry: false, message: () => 'The body holds no rows.', hint: 'Send an array of exported entries, or an object with the array as `memories`.' },
  bad_relation: {
    status: 400,
    retry: false,
    message: (index: number, why: string) => `Relation ${index} cannot be stored: ${why}. Nothing was stored.`,
    hint: 'A relation has subject, subject_type, relation, object and object_type.',
  },
  no_embedder: {
    status: 409,
    retry: false,
    message: () => 'Nobody makes vectors here: entries are found by their words alone.',
    hint: 'Set [memory] embedding_provider, and fts_only = false.',
  },
  topic_not_found: { status: 404, retry: false, message: (topic: string) => `The wiki has no page ${JSON.stringify(topic.slice(0, 200))}.`, hint: 'Find pages with wiki_search.' },
  topic_exists: {
    status: 409,
    retry: false,
    message: (topic: string) => `The wiki already has a page ${JSON.stringify(topic.slice(0, 200))}.`,
    hint: 'Read it with wiki_get, and write it with force: true to replace it. The old text stays in its history.',
  },
  full: { status: 409, retry: false, message: (limit: number) => `There are already ${limit} of these, which is the most for one agent.`, hint: 'Delete what is no longer needed.' },
});
