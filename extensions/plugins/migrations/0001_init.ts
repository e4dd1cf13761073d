import { createTables } from '@svc/api';
import { InstallRows, TraceRows } from '../src/contract.js';

export const pluginTables = createTables('0001_init', [InstallRows, TraceRows]);
