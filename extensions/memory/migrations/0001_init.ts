import { createTables } from '@svc/api';
import { EdgeRows, EntityRows, EntryRows, HistoryRows, KvRows, TermRows, VectorRows } from '../src/contract.js';

export const memoryTables = createTables('0001_init', [EntryRows, HistoryRows, TermRows, VectorRows, KvRows, EntityRows, EdgeRows]);
