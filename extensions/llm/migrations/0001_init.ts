import { createTables } from '@svc/api';
import { UsageRows } from '../src/tables.js';

export const init = createTables('0001_init', [UsageRows], { later: ['begun_by', 'root_id', 'channel', 'unit', 'quantity'] });
