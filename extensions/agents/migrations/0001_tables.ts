import { createTables } from '@svc/api';
import { AgentRows, Marks, SpawnKeys } from '../src/tables.js';

/** All tables of this area. */
export const agentTables = createTables('0001_tables', [AgentRows, SpawnKeys, Marks], { later: ['bin'], replaces: ['0001_init', '0002_revision'] });
