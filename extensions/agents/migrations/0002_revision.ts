import type { Migration } from '@svc/api';
import { AgentRows } from '../src/tables.js';

export const revision: Migration = { name: '0002_revision', up: (m) => m.addColumn(AgentRows.name, 'revision', AgentRows.columns.revision) };
