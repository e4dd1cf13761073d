import { createTables } from '@svc/api';
import { BlobRows, OrphanRows, UploadRows } from '../src/tables.js';

export const uploads = createTables('0001_uploads', [UploadRows, BlobRows, OrphanRows], { later: ['path', 'keep_until'] });
