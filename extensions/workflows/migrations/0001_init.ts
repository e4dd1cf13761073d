import { createTables } from '@svc/api';
import { StepRows, WorkflowRows, WorkflowRunRows } from '../src/contract.js';

export const workflowTables = createTables('0001_init', [WorkflowRows, WorkflowRunRows, StepRows], { later: ['origin'] });
