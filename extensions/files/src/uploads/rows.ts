import type { RowOf } from '@svc/api';
import type { BlobRows, UploadRows } from '../tables.js';

export type UploadRow = RowOf<typeof UploadRows>;
export type BlobRow = RowOf<typeof BlobRows>;
