import { createTables } from '@svc/api';
import { ImportRows, ItemRows, OutcomeRows } from '../src/contract.js';

export const migrateTables = createTables('0001_init', [ImportRows, OutcomeRows, ItemRows]);
