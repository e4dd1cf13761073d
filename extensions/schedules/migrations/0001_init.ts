import { createTables } from '@svc/api';
import { CronSessionRows, FireRows, JobRows } from '../src/contract.js';

export const scheduleTables = createTables('0001_init', [JobRows, FireRows, CronSessionRows]);
