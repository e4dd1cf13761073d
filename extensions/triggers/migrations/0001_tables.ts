import { createTables } from '@svc/api';
import { CallRows, CooldownRows, CounterRows, FireRows, ManifestRows, RotationRows, Triggers } from '../src/contract.js';

// As databases have it that had triggers before there were secrets.
const { columns, ...table } = Triggers.table;
const TriggerRows = { ...table, columns: { ...columns, has_secret: { kind: 'boolean', notNull: true, default: 0 } } } as const;

/** All tables of this area. */
export const triggerTables = createTables('0001_tables', [TriggerRows, CounterRows, CooldownRows, FireRows, ManifestRows, CallRows, RotationRows], {
  replaces: ['0001_init', '0002_manifest', '0003_hooks'],
});
