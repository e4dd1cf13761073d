/**
 * The terminals of open sockets.
 *
 * T2  A shell and all that it started end with its socket. Windows of tmux stay (tmux.ts).
 * T3  What the client does not take is not read from the shell: output without end costs no memory.
 * T4  Whoever has an authenticator gives a code before the shell starts.
 * T5  Start and end are in the audit, with who and how long; what was typed is nowhere.
 * T6  A terminal into which nothing is typed for as long as the settings say ends, with what runs in it.
 */
import { type Actor, type ChildEnd, type Clock, type Connection, type Ids, isSvcError, type Logger, type Pty, type PtyHandle, type TerminalSize } from '@svc/api';
import { terminalErrors } from './errors.js';
import { type ClientFrame, createOutputFrames, DEFAULT_SIZE, frameOf } from './frames.js';
import type { Tmux } from './tmux.js';

/** More than this waits at the client: the shell is paused. */
const PAUSE_ABOVE_BYTES = 262_144;
const RESUME_BELOW_BYTES = 65_536;
const LOOK_AGAIN_MS = 10;
const MINUTE_MS = 60_000;

export interface TerminalsDeps {
  readonly pty: Pty;
  readonly tmux: Tmux;
  readonly clock: Pick<Clock, 'sleep' | 'mono'>;
  readonly ids: Pick<Ids, 'hex'>;
  readonly log: Logger;
  readonly closing: AbortSignal;
  readonly home: string;
  shell(): string;
  /** 0: none. */
  idleMinutes(): number;
  /** Whether this person gives a code first. */
  needsCode(actor: Actor): Promise<boolean>;
  /** Throws where the code is wrong. */
  checkCode(actor: Actor, code: string): Promise<void>;
  note(actor: Actor, type: 'terminal_started' | 'terminal_ended', details: Readonly<Record<string, string | number | boolean | null>>): Promise<void>;
}

interface Terminal {
  readonly conn: Connection;
  /** The last frame of the client, on the clock that only goes forward. */
  usedAt: number;
  pty: PtyHandle | undefined;
  /** Of tmux, where it shows a window. */
  session: string | undefined;
  size: TerminalSize;
  isClosed: boolean;
  isPaused: boolean;
  /** What comes before the shell is there waits for it. */
  starting: Promise<void>;
}

export interface Terminals {
  opened(conn: Connection): Promise<void>;
  message(conn: Connection, text: string): Promise<void>;
  closed(conn: Connection): Promise<void>;
  /** T6. */
  endIdle(): void;
}

export const createTerminals = (deps: TerminalsDeps): Terminals => {
  const open = new Map<string, Terminal>();
  return {
    opened: async (conn) => {
      const { cols, rows } = conn.state as Partial<TerminalSize>;
      const terminal: Terminal = {
        conn,
        usedAt: deps.clock.mono(),
        pty: undefined,
        session: undefined,
        size: { cols: cols ?? DEFAULT_SIZE.cols, rows: rows ?? DEFAULT_SIZE.rows },
        isClosed: false,
        isPaused: false,
        starting: Promise.resolve(),
      };
      open.set(conn.id, terminal);
      terminal.starting = begin(deps, conn, terminal);
      await terminal.starting;
    },
    message: async (conn, text) => {
      const terminal = open.get(conn.id);
      // Its shell ended with the generation that started it.
      if (!terminal) return conn.close(1012, 'the terminal was restarted; connect again');
      terminal.usedAt = deps.clock.mono();
      await take(deps, conn, terminal, frameOf(text));
    },
    closed: async (conn) => {
      const terminal = open.get(conn.id);
      open.delete(conn.id);
      if (!terminal) return;
      terminal.isClosed = true;
      await terminal.pty?.kill();
    },
    endIdle: () => {
      const minutes = deps.idleMinutes();
      if (minutes === 0) return;
      const since = deps.clock.mono() - minutes * MINUTE_MS;
      for (const { conn, isClosed, usedAt } of open.values()) {
        if (isClosed || usedAt > since) continue;
        const { code, hint, message } = terminalErrors.idle(minutes);
        conn.send({ type: 'error', content: message, code, hint });
        conn.close(1000, 'nothing was typed');
      }
    },
  };
};

