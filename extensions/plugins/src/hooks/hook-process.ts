/**
 * One call of a hook: one process, one JSON object in, one line of JSON out.
 *
 * H1  The whole call has 30 seconds, starting the launcher included, or less where the plugin says so. Then the whole process tree ends.
 * H2  Standard output is read until the script has exited. A child of it that still holds it open is not waited for.
 * H3  More than 1 MiB on standard output or standard error ends it.
 * H4  Whatever fails is an outcome with a kind and a reason, never an exception: the message is answered.
 */
import { type ChildHandle, type Clock, type ExtensionContext, isSvcError, type SpawnOptions } from '@svc/api';
import { responseIn, type Taken } from './response.js';

export const MAX_STREAM_BYTES = 1_048_576;
const PIECE_BYTES = 65_536;
const STDERR_HEAD = 300;

export const FAULTS = [
  'ScriptNotFound',
  'PathTraversal',
  'IntegrityError',
  'ManifestError',
  'LauncherNotFound',
  'SpawnFailed',
  'Io',
  'Timeout',
  'ScriptError',
  'OutputTooLarge',
  'EmptyOutput',
  'InvalidOutput',
  'CircuitOpen',
  'QueueFull',
] as const;
export type FaultKind = (typeof FAULTS)[number];

export interface Fault {
  readonly kind: FaultKind;
  readonly message: string;
}

export type WallState = 'enforced' | 'lowered' | 'not enforced';

export interface Outcome {
  readonly fault: Fault | undefined;
  readonly taken: Taken | undefined;
  readonly exitCode: number | null;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  readonly walls: WallState;
}

export interface Start {
  readonly hook: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly options: SpawnOptions;
  readonly limitMs: number;
  readonly walls: 'enforced' | 'lowered';
  /** What the launcher is called, for messages. */
  readonly launcher: string;
}

export interface HookProcessDeps {
  readonly spawn: ExtensionContext['spawn'];
  readonly clock: Clock;
}

const EMPTY = new Uint8Array();

export const failed = (kind: FaultKind, message: string, walls: WallState = 'enforced'): Outcome => ({
  fault: { kind, message },
  taken: undefined,
  exitCode: null,
  stdout: EMPTY,
  stderr: EMPTY,
  walls,
});

export const callHook = async (deps: HookProcessDeps, start: Start, input: object): Promise<Outcome> => {
  const over = new AbortController();
  const child = new AbortController();
  const read: Read = { stdout: [], stderr: [], walls: start.walls };
  const late = deps.clock.sleep(start.limitMs, over.signal).then(
    () => {
      child.abort();
      return outcomeOf(read, null, { kind: 'Timeout', message: `Timeout: the hook ${start.hook} did not end within ${Math.ceil(start.limitMs / 1_000)} s and was ended` });
    },
    () => new Promise<Outcome>(() => undefined), // the call has ended
  );
  try {
    return await Promise.race([run(deps, start, input, child, read), late]);
  } finally {
    over.abort();
  }
};

interface Read {
  readonly stdout: Uint8Array[];
  readonly stderr: Uint8Array[];
  walls: WallState;
  /** Which stream was too much. */
  flooded?: string;
}

const run = async ({ spawn }: HookProcessDeps, start: Start, input: object, ending: AbortController, read: Read): Promise<Outcome> => {
  let child: ChildHandle;
  try {
    child = await spawn(start.command, start.args, { ...start.options, signal: ending.signal });
  } catch (error) {
    return outcomeOf(read, null, startFault(error, start));
  }
  if (start.walls === 'enforced' && child.sandbox?.isOn !== true) read.walls = 'not enforced';
  const flood = (stream: string): void => {
    read.flooded ??= stream;
    ending.abort();
  };
  const [end] = await Promise.all([child.exit, collect(child.stdout, read.stdout, () => flood('output')), collect(child.stderr, read.stderr, () => flood('standard error')), send(child, input)]);
  if (read.flooded !== undefined) return outcomeOf(read, end.exitCode, { kind: 'OutputTooLarge', message: `it wrote more than 1 MiB to its ${read.flooded}` });
  if (end.why === 'exceeded') return outcomeOf(read, end.exitCode, { kind: 'ScriptError', message: `it went beyond a limit of the sandbox: ${end.exceeded ?? ''}` });
  if (end.exitCode !== 0) return outcomeOf(read, end.exitCode, { kind: 'ScriptError', message: exitText(end.exitCode, end.signal, Buffer.concat(read.stderr)) });
  return outcomeOf(read, 0, undefined);
};

export const exitText = (code: number | null, signal: string | null, stderr: Buffer): string => {
  const said = stderr
    .subarray(0, STDERR_HEAD * 4)
    .toString('utf8')
    .trim()
    .slice(-STDERR_HEAD);
  return `${code === null ? `it was ended by ${signal ?? 'a signal'}` : `it ended with the exit code ${code}`}${said === '' ? '' : `: ${said}`}`;
};

const outcomeOf = (read: Read, exitCode: number | null, fault: Fault | undefined): Outcome => {
  const stdout = Buffer.concat(read.stdout);
  const taken = fault === undefined ? responseIn(stdout) : undefined;
  const lost: Fault | undefined =
    fault ??
    (taken
      ? undefined
      : stdout.toString('latin1').trim() === ''
        ? { kind: 'EmptyOutput', message: 'it wrote no response' }
        : { kind: 'InvalidOutput', message: 'no line of its output is JSON: the response is lost' });
  return { fault: lost, taken, exitCode, stdout, stderr: Buffer.concat(read.stderr), walls: read.walls };
};

export const startFault = (error: unknown, { launcher, hook }: Pick<Start, 'launcher' | 'hook'>): Fault => {
  if (!isSvcError(error)) return { kind: 'SpawnFailed', message: error instanceof Error ? error.message : String(error) };
  if (error.code === 'exec_not_found') return { kind: 'LauncherNotFound', message: `LauncherNotFound: ${launcher} for the hook ${hook} is not on PATH` };
  return { kind: 'SpawnFailed', message: error.message };
};

const collect = async (stream: AsyncIterable<Uint8Array>, into: Uint8Array[], flooded: () => void): Promise<void> => {
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.length;
    if (bytes > MAX_STREAM_BYTES) return flooded();
    into.push(piece);
  }
};

/** A script need not read what it gets. */
const send = async ({ stdin }: ChildHandle, input: object): Promise<void> => {
  const data = Buffer.from(`${JSON.stringify(input)}\n`);
  try {
    for (let at = 0; at < data.length; at += PIECE_BYTES) await stdin.write(data.subarray(at, at + PIECE_BYTES));
    stdin.end();
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
};
