import { createTables } from '@svc/api';
import { NoticeRows } from '../src/contract.js';

export const noticeTables = createTables('0001_init', [NoticeRows]);
