import { createTables } from '@svc/api';
import { Defaults, KeyStates, Settings } from '../src/tables.js';

/** All tables of this area. */
export const providerTables = createTables('0001_tables', [Settings, Defaults, KeyStates], {
  replaces: ['0001_init', '0002_defaults', '0003_keys', '0004_proxies'],
});
