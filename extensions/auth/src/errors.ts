import { defineErrors } from '@svc/api';

export const authErrors = defineErrors('auth', {
  key_missing: { status: 401, retry: false, message: () => 'This daemon asks for an API key and the request has none.', hint: 'Send "Authorization: Bearer <API_KEY>".' },
  key_invalid: { status: 401, retry: false, message: () => 'The API key is not valid.', hint: 'Compare it with api_key in config.toml, or SVC_API_KEY.' },
});
