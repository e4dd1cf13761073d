import { createTables } from '@svc/api';
import { GoalRunRows } from '../src/contract.js';

export const goalRunTable = createTables('0002_runs', [GoalRunRows]);
