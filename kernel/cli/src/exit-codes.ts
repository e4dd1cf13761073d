/** What the process answers to the shell. Documented in README.md and `svc --help`; never renumbered. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notRunning: 3,
  refused: 4,
  degraded: 5,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** In the order of `EXIT`. */
export const EXIT_CODES_TEXT = `Exit codes:
  0    ok
  1    the operation failed
  2    wrong usage
  3    the daemon is not running
  4    refused or not authorised
  5    running, but degraded
  130  interrupted`;
