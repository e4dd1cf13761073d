import { createTables } from '@svc/api';
import { Settings } from '../src/tables.js';

export const init = createTables('0001_init', [Settings], { later: ['proxy_url'] });
