import { defineErrors } from '@svc/api';

export const configErrors = defineErrors('config', {
  section_unknown: { status: 500, retry: false, message: (section: string) => `No installed extension claims the config section "${section}".`, hint: 'Claim it in extension.json.' },
  home_invalid: {
    status: 400,
    retry: false,
    message: (variable: string, value: string, wanted: string) => `${variable} must be ${wanted}, got "${value}".`,
    hint: 'Correct or unset the environment variable.',
  },
  secrets_cut_off: {
    status: 500,
    retry: true,
    message: () => 'The secrets of the environment did not arrive: the program that started this one ended too early.',
    hint: 'Start it again.',
  },
  path_invalid: { status: 400, retry: false, message: (path: string) => `"${path}" is not a setting's path.`, hint: 'Use one to four names joined by dots, such as api.cors_origins.' },
  value_invalid: { status: 400, retry: false, message: (problem: string) => problem, hint: 'Nothing was written. Correct the value and try again.' },
  value_unwritable: {
    status: 400,
    retry: false,
    message: (path: string, why: string) => `${path} cannot be written: ${why}.`,
    hint: 'Use strings, whole or finite numbers, booleans, lists and tables of those.',
  },
  env_holds: {
    status: 409,
    retry: false,
    message: (path: string, variable: string) => `${path} is set by the environment variable ${variable}, which wins over config.toml.`,
    hint: 'Unset the variable and restart, or change it there.',
  },
  file_invalid: { status: 409, retry: false, message: (problem: string) => `config.toml cannot be changed while it has an error: ${problem}`, hint: 'Mend the file by hand first.' },
  edit_refused: {
    status: 409,
    retry: false,
    message: (path: string, why: string) => `${path} cannot be changed in place: ${why}.`,
    hint: 'Edit config.toml by hand; the daemon reads it again on reload.',
  },
  no_plain_key: { status: 409, retry: false, message: (file: string) => `${file} holds no API key as it is: there is nothing to hash.`, hint: 'svc key new --write   makes a key and stores its hash' },
  two_keys: {
    status: 409,
    retry: false,
    message: (file: string) => `${file} has an api_key and an api_key_hash of another key; both open the daemon.`,
    hint: 'Take one of the two lines out, then run it again.',
  },
  write_failed: { status: 500, retry: true, message: () => 'config.toml could not be written.', hint: 'Check that the folder is writable and the disk is not full.' },
});
