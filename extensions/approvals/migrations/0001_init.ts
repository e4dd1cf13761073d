import { createTables } from '@svc/api';
import { AttemptRows, GrantRows, RecoveryRows, RequestRows, TotpRows } from '../src/contract.js';

export const approvalTables = createTables('0001_init', [RequestRows, GrantRows, TotpRows, AttemptRows, RecoveryRows], { later: ['review', 'review_until'] });
