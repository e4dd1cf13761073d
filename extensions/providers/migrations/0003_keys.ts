import { createTables } from '@svc/api';
import { KeyStates } from '../src/tables.js';

export const keyStates = createTables('0003_keys', [KeyStates]);
