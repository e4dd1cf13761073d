/** How many secrets a third-party extension may keep: the vault has room for a thousand of everybody's. */
import type { Secrets } from '@svc/api';
import { contextErrors } from '../errors.js';

const MAX_SECRETS = 50;

export const countedSecrets = (secrets: Secrets, id: string): Secrets => {
  let last: Promise<unknown> = Promise.resolve();
  // One after the other: two at once would both find the last place free.
  const withRoom = <T>(name: string, store: () => Promise<T>): Promise<T> => {
    const own = last.then(async () => {
      const names = await secrets.list('');
      if (!names.includes(name) && names.length >= MAX_SECRETS) throw contextErrors.quota_secrets(id, MAX_SECRETS);
      return store();
    });
    last = own.catch(() => undefined);
    return own;
  };
  return {
    ...secrets,
    put: (name, value) => withRoom(name, () => secrets.put(name, value)),
    // It makes a key where there is none.
    sign: (name, data) => withRoom(name, () => secrets.sign(name, data)),
  };
};
