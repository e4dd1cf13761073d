import type { Migration } from '@svc/api';
import { createTables } from '@svc/api';
import { Aliases, CustomModels, LocalLists, Revisions } from '../src/tables.js';

const tables = createTables('0001_init', [Aliases, CustomModels, LocalLists, Revisions]);

export const init: Migration = {
  name: tables.name,
  up: (m) => {
    tables.up(m);
    m.sql("INSERT INTO {revisions} (name, revision) VALUES ('names', 0)");
  },
};
