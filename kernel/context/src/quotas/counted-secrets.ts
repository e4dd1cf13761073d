/** How many secrets a third-party extension may keep: the vault has room for a thousand of everybody's. */
import type { Secrets } from '@svc/api';
import { contextErrors } from '../errors.js';

const MAX_SECRETS = 50;

export const countedSecrets = (secrets: Secrets, id: string): Secrets => {
  let last: Promise<unknown> = Promise.resolve();
  return {
    ...secrets,
    // One after the other: two at once would both find the last place free.
    put: (name, value) => {
      const own = last.then(async () => {
        const names = await secrets.list('');
        if (!names.includes(name) && names.length >= MAX_SECRETS) throw contextErrors.quota_secrets(id, MAX_SECRETS);
        return secrets.put(name, value);
      });
      last = own.catch(() => undefined);
      return own;
    },
  };
};
