/** The last word of a command that failed, and its exit code. */
import type { ExitCode } from '../exit-codes.js';
import { Failure, failureJson } from '../failure.js';
import type { GlobalFlags } from '../settings.js';
import { typed } from '../typed-command.js';
import { leaveWithReader } from './reader.js';
import { createTerminal } from './terminal.js';

/** Runs a command to its exit code; what went wrong is printed. */
export const reported = (flags: Pick<GlobalFlags, 'json' | 'color'>, work: () => Promise<ExitCode>): Promise<ExitCode> => {
  leaveWithReader();
  return work().catch((error: unknown) => complain(flags, error));
};

/** Prints what went wrong, once: to stderr for a person, as the one JSON value under --json. */
const complain = (flags: Pick<GlobalFlags, 'json' | 'color'>, error: unknown): ExitCode => {
  const out = createTerminal(flags.color === false);
  const failure = error instanceof Failure ? error : unexpected(error);
  if (flags.json === true) {
    out.json(failureJson(failure, typed));
    return failure.exit;
  }
  out.note(`${out.red('Error')}  ${typed(failure.message)}`);
  if (failure.why !== undefined) out.note(`  why   ${typed(failure.why)}`);
  if (failure.fix !== undefined) out.note(`  fix   ${out.cyan(typed(failure.fix))}`);
  if (failure.requestId !== undefined && failure.fix?.includes(failure.requestId) !== true) out.note(out.dim(typed(`  log   svc logs --request ${failure.requestId}`)));
  return failure.exit;
};

/** Nobody foresaw it: the text is all there is, and where it came from. */
const unexpected = (error: unknown): Failure =>
  new Failure(error instanceof Error ? error.message : String(error), { code: 'cli_unexpected', why: error instanceof Error ? firstFrame(error) : undefined, fix: 'svc doctor' });

const firstFrame = (error: Error): string | undefined =>
  error.stack
    ?.split('\n')
    .find((line) => line.trim().startsWith('at '))
    ?.trim();
