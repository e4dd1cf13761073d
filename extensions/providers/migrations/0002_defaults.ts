import { createTables } from '@svc/api';
import { Defaults } from '../src/tables.js';

export const defaults = createTables('0002_defaults', [Defaults]);
