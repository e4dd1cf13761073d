import { createTables } from '@svc/api';
import { FileRows } from '../src/contract.js';

export const taintTables = createTables('0001_init', [FileRows]);
