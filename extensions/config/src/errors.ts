import { defineErrors } from '@svc/api';

/** What is wrong with a change of a setting is said by the kernel, in its own `config_…` errors. */
export const configAreaErrors = defineErrors('config', {
  reload_refused: { status: 400, retry: false, message: (problem: string) => problem, hint: 'The former settings stay in force. Correct the file; it is read again when it is saved.' },
});
