import { createTables, type Migration } from '@svc/api';
import { CallRows, FireRows, RotationRows, Triggers } from '../src/contract.js';

const calls = createTables('0003_hooks', [CallRows, RotationRows]);

export const hookTables: Migration = {
  name: calls.name,
  up: (m) => {
    calls.up(m);
    m.addColumn(Triggers.table.name, 'has_secret', { kind: 'boolean', notNull: true, default: 0 });
    m.addColumn(FireRows.name, 'prompt', FireRows.columns.prompt);
  },
};
