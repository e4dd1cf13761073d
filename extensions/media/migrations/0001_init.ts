import { createTables } from '@svc/api';
import { TaskRows } from '../src/contract.js';

export const mediaTables = createTables('0001_init', [TaskRows]);
