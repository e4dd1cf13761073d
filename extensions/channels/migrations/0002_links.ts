import type { Migration } from '@svc/api';
import { SenderRows } from '../src/contract.js';

export const LINK_COLUMNS = ['code_at', 'code_chat', 'person_id', 'person_role', 'linked_at'] as const;

export const linkColumns: Migration = {
  name: '0002_links',
  up: (m) => {
    for (const column of LINK_COLUMNS) m.addColumn(SenderRows.name, column, SenderRows.columns[column]);
  },
};
