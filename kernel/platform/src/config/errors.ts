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
  path_invalid: { status: 400, retry: false, message: (path: string) => `"${path}" is not a setting's path.`, hint: 'Use one to three names joined by dots, such as api.cors_origins.' },
  path_too_deep: {
    status: 400,
    retry: false,
    message: (path: string, names: number) => `"${path}" has ${names} names; a setting's path has three at most.`,
    hint: 'Give the setting above it as a whole, or edit config.toml by hand.',
  },
  setting_unknown: { status: 400, retry: false, message: (path: string, near: string) => `${path} is not a setting.${near}`, hint: '`svc config show` and GET /api/config/schema name all.' },
  setting_waits: {
    status: 400,
    retry: false,
    message: (path: string, instead: string) => `${path} waits for its area: nothing here reads it yet.${instead}`,
    hint: 'Nothing was written. `svc config show` names the settings that hold.',
  },
  by_hand: {
    status: 403,
    retry: false,
    message: (path: string, why: string) => `${path} is not changed by programs: ${why}.`,
    hint: 'Change it in config.toml: `svc config edit`. Keys of providers: `svc providers set-key`; the key of this daemon: `svc key new --write`.',
  },
  value_secret: {
    status: 400,
    retry: false,
    message: (path: string) => `The value for ${path} holds a secret of this daemon, and a program writes none into a file.`,
    hint: 'Nothing was written. Keep secrets in the vault or the environment.',
  },
  read_only: {
    status: 423,
    retry: false,
    message: (file: string) => `${file} is read-only: its owner took away everybody's right to write it.`,
    hint: 'Change it where it is managed, or give the right back: chmod u+w.',
  },
  changed_meanwhile: {
    status: 409,
    retry: true,
    message: () => 'config.toml was changed by somebody else meanwhile; their change stays, and this one was not made.',
    hint: 'Read the settings again, then repeat the change.',
  },
  start_refused: {
    status: 400,
    retry: false,
    message: (problem: string) => `With this the daemon would not start again: ${problem}`,
    hint: 'Nothing was written.',
  },
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
  write_failed: { status: 500, retry: true, message: (why: string) => `config.toml could not be written: ${why}.`, hint: 'Check that the folder is writable and the disk is not full.' },
});
