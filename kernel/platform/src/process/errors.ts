/** Of the home folder and its lock; the codes are those of the daemon that could not start. */
import { defineErrors } from '@svc/api';

export const homeErrors = defineErrors('daemon', {
  already_running: {
    status: 409,
    retry: false,
    message: (home: string, pid: number, url: string | undefined) => `Another daemon (process ${pid}) already uses ${home}${url ? ` and answers on ${url}` : ''}.`,
    hint: 'Use that daemon, stop it with "svc stop", or set SVC_HOME to another folder.',
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
});
