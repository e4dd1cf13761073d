import { defineErrors } from '@svc/api';

/** Goes with each 401. */
export const WWW_AUTHENTICATE = { 'www-authenticate': 'Bearer' };

export const authErrors = defineErrors('auth', {
  key_missing: { status: 401, retry: false, message: () => 'This daemon asks for an API key and the request has none.', hint: 'Send "Authorization: Bearer <API_KEY>".' },
  key_invalid: { status: 401, retry: false, message: () => 'The API key is not valid.', hint: 'Compare it with api_key in config.toml, or SVC_API_KEY.' },
  link_over: { status: 401, retry: false, message: () => 'This link was used already, or its two minutes are over.', hint: 'Make another one: svc open.' },
  login_over: { status: 401, retry: false, message: () => 'This login is over, or its key is not valid any more.', hint: 'Log in again: POST /auth/session with the key.' },
  login_not_needed: { status: 409, retry: false, message: () => 'This daemon has no API key, so there is nothing to log in to: whoever reaches it is the owner.', hint: 'Call without a key.' },
  foreign_page: {
    status: 403,
    retry: false,
    message: () => 'A login speaks for pages of this service only, and the request does not say that it comes from one.',
    hint: 'Browsers say it by Origin and Sec-Fetch-Site. A program sends "Authorization: Bearer <API_KEY>"; a page of yours elsewhere is named in cors_origins of [api].',
  },
  too_many_attempts: {
    status: 429,
    retry: true,
    message: () => 'The API key is not valid, and too many wrong ones came from this address.',
    hint: 'The right key works at once. Compare yours with api_key in config.toml, or SVC_API_KEY.',
  },
});
