import { defineErrors } from '@svc/api';

export const hubErrors = defineErrors('skillhub', {
  not_set: {
    status: 503,
    retry: false,
    message: (key: string) => `No hub of skills is set: ${key} in config.toml is empty.`,
    hint: 'Set it to the base address of a hub, such as https://hub.example.com/api/v1. The local registry needs none: GET /api/skills/registry.',
  },
  not_found: { status: 404, retry: false, message: (slug: string) => `The hub has no skill "${slug}".`, hint: 'GET /api/skillhub/search finds skills.' },
  gone: { status: 404, retry: false, message: (slug: string) => `The hub has withdrawn the skill "${slug}".`, hint: 'Do not install it from elsewhere without reading why.' },
  no_source: { status: 404, retry: false, message: (slug: string) => `The hub shows no source of the skill "${slug}".`, hint: 'Look at GET /api/skillhub/skill/{slug}.' },
  blocked: { status: 403, retry: false, message: (slug: string, why: string) => `The hub has blocked the skill "${slug}"${why}.`, hint: 'Do not install it.' },
  suspicious: {
    status: 403,
    retry: false,
    message: (slug: string, why: string) => `The hub calls the skill "${slug}" suspicious${why}.`,
    hint: 'Read it first: GET /api/skillhub/skill/{slug}/code. Send `accept_suspicious: true` to install it all the same.',
  },
  elsewhere: {
    status: 409,
    retry: false,
    message: (slug: string, where: string) => `The hub does not have the files of "${slug}": it hands them off to ${where}.`,
    hint: 'Read them there, and install that address with POST /api/skills/install.',
  },
  ambiguous: { status: 409, retry: false, message: (slug: string, why: string) => `The hub cannot tell which skill "${slug}" is: ${why}.`, hint: 'Send `owner`, the name of its publisher.' },
  busy: {
    status: 429,
    retry: true,
    message: (secs: number) => `The hub takes no more requests for now. It asks to wait ${secs} s.`,
    hint: 'Try again later, or store a token for the hub as the secret skillhub.token.',
  },
  upstream: { status: 502, retry: true, message: (why: string) => `The hub could not be asked: ${why}.`, hint: 'Check [skills] hub_url in config.toml, and whether this machine reaches it.' },
});
