import type { Migration } from '@svc/api';
import { UploadRows } from '../src/tables.js';

/** Files of workspaces that were deleted stand among the uploads, as long as they can come back. */
export const bin: Migration = {
  name: '0002_bin',
  up(m) {
    m.addColumn(UploadRows.name, 'path', UploadRows.columns.path);
    m.addColumn(UploadRows.name, 'keep_until', UploadRows.columns.keep_until);
  },
};
