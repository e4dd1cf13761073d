/** What can go wrong while somebody writes an extension. */
import { defineErrors } from '@svc/api';

export const authorErrors = defineErrors('author', {
  not_empty: { status: 409, retry: false, message: (dir: string) => `${dir} exists and is not empty.`, hint: 'Choose a folder that does not exist yet.' },
  template: { status: 400, retry: false, message: (name: string) => `There is no template "${name}".`, hint: 'Choose route, tool, panel, hook, provider or channel.' },
  id: {
    status: 400,
    retry: false,
    message: (id: string) => `"${id}" cannot be the id of an extension.`,
    hint: 'Use publisher-name: lowercase letters and digits, words joined by single hyphens, at most 41 characters, such as acme-weather.',
  },
  no_extension: {
    status: 404,
    retry: false,
    message: (dir: string, file: string) => `${dir} contains no extension: there is no ${file}.`,
    hint: 'Give the folder, or create one: svc ext create NAME.',
  },
  no_bundler: { status: 500, retry: false, message: (dir: string) => `${dir} has no esbuild to build with.`, hint: 'npm install --save-dev @svc/testing, which brings it.' },
  no_testing: { status: 500, retry: false, message: (dir: string) => `${dir} has no @svc/testing to test with.`, hint: 'npm install --save-dev @svc/testing' },
  bundle: {
    status: 422,
    retry: false,
    message: (reasons: readonly string[]) => `The sources cannot be bundled: ${reasons.join('; ')}.`,
    hint: "Everything is bundled into one file, except @svc/api and Node's own modules.",
  },
  contributions: {
    status: 422,
    retry: false,
    message: (id: string, why: string) => `${id} has contributions that cannot be read: ${why}`,
    hint: 'activate() must register without waiting. What it registers must also be in extension.json.',
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
    message: (id: string, what: readonly string[]) => `${id} leaves something open after activate(): ${what.join(', ')}.`,
    hint: 'In activate(), only register. Use ctx.timers for timers, ctx.fetch for requests, and start() for work that begins later.',
  },
});
