import { createTables } from '@svc/api';
import { RevokedKeys } from '../src/revocations.js';

export const revokedKeysTable = createTables('0002_revoked_keys', [RevokedKeys]);
