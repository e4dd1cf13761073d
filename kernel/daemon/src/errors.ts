import { defineErrors } from '@svc/api';

const megabytes = (bytes: number): string => (bytes / 1_048_576).toFixed(1).replace(/[.]0$/, '');

export const daemonErrors = defineErrors('daemon', {
  already_running: {
    status: 409,
    retry: false,
    message: (home: string, pid: number, url: string | undefined) => `Another daemon (process ${pid}) already uses ${home}${url ? ` and answers on ${url}` : ''}.`,
    hint: 'Use that daemon, stop it with "svc stop", or set SVC_HOME to another folder.',
  },
  port_in_use: {
    status: 409,
    retry: false,
    message: (host: string, port: number) => `Port ${port} on ${host} is in use by another program.`,
    hint: 'Choose another with SVC_PORT=4546, or [api] listen_addr in config.toml.',
  },
  port_refused: {
    status: 403,
    retry: false,
    message: (host: string, port: number, code: string) => `Port ${port} on ${host} cannot be opened (${code}).`,
    hint: 'Choose another with SVC_PORT=4546, or [api] listen_addr in config.toml.',
  },
  open_to_network: {
    status: 400,
    retry: false,
    message: (host: string) => `The listen address ${host} can be reached from other machines, and no API key is set.`,
    hint: 'Set api_key in config.toml (or SVC_API_KEY), or listen on 127.0.0.1.',
  },
  home_unwritable: {
    status: 507,
    retry: false,
    message: (home: string, code: string) => `The home folder ${home} cannot be written (${code}).`,
    hint: 'Make it writable for this user, or set SVC_HOME to another folder.',
  },
  home_name: {
    status: 400,
    retry: false,
    message: (chars: number) => `The path of the home folder has ${chars} characters, or a name in it more than 255 bytes; the file system does not support that.`,
    hint: 'Set SVC_HOME to a shorter path.',
  },
  lock_blocked: {
    status: 409,
    retry: false,
    message: (file: string, what: string) => `${file} is ${what}; the daemon keeps its lock in a file of that name.`,
    hint: 'Move it away. No daemon created it.',
  },
  stale_lock: {
    status: 507,
    retry: false,
    message: (file: string, home: string, code: string) => `${file} is left over from an earlier daemon, and cannot be removed because ${home} cannot be written (${code}).`,
    hint: 'Make the home folder writable for this user, or set SVC_HOME to another folder.',
  },
  release_broken: { status: 500, retry: false, message: (file: string) => `The release index ${file} cannot be read.`, hint: 'Build again: npm run build.' },
  storage_setting: {
    status: 400,
    retry: false,
    message: () => 'The section [storage] of config.toml is not valid, so the database is unknown.',
    hint: 'Fix it (svc doctor shows the line), or remove it to use the file in the data folder.',
  },
  essential_failed: { status: 500, retry: false, message: (list: string) => `A required part of the daemon failed: ${list}`, hint: 'svc doctor, or the log, has the cause.' },
  unknown_extension: {
    status: 404,
    retry: false,
    message: (id: string, near: string | undefined) => `There is no extension "${id}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'With the daemon running, "svc ext list" shows them all.',
  },
  not_declared: {
    status: 403,
    retry: false,
    message: (id: string, name: string, field: string) => `${id} may not use "${name}": its extension.json does not name it under "${field}".`,
    hint: 'Add it there, then build and reload the extension.',
  },
  foreign_name: { status: 403, retry: false, message: (id: string, name: string) => `${id} cannot register "${name}": its names must start with "${id}.".`, hint: 'Rename it.' },
  bad_purge: {
    status: 400,
    retry: false,
    message: (named: string) => `A purge must name one owner, agent or session, not ${named === '' ? 'none' : named} was given.`,
    hint: 'Give exactly one non-empty value of ownerId, agentId and sessionId.',
  },
  not_granted: {
    status: 403,
    retry: false,
    message: (id: string, grant: string) => `${id} has no grant "${grant}": add { "grant": "${grant}", "why": "…" } to "grants" in its extension.json.`,
    hint: 'Request the grant in the manifest, with a reason. It is read when the extension is loaded.',
  },
  timer_twice: { status: 500, retry: false, message: (id: string, name: string) => `${id} has a timer "${name}" already.`, hint: 'Give the second one another name, or dispose of the first.' },
  timer_name: { status: 500, retry: false, message: (id: string, name: string) => `${id} has a timer "${name}"; timer names must be kebab-case, such as forget-keys.` },
  bad_grants: { status: 500, retry: false, message: (id: string, faults: string) => `The grants in the extension.json of ${id} cannot be used: ${faults}.` },
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
  owner_key: {
    status: 503,
    retry: true,
    message: (what: string, why: string) => `${what[0]?.toUpperCase() ?? ''}${what.slice(1)} was not started: it could reach this daemon's API, which has no key, and setting one failed: ${why}.`,
    hint: 'Set a key yourself: "svc key new --write". Or run the extension with isolation "walled" (bubblewrap).',
  },
  not_ready: { status: 503, retry: true, message: () => 'The daemon is starting.', hint: 'Try again in a moment.' },
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
  upgrade_failed: {
    status: 409,
    retry: false,
    message: (id: string, version: string, why: string) => `${id} ${version} keeps running: the other version does not run here. ${why}`,
    hint: 'Report this to its publisher; svc logs has the cause.',
  },
  restore_later: {
    status: 503,
    retry: false,
    message: (id: string, version: string, why: string) =>
      `The other version of ${id} does not run here (${why}), and the database did not answer when ${version} was being restored with its tables. ${id} is off.`,
    hint: 'Restart to restore it: svc stop, then svc start.',
  },
  restore_failed: {
    status: 500,
    retry: false,
    message: (id: string, version: string, why: string, failure: string) =>
      `The other version of ${id} does not run here (${why}). ${version} keeps running, but could not be recorded as the installed version: ${failure}`,
    hint: 'Before the next start: svc ext rollback.',
  },
});
