import type { Migration } from '@svc/api';
import { RequestRows } from '../src/contract.js';

export const review: Migration = {
  name: '0002_review',
  up: (m) => {
    m.addColumn(RequestRows.name, 'review', RequestRows.columns.review);
    m.addColumn(RequestRows.name, 'review_until', RequestRows.columns.review_until);
    m.createIndex(RequestRows.name, ['review_until']);
  },
};
