import { defineErrors } from '@svc/api';

/** Goes with each 401. */
export const WWW_AUTHENTICATE = { 'www-authenticate': 'Bearer' };

export const authErrors = defineErrors('auth', {
  key_missing: { status: 401, retry: false, message: () => 'This request needs an API key.', hint: 'Send "Authorization: Bearer <API_KEY>".' },
  key_invalid: { status: 401, retry: false, message: () => 'The API key is not valid.', hint: 'Compare it with api_key in config.toml, or SVC_API_KEY.' },
  person_disabled: { status: 401, retry: false, message: () => 'This person is disabled on this daemon.', hint: 'Ask an owner or admin of this daemon.' },
  person_not_found: { status: 404, retry: false, message: (id: string) => `Nobody is called ${id}.`, hint: 'svc people list shows everybody.' },
  person_above: {
    status: 403,
    retry: false,
    message: () => 'An admin gives no role above admin, and changes no owner.',
    hint: 'Ask an owner of this daemon.',
  },
  person_by_device: { status: 403, retry: false, message: () => 'A device changes no people.', hint: 'Log in with your own key, or sign in.' },
  person_yourself: { status: 409, retry: false, message: () => 'Nobody disables themselves or changes their own role.', hint: 'Ask another owner or admin.' },
  person_in_settings: {
    status: 409,
    retry: false,
    message: (name: string) => `The settings say which role ${name} has.`,
    hint: 'Change `role` of this name under [[users]] in config.toml.',
  },
  person_has_key: {
    status: 409,
    retry: false,
    message: () => 'The owner comes in by the key of the daemon, and can be neither disabled nor given another role.',
    hint: 'Change the key: svc key new --write.',
  },
  last_owner: { status: 409, retry: false, message: () => 'This is the last owner of the daemon.', hint: 'Make somebody else an owner first, or set a key: svc key new --write.' },
  link_over: { status: 401, retry: false, message: () => 'This login link was already used or has expired (two minutes).', hint: 'Create a new one: svc open.' },
  login_over: { status: 401, retry: false, message: () => 'This login has expired, or its key is no longer valid.', hint: 'Log in again: POST /auth/session with the key.' },
  login_not_needed: { status: 409, retry: false, message: () => 'This daemon has no API key, so no login is needed: every caller is the owner.', hint: 'Call without a key.' },
  foreign_page: {
    status: 403,
    retry: false,
    message: () => 'A login cookie works only for pages of this service, and the request does not come from one.',
    hint: 'Browsers send Origin and Sec-Fetch-Site. In a program, send "Authorization: Bearer <API_KEY>". For a page on another origin, add the origin to cors_origins in [api].',
  },
  too_many_attempts: {
    status: 429,
    retry: true,
    message: () => 'The API key is not valid, and too many wrong ones came from this address.',
    hint: 'The correct key still works. Compare yours with api_key in config.toml, or SVC_API_KEY.',
  },
});
