import { createTables } from '@svc/api';
import { CredentialRows } from '../src/credential-rows.js';
import { Logins } from '../src/logins/login-store.js';
import { PeopleRows } from '../src/people/people-rows.js';
import { RevokedKeys } from '../src/revocations.js';

/** All tables of this area. */
export const authTables = createTables('0001_tables', [Logins, RevokedKeys, CredentialRows, PeopleRows], {
  replaces: ['0001_logins', '0002_revoked_keys', '0003_credentials', '0004_people'],
});
