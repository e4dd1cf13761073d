import { createTables } from '@svc/api';
import { RecallRows } from '../src/contract.js';

export const recallTables = createTables('0002_recalls', [RecallRows]);
