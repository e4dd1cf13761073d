import { createTables } from '@svc/api';
import { Logins } from '../src/logins/login-store.js';

export const loginTables = createTables('0001_logins', [Logins]);
