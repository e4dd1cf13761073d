import { createTables } from '@svc/api';
import { ProcessRows } from '../src/processes/process-rows.js';

export const processTables = createTables('0001_processes', [ProcessRows]);
