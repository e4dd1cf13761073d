import { createTables } from '@svc/api';
import { HookCalls } from '../src/contract.js';

export const hookCallTable = createTables('0002_calls', [HookCalls]);