const begin = async (deps: TerminalsDeps, conn: Connection, terminal: Terminal): Promise<void> => {
  if (await deps.needsCode(conn.actor)) conn.send({ type: 'locked' });
  else await start(deps, conn, terminal);
};

const take = async (deps: TerminalsDeps, conn: Connection, terminal: Terminal, frame: ClientFrame): Promise<void> => {
  if (frame.type === 'close') return conn.close(1000, 'closed');
  await terminal.starting;
  if (terminal.isClosed) return;
  if (frame.type === 'resize') {
    terminal.size = { cols: frame.cols, rows: frame.rows };
    return terminal.pty?.resize(terminal.size);
  }
  if (frame.type === 'unlock') {
    if (terminal.pty) return;
    await deps.checkCode(conn.actor, frame.code);
    terminal.starting = start(deps, conn, terminal);
    return terminal.starting;
  }
  if (!terminal.pty) throw terminalErrors.locked();
  if (frame.type === 'input') return terminal.pty.write(frame.data);
  if (terminal.session === undefined) throw terminalErrors.bad_frame('this terminal shows no window');
  await deps.tmux.select(conn.actor.ownerId, frame.window, terminal.session);
  conn.send({ type: 'active_window', window_id: frame.window });
};

const start = async (deps: TerminalsDeps, conn: Connection, terminal: Terminal): Promise<void> => {
  if (terminal.isClosed) return;
  const { pty: library, log } = deps;
  const frames = createOutputFrames();
  try {
    const { command, args } = await programOf(deps, conn, terminal);
    const startedAt = deps.clock.mono();
    const pty = await library.open(command, args, {
      ...terminal.size,
      cwd: deps.home,
      ownerKey: `terminal:${conn.id}`,
      output: (piece) => {
        if (terminal.isClosed) return;
        const frame = frames(piece);
        if (frame) conn.send(frame);
        if (conn.unsentBytes > PAUSE_ABOVE_BYTES) void hold(deps, conn, terminal).catch((cause: unknown) => log.debug('a terminal was not read on', { cause }));
      },
    });
    terminal.pty = pty;
    void pty.exit.then((end) => ended(deps, conn, terminal, end, startedAt)).catch((cause: unknown) => log.warn('the end of a terminal was not recorded', { cause }));
    if (terminal.isClosed) return void (await pty.kill());
    conn.send({ type: 'started', shell: command, pid: pty.pid, isRoot: process.getuid?.() === 0 });
    if (typeof conn.state.window === 'string') conn.send({ type: 'active_window', window_id: conn.state.window });
    await deps.note(conn.actor, 'terminal_started', { pid: pty.pid, program: command, address: conn.ip });
  } catch (error) {
    if (!isSvcError(error)) throw error;
    conn.send({ type: 'error', content: error.message, code: error.code, ...(error.hint ? { hint: error.hint } : {}) });
    conn.close(1011, 'the terminal could not be started');
  }
};

const programOf = async (deps: TerminalsDeps, conn: Connection, terminal: Terminal): Promise<{ command: string; args: readonly string[] }> => {
  const { window } = conn.state;
  if (typeof window !== 'string') return { command: deps.shell(), args: [] };
  terminal.session = `s${deps.ids.hex(8)}`;
  return { command: 'tmux', args: await deps.tmux.attach(conn.actor.ownerId, window, terminal.session) };
};

/** T3. Until the client has taken most of it. */
const hold = async ({ clock, closing }: TerminalsDeps, conn: Connection, terminal: Terminal): Promise<void> => {
  if (terminal.isPaused) return;
  terminal.isPaused = true;
  terminal.pty?.pause();
  while (!terminal.isClosed && conn.unsentBytes > RESUME_BELOW_BYTES) await clock.sleep(LOOK_AGAIN_MS, closing);
  terminal.isPaused = false;
  terminal.pty?.resume();
};

const ended = async (deps: TerminalsDeps, conn: Connection, terminal: Terminal, { exitCode, signal }: ChildEnd, startedAt: number): Promise<void> => {
  const pid = terminal.pty?.pid ?? 0;
  if (!terminal.isClosed) {
    conn.send({ type: 'exit', code: exitCode, signal });
    conn.close(1000, 'the shell ended');
  }
  await deps.note(conn.actor, 'terminal_ended', { pid, exit_code: exitCode, signal, secs: Math.round((deps.clock.mono() - startedAt) / 1_000) });
};
