import { createTables } from '@svc/api';
import { FeedRows } from '../src/contract.js';

export const commsTables = createTables('0001_init', [FeedRows]);
