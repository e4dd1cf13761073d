import { createTables } from '@svc/api';
import { EdgeRows, EntityRows, EntryRows, HistoryRows, KvRows, RecallRows, TermRows, VectorRows } from '../src/contract.js';

/** All tables of this area. */
export const memoryTables = createTables('0001_tables', [EntryRows, HistoryRows, TermRows, VectorRows, KvRows, EntityRows, EdgeRows, RecallRows], {
  replaces: ['0001_init', '0002_recalls'],
});
