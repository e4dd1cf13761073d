/** What can go wrong while somebody writes an extension. */
import { defineErrors } from '@svc/api';

export const authorErrors = defineErrors('author', {
  not_empty: { status: 409, retry: false, message: (dir: string) => `${dir} is there and not empty.`, hint: 'Name a folder that is not there yet.' },
  template: { status: 400, retry: false, message: (name: string) => `There is no template "${name}".`, hint: 'There are route, tool, hook, provider and channel.' },
  id: {
    status: 400,
    retry: false,
    message: (id: string) => `"${id}" cannot be the id of an extension.`,
    hint: 'An id is publisher-name: small letters and digits, words joined by single hyphens, at most 41 of them: acme-weather.',
  },
  no_extension: { status: 404, retry: false, message: (dir: string, file: string) => `${dir} holds no extension: there is no ${file}.`, hint: 'Name the folder, or make one: svc ext create NAME.' },
  no_bundler: { status: 500, retry: false, message: (dir: string) => `${dir} has no esbuild to build with.`, hint: 'npm install --save-dev @svc/testing, which brings it.' },
  no_testing: { status: 500, retry: false, message: (dir: string) => `${dir} has no @svc/testing to test with.`, hint: 'npm install --save-dev @svc/testing' },
  bundle: {
    status: 422,
    retry: false,
    message: (reasons: readonly string[]) => `The sources cannot be bundled: ${reasons.join('; ')}.`,
    hint: 'All that it needs is bundled into one file, except @svc/api and the modules of Node.',
  },
  contributions: {
    status: 422,
    retry: false,
    message: (id: string, why: string) => `${id} cannot say what it contributes: ${why}`,
    hint: 'activate() registers and waits for nothing; what it registers stands in extension.json, too.',
  },
  route: {
    status: 422,
    retry: false,
    message: (id: string, route: string, why: string) => `${id} has the route ${route}, which ${why}.`,
    hint: 'Move it below /api/ext/<id>, or below /api/<id> where svc has no such name. For another path ask for the grant "routes:/path" in extension.json.',
  },
  leaks: {
    status: 422,
    retry: false,
    message: (id: string, what: readonly string[]) => `${id} leaves something open when it is loaded and activated: ${what.join(', ')}.`,
    hint: 'activate() registers; timers are ctx.timers, requests ctx.fetch, and what begins later begins in start().',
  },
});
