import { createTables } from '@svc/api';
import { GoalRunRows, Goals } from '../src/contract.js';

/** All tables of this area. */
export const goalTables = createTables('0001_tables', [Goals.table, GoalRunRows], {
  replaces: ['0001_init', '0002_runs'],
});
