import { createTables } from '@svc/api';
import { RemoteAgentRows, RemoteTaskRows } from '../src/tables.js';

export const a2aTables = createTables('0001_init', [RemoteAgentRows, RemoteTaskRows]);
