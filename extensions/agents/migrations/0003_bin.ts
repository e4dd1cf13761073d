import type { Migration } from '@svc/api';
import { AgentRows } from '../src/tables.js';

/** What was deleted can come back for a while. */
export const bin: Migration = { name: '0003_bin', up: (m) => m.addColumn(AgentRows.name, 'bin', AgentRows.columns.bin) };
