import { createTables } from '@svc/api';
import { AttemptRows, GrantRows, RecoveryRows, RequestRows, TotpRows } from '../src/contract.js';

/** All tables of this area. */
export const approvalTables = createTables('0001_tables', [RequestRows, GrantRows, TotpRows, AttemptRows, RecoveryRows], {
  replaces: ['0001_init', '0002_review'],
});
