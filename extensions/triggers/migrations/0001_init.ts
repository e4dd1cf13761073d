import { createTables } from '@svc/api';
import { CooldownRows, CounterRows, FireRows, Triggers } from '../src/contract.js';

export const triggerTables = createTables('0001_init', [Triggers.table, CounterRows, CooldownRows, FireRows], { later: ['has_secret', 'prompt'] });
