import { defineErrors } from '@svc/api';

export const providerErrors = defineErrors('providers', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string) => `There is no provider named "${name}".`,
    hint: 'GET /api/providers lists them. A server of your own becomes one by a line under [provider_urls] in config.toml.',
  },
  empty_key: { status: 400, retry: false, message: () => "The key is empty: send `api_key` with the provider's key.", hint: 'Body: {"api_key": "…"}' },
  bad_key: { status: 400, retry: false, message: () => 'The key holds spaces or characters that no provider key has.', hint: 'Copy it again, as one line without quotes or line breaks.' },
  no_key_needed: { status: 400, retry: false, message: (name: string) => `${name} needs no key, so none is kept for it.` },
  keys_unreadable: {
    status: 503,
    retry: false,
    message: (why: string) => `Nobody can tell which provider has a key. ${why}`,
    hint: '`svc vault status` says how to open the vault again, `svc vault reset` begins a new one; keys in the environment work meanwhile. With `provider = "builtin"` under [default_model] the stand-in answers meanwhile.',
  },
  default_in_config: {
    status: 409,
    retry: false,
    message: () => 'config.toml names the default under [default_model], and what stands there holds.',
    hint: 'Change provider and model there, or take the section out and choose again.',
  },
  no_model: {
    status: 400,
    retry: false,
    message: (name: string) => `Nobody knows which model of ${name} to use.`,
    hint: 'Name one: {"model": "…"}, or `svc providers default <provider> <model>`.',
  },
  not_usable: {
    status: 400,
    retry: false,
    message: (name: string) => `${name} speaks a protocol that this version does not, so it cannot be the default.`,
  },
  bad_url: {
    status: 400,
    retry: false,
    message: (why: string) => `The base URL cannot be used: ${why}.`,
    hint: 'Give an absolute http or https URL without user name, query or fragment, e.g. https://api.openai.com/v1',
  },
});
