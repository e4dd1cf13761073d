import { defineErrors } from '@svc/api';

/** Goes with each 401. */
export const WWW_AUTHENTICATE = { 'www-authenticate': 'Bearer' };

export const authErrors = defineErrors('auth', {
  key_missing: { status: 401, retry: false, message: () => 'This request needs an API key.', hint: 'Send "Authorization: Bearer <API_KEY>".' },
  key_invalid: { status: 401, retry: false, message: () => 'The API key is not valid.', hint: 'Compare it with api_key in config.toml, or SVC_API_KEY.' },
  person_disabled: { status: 401, retry: false, message: () => 'This person is disabled on this daemon.', hint: 'Ask an owner or admin of this daemon.' },
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
