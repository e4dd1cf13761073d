import { createTables, type Migration } from '@svc/api';
import { PeopleRows } from '../src/people/people-rows.js';

const tables = createTables('0004_people', [PeopleRows]);

export const peopleTable: Migration = {
  name: '0004_people',
  up: (m) => {
    tables.up(m);
    m.addColumn('credentials', 'actor_id', { kind: 'text' });
    m.addColumn('credentials', 'expires_at', { kind: 'text' });
  },
};
