import { createTables } from '@svc/api';
import { CredentialRows } from '../src/credential-rows.js';

export const credentialsTable = createTables('0003_credentials', [CredentialRows], { later: ['actor_id', 'expires_at'] });
