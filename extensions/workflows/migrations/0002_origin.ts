import type { Migration } from '@svc/api';
import { WorkflowRunRows } from '../src/contract.js';

export const originColumn: Migration = { name: '0002_origin', up: (m) => m.addColumn(WorkflowRunRows.name, 'origin', WorkflowRunRows.columns.origin) };
