/**
 * Windows that stay when a terminal is closed.
 *
 * X1  One tmux server per generation, started as a child: its windows live until svc, or this extension, stops.
 * X2  A person's windows are a session of their own. Each terminal sees them through a session of its own, which goes with it.
 */
import { createHash } from 'node:crypto';
import { type ChildHandle, type Clock, type ExtensionContext, type Ids, isSvcError, type Logger } from '@svc/api';
import { terminalErrors } from './errors.js';

export interface TmuxDeps extends Pick<ExtensionContext, 'exec' | 'spawn'> {
  readonly clock: Pick<Clock, 'sleep'>;
  readonly ids: Pick<Ids, 'hex'>;
  readonly log: Logger;
  readonly home: string;
  /** The shell of new windows. */
  shell(): string;
  isEnabled(): boolean;
  maxWindows(): number;
}

export interface Window {
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

export interface Tmux {
  isThere(): Promise<boolean>;
  list(ownerId: string): Promise<Window[]>;
  create(ownerId: string, name: string | undefined): Promise<Window>;
  rename(ownerId: string, id: string, name: string): Promise<void>;
  remove(ownerId: string, id: string): Promise<void>;
  /** The arguments of tmux that show this window, in a session of this name. */
  attach(ownerId: string, id: string, session: string): Promise<readonly string[]>;
  select(ownerId: string, id: string, session: string): Promise<void>;
}

const PROGRAM = 'tmux';
const START_TRIES = 100;
const START_PAUSE_MS = 20;
/** Without a locale tmux writes other white space as underscores. */
const FORMAT = '#{window_id} #{window_active} #{window_name}';

export const createTmux = (deps: TmuxDeps): Tmux => {
  const socket = `svc-${deps.ids.hex(8)}`;
  let server: Promise<ChildHandle> | undefined;
  const run = (...args: readonly string[]) => deps.exec(PROGRAM, ['-L', socket, '-f', '/dev/null', ...args], { cwd: deps.home });
  const started = async (): Promise<void> => {
    if (!deps.isEnabled()) throw terminalErrors.no_tmux('tmux_enabled is false');
    server ??= start(deps, socket, run).then((child) => {
      void child.exit.then(() => {
        server = undefined;
      });
      return child;
    });
    try {
      await server;
    } catch (error) {
      server = undefined;
      throw error;
    }
  };
  const list = async (ownerId: string): Promise<Window[]> => {
    await started();
    const { exitCode, stdout } = await run('list-windows', '-t', `=${sessionOf(ownerId)}`, '-F', FORMAT);
    if (exitCode !== 0) return [];
    return stdout.split('\n').flatMap((line) => {
      const [id, active, ...name] = line.split(' ');
      return id === undefined || id === '' ? [] : [{ id, active: active === '1', name: name.join(' ') }];
    });
  };
  const owned = async (ownerId: string, id: string): Promise<Window> => {
    const found = (await list(ownerId)).find((one) => one.id === id);
    if (!found) throw terminalErrors.window_not_found(id);
    return found;
  };
  return {
    isThere: async () => {
      if (!deps.isEnabled()) return false;
      return deps.exec(PROGRAM, ['-V'], { cwd: deps.home }).then(
        ({ exitCode }) => exitCode === 0,
        () => false,
      );
    },
    list,
    create: async (ownerId, name) => {
      const before = await list(ownerId);
      if (before.length >= deps.maxWindows()) throw terminalErrors.window_limit_reached(deps.maxWindows()).with({ details: { max: deps.maxWindows() } });
      const named = name === undefined ? [] : ['-n', name];
      const how = before.length === 0 ? ['new-session', '-d', '-s', sessionOf(ownerId)] : ['new-window', '-d', '-t', `=${sessionOf(ownerId)}:`];
      const { exitCode, stdout, stderr } = await run(...how, ...named, '-c', deps.home, '-P', '-F', '#{window_id}', deps.shell());
      if (exitCode !== 0) throw terminalErrors.no_tmux(stderr.trim().slice(0, 200));
      return owned(ownerId, stdout.trim());
    },
    rename: async (ownerId, id, name) => {
      await owned(ownerId, id);
      await run('rename-window', '-t', id, '--', name);
    },
    remove: async (ownerId, id) => {
      await owned(ownerId, id);
      await run('kill-window', '-t', id);
    },
    attach: async (ownerId, id, session) => {
      await owned(ownerId, id);
      const { exitCode, stderr } = await run('new-session', '-d', '-t', `=${sessionOf(ownerId)}`, '-s', session, ';', 'set-option', '-t', session, 'destroy-unattached', 'off');
      if (exitCode !== 0) throw terminalErrors.no_tmux(stderr.trim().slice(0, 200));
      await run('select-window', '-t', `${session}:${id}`);
      return ['-L', socket, '-u', 'attach-session', '-t', `=${session}`, ';', 'set-option', 'destroy-unattached', 'on'];
    },
    select: async (ownerId, id, session) => {
      await owned(ownerId, id);
      await run('select-window', '-t', `${session}:${id}`);
    },
  };
};

/** Names of tmux hold no dots and colons. */
const sessionOf = (ownerId: string): string => `p${createHash('sha256').update(ownerId).digest('hex').slice(0, 16)}`;

/** In the foreground: a server that leaves would be ended with the call that began it. */
const start = async (deps: TmuxDeps, socket: string, run: (...args: readonly string[]) => Promise<{ exitCode: number | null }>): Promise<ChildHandle> => {
  let child: ChildHandle;
  try {
    child = await deps.spawn(PROGRAM, ['-L', socket, '-f', '/dev/null', '-D'], { cwd: deps.home, env: { TERM: 'xterm-256color' }, stderr: 'drop', isUnconfined: true });
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'exec_not_found') throw error;
    throw terminalErrors.no_tmux('tmux is not installed');
  }
  let isGone = false;
  void child.exit.then(() => {
    isGone = true;
  });
  for (let tries = 0; tries < START_TRIES && !isGone; tries += 1) {
    if ((await run('show-options', '-s', 'exit-empty')).exitCode === 0) return child;
    await deps.clock.sleep(START_PAUSE_MS);
  }
  await child.kill();
  throw terminalErrors.no_tmux('tmux did not start; it must be 3.2 or newer');
};
