import { createTables } from '@svc/api';
import { AgentRows, Marks, SpawnKeys } from '../src/tables.js';

export const init = createTables('0001_init', [AgentRows, SpawnKeys, Marks], { later: ['revision', 'bin'] });
