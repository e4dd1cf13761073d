/**
 * Hooks whose process stays: one line of JSON in, one line of JSON out.
 *
 * K1  Each hook has one process, and its calls take turns. It has the same time and the same limits of output for each call as a hook that starts anew.
 * K2  One that nobody called for a minute is stopped. One that crashed, or whose files were changed, is started anew by the next call.
 * K3  Of sixteen the one that was called least lately is stopped for another.
 */
import { type ChildEnd, type ChildHandle, type Clock, createTurns, isSvcError } from '@svc/api';
import { exitText, failed, type Fault, type HookProcessDeps, MAX_STREAM_BYTES, type Outcome, type Start, startFault, type WallState } from './hook-process.js';
import { responseIn } from './response.js';

const MAX_PROCESSES = 16;
const IDLE_MS = 60_000;
const NEWLINE = 10;

export interface Persistent {
  /** `version` is another one as soon as the plugin or its script is. */
  call(key: string, version: string, start: () => Promise<Start | Fault>, input: object, endAtMs: number): Promise<Outcome>;
  /** Starts its process before its first call. */
  warm(key: string, version: string, start: () => Promise<Start | Fault>): Promise<void>;
  /** Ends those of a plugin. Answers how many. */
  stop(plugin: string): number;
}

interface Reply {
  readonly line: Uint8Array | undefined;
  readonly fault: Fault | undefined;
  readonly exitCode: number | null;
}

interface Process {
  readonly version: string;
  readonly start: Start;
  readonly child: ChildHandle;
  readonly walls: WallState;
  end: ChildEnd | undefined;
  stderr: Uint8Array;
  /** Bytes since the call began. */
  bytes: number;
  waiting: ((reply: Reply) => void) | undefined;
  idle: AbortController;
}

export const createPersistent = (deps: HookProcessDeps & { readonly clock: Clock }): Persistent => {
  const processes = new Map<string, Process>();
  const inTurn = createTurns();
  const drop = (key: string, one: Process): void => {
    if (processes.get(key) === one) processes.delete(key);
    one.idle.abort();
    void one.child.kill();
  };
  const opened = async (key: string, version: string, start: () => Promise<Start | Fault>): Promise<Process | Outcome> => {
    const known = processes.get(key);
    if (known && known.end === undefined && known.version === version) {
      processes.delete(key);
      processes.set(key, known);
      return known;
    }
    if (known) drop(key, known);
    const how = await start();
    if ('kind' in how) return failed(how.kind, how.message);
    const [oldest] = processes;
    if (processes.size >= MAX_PROCESSES && oldest) drop(...oldest);
    const begun = await begin(deps, how, version);
    if ('child' in begun) processes.set(key, begun);
    return begun;
  };
  const ask = async (key: string, version: string, start: () => Promise<Start | Fault>, input: object, endAtMs: number): Promise<Outcome> => {
    const one = await opened(key, version, start);
    if (!('child' in one)) return one;
    one.idle.abort();
    const outcome = await answerOf(deps, one, input, Math.max(1, Math.round(endAtMs - deps.clock.mono())));
    if (outcome.fault) drop(key, one);
    else restLater(one, () => drop(key, one));
    return outcome;
  };
  const restLater = (one: Process, stop: () => void): void => {
    one.idle.abort();
    one.idle = new AbortController();
    deps.clock.sleep(IDLE_MS, one.idle.signal).then(stop, () => undefined); // it was called again
  };
  return {
    warm: (key, version, start) =>
      inTurn(key, async () => {
        const one = await opened(key, version, start);
        if ('child' in one) restLater(one, () => drop(key, one));
      }),
    call: (key, version, start, input, endAtMs) => inTurn(key, () => ask(key, version, start, input, endAtMs)),
    stop: (plugin) => {
      const own = [...processes].filter(([key]) => key.startsWith(`${plugin} `));
      for (const [key, one] of own) drop(key, one);
      return own.length;
    },
  };
};

