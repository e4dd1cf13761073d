/** What a command could not do: what happened, why, and what fixes it. Printed once, by main.ts. */
import { EXIT, type ExitCode } from './exit-codes.js';

export interface FailureInit {
  /** Identity for scripts: the daemon's own code where it gave one, else `cli_…`. */
  code: string;
  exit?: ExitCode;
  /** HTTP status, when the daemon refused. */
  status?: number;
  why?: string | undefined;
  /** A command to run or a thing to do. */
  fix?: string | undefined;
  /** Leads to the daemon's log lines: `svc logs --request ID`. */
  requestId?: string | undefined;
  /** What the daemon said beside its words, as it is. */
  details?: unknown;
}

export class Failure extends Error {
  readonly code: string;
  readonly exit: ExitCode;
  readonly status: number | undefined;
  readonly why: string | undefined;
  readonly fix: string | undefined;
  readonly requestId: string | undefined;
  readonly details: unknown;

  constructor(what: string, init: FailureInit) {
    super(what);
    this.name = 'Failure';
    this.code = init.code;
    this.exit = init.exit ?? EXIT.failed;
    this.status = init.status;
    this.why = init.why;
    this.fix = init.fix;
    this.requestId = init.requestId;
    this.details = init.details;
  }
}

export const usageFailure = (what: string, fix?: string): Failure => new Failure(what, { code: 'cli_usage', exit: EXIT.usage, fix });

export const notRunning = (url: string, why: string): Failure =>
  new Failure('The daemon is not running.', { code: 'cli_daemon_not_running', exit: EXIT.notRunning, why: `nothing answers at ${url} (${why})`, fix: 'svc start' });

/** The stable shape of a failure under `--json`. */
/** `say` puts the commands in it as they are typed here. */
export const failureJson = (failure: Failure, say: (text: string) => string): Record<string, unknown> => ({
  error: say(failure.message),
  code: failure.code,
  exit_code: failure.exit,
  ...(failure.why === undefined ? {} : { why: say(failure.why) }),
  ...(failure.fix === undefined ? {} : { fix: say(failure.fix) }),
  ...(failure.requestId === undefined ? {} : { request_id: failure.requestId }),
  ...(failure.details === undefined ? {} : { details: failure.details }),
});
