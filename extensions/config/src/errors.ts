import { defineErrors } from '@svc/api';

/** What is wrong with a change of a setting is said by the kernel, in its own `config_…` errors. */
export const configAreaErrors = defineErrors('config', {
  owner_confirms: {
    status: 403,
    retry: false,
    message: (path: string) => `Only the owner of this daemon can confirm a change of ${path}.`,
    hint: 'Ask the owner to turn it on, or to change it in config.toml.',
  },
  reload_refused: { status: 400, retry: false, message: (problem: string) => problem, hint: 'The previous settings stay in effect. Fix the file; svc reloads it when you save it.' },
});
