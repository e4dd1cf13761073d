import { createTables } from '@svc/api';
import { LoginRows } from '../src/contract.js';

export const loginTables = createTables('0001_init', [LoginRows]);