const begin = async ({ spawn }: HookProcessDeps, start: Start, version: string): Promise<Process | Outcome> => {
  let child: ChildHandle;
  try {
    child = await spawn(start.command, start.args, start.options);
  } catch (error) {
    const fault = startFault(error, start);
    return failed(fault.kind, fault.message);
  }
  const walls = start.walls === 'enforced' && child.sandbox?.isOn !== true ? 'not enforced' : start.walls;
  const one: Process = { version, start, child, walls, end: undefined, stderr: new Uint8Array(), bytes: 0, waiting: undefined, idle: new AbortController() };
  const lines = readLines(one);
  void readErrors(one);
  // What it wrote last may still be on its way.
  void Promise.all([child.exit, lines]).then(([end]) => {
    one.end = end;
    reply(one, { line: undefined, exitCode: end.exitCode, fault: { kind: 'ScriptError', message: exitText(end.exitCode, end.signal, Buffer.from(one.stderr)) } });
  });
  return one;
};

const reply = (one: Process, answer: Reply): void => {
  const { waiting } = one;
  one.waiting = undefined;
  waiting?.(answer);
};

const flooded = (one: Process, stream: string): void => reply(one, { line: undefined, exitCode: null, fault: { kind: 'OutputTooLarge', message: `it wrote more than 1 MiB to its ${stream}` } });

const readLines = async (one: Process): Promise<void> => {
  let rest: Uint8Array = new Uint8Array();
  for await (const piece of one.child.stdout) {
    one.bytes += piece.length;
    if (one.bytes > MAX_STREAM_BYTES) return flooded(one, 'output');
    rest = rest.length === 0 ? piece : Buffer.concat([rest, piece]);
    for (let at = rest.indexOf(NEWLINE); at !== -1; at = rest.indexOf(NEWLINE)) {
      const line = rest.subarray(0, at);
      rest = rest.subarray(at + 1);
      // Lines of a log stand between, and what comes unasked is nobody's.
      if (one.waiting && responseIn(line)) reply(one, { line, fault: undefined, exitCode: null });
    }
  }
  if (one.waiting && rest.length > 0 && responseIn(rest)) reply(one, { line: rest, fault: undefined, exitCode: null });
};

const readErrors = async (one: Process): Promise<void> => {
  for await (const piece of one.child.stderr) {
    one.bytes += piece.length;
    if (one.bytes > MAX_STREAM_BYTES) return flooded(one, 'standard error');
    one.stderr = Buffer.concat([one.stderr, piece]).subarray(-8_192);
  }
};

const answerOf = async ({ clock }: { readonly clock: Clock }, one: Process, input: object, limitMs: number): Promise<Outcome> => {
  one.bytes = 0;
  one.stderr = new Uint8Array();
  const over = new AbortController();
  const answer = new Promise<Reply>((resolve) => (one.waiting = resolve));
  const late = clock.sleep(limitMs, over.signal).then(
    (): Reply => ({ line: undefined, exitCode: null, fault: { kind: 'Timeout', message: `Timeout: the hook ${one.start.hook} did not answer within ${Math.ceil(limitMs / 1_000)} s and was ended` } }),
    () => new Promise<Reply>(() => undefined), // it answered
  );
  try {
    void send(one, input);
    const { line, fault, exitCode } = await Promise.race([answer, late]);
    const stdout = line ?? new Uint8Array();
    return { fault, taken: line && responseIn(line), exitCode, stdout, stderr: one.stderr, walls: one.walls };
  } finally {
    one.waiting = undefined;
    over.abort();
  }
};

/** A script that does not read is late, or has ended: the call says so. */
const send = async (one: Process, input: object): Promise<void> => {
  const data = Buffer.from(`${JSON.stringify(input)}\n`);
  try {
    for (let at = 0; at < data.length; at += 65_536) await one.child.stdin.write(data.subarray(at, at + 65_536));
  } catch (error) {
    if (!isSvcError(error)) throw error;
  }
};
