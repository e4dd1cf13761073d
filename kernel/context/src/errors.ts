/** What a context refuses. The codes begin with `daemon_`: extensions and clients know them by that. */
import { defineErrors } from '@svc/api';

const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1).replace(/[.]0$/, '');

export const contextErrors = defineErrors('daemon', {
  not_declared: {
    status: 403,
    retry: false,
    message: (id: string, name: string, field: string) => `${id} may not use "${name}": its extension.json does not name it under "${field}".`,
    hint: 'Add it there, then build and reload the extension.',
  },
  foreign_name: { status: 403, retry: false, message: (id: string, name: string) => `${id} cannot register "${name}": its names must start with "${id}.".`, hint: 'Rename it.' },
  not_granted: {
    status: 403,
    retry: false,
    message: (id: string, grant: string) => `${id} has no grant "${grant}": add { "grant": "${grant}", "why": "…" } to "grants" in its extension.json.`,
    hint: 'Request the grant in the manifest, with a reason. It is read when the extension is loaded.',
  },
  bad_grants: { status: 500, retry: false, message: (id: string, faults: string) => `The grants in the extension.json of ${id} cannot be used: ${faults}.` },
  timer_twice: { status: 500, retry: false, message: (id: string, name: string) => `${id} has a timer "${name}" already.`, hint: 'Give the second one another name, or dispose of the first.' },
  timer_name: { status: 500, retry: false, message: (id: string, name: string) => `${id} has a timer "${name}"; timer names must be kebab-case, such as forget-keys.` },
  kind_not_own: {
    status: 403,
    retry: false,
    message: (id: string, kind: string) => `Runs of the kind "${kind}" are not ${id}'s: its extension.json does not declare this kind.`,
    hint: 'Declare it under `kinds`, or use the service of the extension that declares it.',
  },
  socket_not_own: { status: 403, retry: false, message: (id: string, socket: string) => `The socket "${socket}" is not ${id}'s: only the extension that registered it can see its connections.` },
  extension_stopped: { status: 503, retry: true, message: (id: string) => `${id} has stopped; this call came from a generation that no longer exists.` },
  no_actors: {
    status: 403,
    retry: false,
    message: (id: string) => `${id} is a third-party extension, and no actor is made for it.`,
    hint: 'Pass on the actor of the request, the tool call or your caller. Read rows without an owner with ctx.db.system.',
  },
  quota_files: {
    status: 507,
    retry: false,
    message: (id: string, used: number, limit: number) => `${id} has ${megabytes(used)} MB of files, and ${megabytes(limit)} MB is its limit: nothing was written.`,
    hint: 'Delete files in it, or raise quota_files_mb under [extensions] in config.toml, or files_mb for this extension under [extensions.quotas.<id>].',
  },
  quota_rows: {
    status: 507,
    retry: false,
    message: (id: string, used: number, limit: number) => `${id} has ${megabytes(used)} MB of rows, and ${megabytes(limit)} MB is its limit: nothing was written.`,
    hint: 'Delete rows in it, or raise quota_rows_mb under [extensions] in config.toml, or rows_mb for this extension under [extensions.quotas.<id>].',
  },
  quota_secrets: { status: 507, retry: false, message: (id: string, limit: number) => `${id} keeps ${limit} secrets, which is the limit.`, hint: 'Delete those that it no longer uses.' },
  quota_events: {
    status: 429,
    retry: true,
    message: (id: string, count: number, bytes: number) => `${id} published more than ${count} events or ${megabytes(bytes)} MB within a minute.`,
    hint: 'Publish less often, or combine several facts in one event.',
  },
});
