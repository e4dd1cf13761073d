import { createTables } from '@svc/api';
import { Goals } from '../src/contract.js';

export const goalTable = createTables('0001_init', [Goals.table]);
