/** Of installing while the daemon runs; the codes are the daemon's. */
import { defineErrors } from '@svc/api';

export const thirdPartyErrors = defineErrors('daemon', {
  not_ready: { status: 503, retry: true, message: () => 'The daemon is starting.', hint: 'Try again in a moment.' },
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
