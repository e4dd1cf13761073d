import { defineErrors } from '@svc/api';

export const providerErrors = defineErrors('providers', {
  not_found: {
    status: 404,
    retry: false,
    message: (name: string) => `There is no provider named "${name}".`,
    hint: 'GET /api/providers lists them. To add your own, send PUT /api/providers/{name}/url with {"url": "…", "create": true}, or add a line under [provider_urls] in config.toml.',
  },
  empty_key: { status: 400, retry: false, message: () => "The key is empty: send `api_key` with the provider's key.", hint: 'Body: {"api_key": "…"}' },
  two_values: { status: 400, retry: false, message: (one: string, other: string) => `${one} and ${other} are two names of one field, and have two values.`, hint: 'Send one of them.' },
  bad_key: { status: 400, retry: false, message: () => 'The key contains spaces or characters that provider keys never have.', hint: 'Copy it again, as one line without quotes or line breaks.' },
  bad_name: {
    status: 400,
    retry: false,
    message: () => 'This provider name is not allowed.',
    hint: 'Use 1 to 64 lowercase letters, digits and dashes, starting with a letter or digit. default, auto, builtin, local-llm and codeassist are reserved.',
  },
  no_key: {
    status: 400,
    retry: false,
    message: (name: string, env: string, suppressed: boolean) =>
      suppressed ? `${name} has no key: it was removed, and ${env} in the environment is ignored since then.` : `${name} has no key: none is stored, and ${env} is not set.`,
    hint: 'POST /api/providers/{name}/key sets one; POST /api/providers/{name}/enable uses the one in the environment again.',
  },
  no_such_key: {
    status: 404,
    retry: false,
    message: (name: string, label: string) => `${name} has no key labelled "${label}".`,
    hint: 'List the labels of its keys under [[credential_pools]] in config.toml, then set their values.',
  },
  no_url: { status: 409, retry: false, message: (name: string) => `No base URL is set for ${name}.`, hint: 'PUT /api/providers/{name}/url sets its base URL.' },
  no_address: { status: 409, retry: false, message: (name: string) => `${name} is part of the daemon and has no address.` },
  no_saved_url: {
    status: 409,
    retry: false,
    message: (name: string) => `No base URL was saved for ${name}: the one it has comes from config.toml or from the list of this build.`,
    hint: 'Change it under [provider_urls] in config.toml, or save another with PUT /api/providers/{name}/url.',
  },
  bad_proxy: {
    status: 400,
    retry: false,
    message: (why: string) => `The proxy is not valid: ${why}.`,
    hint: 'Write it as http://host:port, https://host:port or socks5://host:port. A login is read from HTTPS_PROXY in the environment of the daemon, where that names the same proxy.',
  },
  not_testable: { status: 409, retry: false, message: (name: string) => `${name} uses a protocol that cannot be tested.` },
  too_many: { status: 409, retry: false, message: (limit: number) => `${limit} base URLs are saved already, which is the limit.`, hint: 'Remove some: DELETE /api/providers/{name}/url.' },
  no_key_needed: { status: 400, retry: false, message: (name: string) => `${name} needs no key, so none can be stored.` },
  keys_unreadable: {
    status: 503,
    retry: false,
    message: (why: string) => `It is not known which providers have a key. ${why}`,
    hint: '`svc vault status` shows how to open the vault, and `svc vault reset` creates a new one. Keys in the environment keep working. Until then, `provider = "builtin"` under [default_model] selects the mock provider.',
  },
  default_in_config: {
    status: 409,
    retry: false,
    message: () => 'The default model is set under [default_model] in config.toml, which takes precedence.',
    hint: 'Change provider and model there, or remove the section and choose again.',
  },
  no_model: {
    status: 409,
    retry: false,
    message: (name: string) => `svc does not know which model of ${name} to use.`,
    hint: 'Name one: {"model": "…"}, or `svc providers default <provider> <model>`.',
  },
  not_usable: {
    status: 409,
    retry: false,
    message: (name: string) => `${name} uses a protocol that this version does not support, so it cannot be the default.`,
  },
  bad_url: {
    status: 400,
    retry: false,
    message: (why: string) => `The base URL cannot be used: ${why}.`,
    hint: 'Give an absolute http or https URL without user name, query or fragment, e.g. https://api.openai.com/v1',
  },
});
