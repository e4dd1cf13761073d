/** What keeps a daemon from starting. */
import { defineErrors } from '@svc/api';

export const daemonErrors = defineErrors('daemon', {
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
  release_broken: { status: 500, retry: false, message: (file: string) => `The release index ${file} cannot be read.`, hint: 'Build again: npm run build.' },
  essential_failed: { status: 500, retry: false, message: (list: string) => `A required part of the daemon failed: ${list}`, hint: 'svc doctor, or the log, has the cause.' },
  audit_unavailable: {
    status: 503,
    retry: true,
    message: () => 'The audit trail cannot be written, so this was not done.',
    hint: 'See "svc doctor"; often the disk is full. "[audit] required" lists what is refused without an audit entry.',
  },
  unknown_extension: {
    status: 404,
    retry: false,
    message: (id: string, near: string | undefined) => `There is no extension "${id}".${near ? ` Did you mean ${near}?` : ''}`,
    hint: 'With the daemon running, "svc ext list" shows them all.',
  },
});
