import { createTables } from '@svc/api';
import { DreamRows } from '../src/tables.js';

export const dreamTables = createTables('0001_init', [DreamRows]);
