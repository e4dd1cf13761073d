import { defineErrors } from '@svc/api';

export const providerErrors = defineErrors('providers', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string) => `There is no provider named "${name}".`,
    hint: 'GET /api/providers lists them. A server of your own becomes one by PUT /api/providers/{name}/url with {"url": "…", "create": true}, or by a line under [provider_urls] in config.toml.',
  },
  empty_key: { status: 400, retry: false, message: () => "The key is empty: send `api_key` with the provider's key.", hint: 'Body: {"api_key": "…"}' },
  bad_key: { status: 400, retry: false, message: () => 'The key holds spaces or characters that no provider key has.', hint: 'Copy it again, as one line without quotes or line breaks.' },
  bad_name: {
    status: 400,
    retry: false,
    message: () => 'No provider can have this name.',
    hint: 'A name of your own has 1 to 64 small letters, digits and dashes, and begins with a letter or digit; default, auto, builtin, local-llm and codeassist are taken.',
  },
  no_key: {
    status: 400,
    retry: false,
    message: (name: string, env: string, suppressed: boolean) =>
      suppressed ? `${name} has no key: it was removed, and ${env} in the environment is not used since.` : `${name} has no key: none is kept, and ${env} is not set.`,
    hint: 'POST /api/providers/{name}/key sets one; POST /api/providers/{name}/enable uses the one in the environment again.',
  },
  no_url: { status: 400, retry: false, message: (name: string) => `Nobody said where ${name} is reached.`, hint: 'PUT /api/providers/{name}/url sets its base URL.' },
  no_address: { status: 400, retry: false, message: (name: string) => `${name} is part of the daemon and has no address.` },
  no_saved_url: {
    status: 409,
    retry: false,
    message: (name: string) => `No base URL was saved for ${name}: the one it has comes from config.toml or from the list of this build.`,
    hint: 'Change it under [provider_urls] in config.toml, or save another with PUT /api/providers/{name}/url.',
  },
  no_proxy: { status: 400, retry: false, message: () => 'Providers are reached directly: a `proxy_url` cannot be kept.', hint: 'Leave it out, and let `url` name what is to be reached.' },
  not_testable: { status: 400, retry: false, message: (name: string) => `${name} speaks a protocol that has no question to test it with.` },
  too_many: { status: 409, retry: false, message: (limit: number) => `${limit} base URLs are saved already, and no more are kept.`, hint: 'Take some back: DELETE /api/providers/{name}/url.' },
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
