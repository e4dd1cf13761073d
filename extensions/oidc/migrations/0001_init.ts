import { createTables } from '@svc/api';
import { AttemptRows, IdentityRows, SessionRows } from '../src/contract.js';

export const oidcTables = createTables('0001_init', [AttemptRows, SessionRows, IdentityRows]);
