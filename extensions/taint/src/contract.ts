/** What taint stores: which files of an agent hold text from outside. What is in a conversation is in its log. */
import { defineTable, type RowOf } from '@svc/api';

export { type Detected, detect } from './policy/detectors.js';

const text = { kind: 'text', notNull: true } as const;

/**
 * One file by its path, or all that changed within a time (`path` is empty): a command may write any. `labels` is empty for a file that
 * was written with nothing from outside meanwhile.
 */
export const FileRows = defineTable('files', '1.0.0', {
  columns: { agent_id: text, path: text, changed_from: text, changed_until: text, labels: text, source: text, owner_id: text },
  primaryKey: ['agent_id', 'path', 'changed_from'],
  owner: 'owner_id',
  agent: 'agent_id',
});
export type FileRow = RowOf<typeof FileRows>;

/** The names of rules of injected orders that a text breaks; none for nearly all texts. */
export { scanText as suspicionsOf } from './injection/scan.js';
