import { createTables } from '@svc/api';
import { AgentRows, Marks } from '../src/tables.js';

export const init = createTables('0001_init', [AgentRows, Marks]);
