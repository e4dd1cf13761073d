import { createTables } from '@svc/api';
import { StepRows, TemplateRows, WorkflowRows, WorkflowRunRows } from '../src/contract.js';

/** All tables of this area. */
export const workflowTables = createTables('0001_tables', [WorkflowRows, WorkflowRunRows, StepRows, TemplateRows], {
  replaces: ['0001_init', '0002_origin', '0003_templates'],
});
