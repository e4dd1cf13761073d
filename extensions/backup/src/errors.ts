import { defineErrors } from '@svc/api';

/** Beside those of the kernel, which makes and restores backups. */
export const backupErrors = defineErrors('backup', {
  owner_only: { status: 403, retry: false, message: (role: string) => `The role ${role} may not use backups: they contain the data of every person.`, hint: 'Ask the owner of this daemon.' },
});
