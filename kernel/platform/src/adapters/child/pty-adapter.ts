/**
 * Programs in a terminal of their own.
 *
 * Z1  Recorded as any child, and ended with its whole tree: HUP, after 3 s KILL. A daemon that dies hangs up by itself.
 * Z2  What is not taken is not read: a program that writes without end waits, and costs no memory.
 * Z3  The library is optional. Where it is missing or known to crash (musl), nothing starts and `state` says why.
 */
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { IPty } from '@lydell/node-pty';
import type { ChildEnd, PtyHandle, PtyOptions, PtyState } from '@svc/api';
import { execErrors } from '../errors.js';
import { childEnvironment } from './child-environment.js';
import { type ChildHost, GRACE_MS } from './child-host.js';
import type { ChildPolicy } from './child-policy.js';
import { signalGroup } from './child-register.js';
import { type ChildTree, createChildTree, endTree, outerMark } from './child-tree.js';
import { findProgram } from './find-program.js';
import { bootId, startTimeOf } from './process-identity.js';

const TERM = 'xterm-256color';
const MAX_OF_ONE = 16;

export interface PtyRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly options: PtyOptions;
}

export interface PtyOpener {
  open(policy: ChildPolicy, owner: string, request: PtyRequest): Promise<PtyHandle>;
  state(): Promise<PtyState>;
  close(): Promise<void>;
}

type Library = Pick<typeof import('@lydell/node-pty'), 'spawn'>;

export interface PtyDeps {
  /** The library. Rejects where it is not installed. */
  readonly load?: () => Promise<Library>;
  readonly isMusl?: () => boolean;
}

interface Living {
  readonly owner: string;
  readonly handle: PtyHandle;
}

export const createPtyOpener = (host: ChildHost, { load = () => import('@lydell/node-pty'), isMusl = usesMusl }: PtyDeps = {}): PtyOpener => {
  const living = new Set<Living>();
  const state = (): Promise<PtyState> => stateOf(load, isMusl);
  return {
    state,
    open: async (policy, owner, request) => {
      if ([...living].filter((one) => one.owner === owner).length >= MAX_OF_ONE) throw execErrors.busy(MAX_OF_ONE);
      const found = await state();
      if (!found.isThere) throw execErrors.no_terminal(found.cause, found.fix);
      const handle = await begin(host, policy, await load(), owner, request);
      const one = { owner, handle };
      living.add(one);
      void handle.exit.then(() => living.delete(one));
      return handle;
    },
    close: async () => void (await Promise.all([...living].map(({ handle }) => handle.kill()))),
  };
};

const FIX = 'Run `npm ci` without --omit=optional, on Linux with glibc, macOS or Windows.';

const stateOf = async (load: () => Promise<Library>, isMusl: () => boolean): Promise<PtyState> => {
  if (isMusl()) return { isThere: false, cause: 'the library for terminals (@lydell/node-pty) crashes on musl', fix: FIX };
  try {
    await load();
    return { isThere: true };
  } catch {
    return { isThere: false, cause: 'the library for terminals (@lydell/node-pty) is not installed for this system', fix: FIX };
  }
};

/** Its version of glibc stands in Node's report of itself, where it was built for that. */
const usesMusl = (): boolean => {
  if (process.platform !== 'linux') return false;
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  return header?.glibcVersionRuntime === undefined;
};

const begin = async (host: ChildHost, policy: ChildPolicy, library: Library, owner: string, { command, args, options }: PtyRequest): Promise<PtyHandle> => {
  const { deps } = host;
  if ([command, ...args].some((part) => part.includes('\0'))) throw execErrors.bad_command('it contains a NUL character');
  const cwd = await stat(options.cwd).catch(() => undefined);
  if (!cwd?.isDirectory()) throw execErrors.bad_cwd();
  const tree = createChildTree(await host.cgroup(), outerMark(deps.env));
  const env = { ...childEnvironment(deps.env, policy.allowed_env_vars ?? [], { ...options.env, TERM }), ...tree.env };
  const program = await findProgram(command, options.cwd, env.PATH ?? '');
  if (options.signal?.aborted) throw execErrors.cancelled(basename(command));
  const pty = library.spawn(program, [...args], { name: TERM, cols: options.cols, rows: options.rows, cwd: options.cwd, env, encoding: null });
  const exited = new Promise<{ code: number; signal: number | undefined }>((resolve) => pty.onExit(({ exitCode, signal }) => resolve({ code: exitCode, signal })));
  // Without an encoding it gives bytes, whatever its type says.
  pty.onData((piece: unknown) => options.output(typeof piece === 'string' ? Buffer.from(piece) : (piece as Uint8Array)));
  const forget = await record(host, pty.pid, tree, basename(command), options.ownerKey ?? owner);
  return handleOf(host, pty, tree, { exited, forget, signal: options.signal });
};

interface Begun {
  readonly exited: Promise<{ code: number; signal: number | undefined }>;
  readonly signal: AbortSignal | undefined;
  forget(): Promise<void>;
}

const handleOf = ({ deps: { clock, log } }: ChildHost, pty: IPty, tree: ChildTree, { exited, forget, signal }: Begun): PtyHandle => {
  let isOver = false;
  let isEnded = false;
  let cancelKill = (): void => undefined;
  const end = (): void => {
    if (isOver || isEnded) return;
    isEnded = true;
    // One that stands in a full terminal could not end.
    pty.resume();
    signalGroup(pty.pid, 'SIGHUP');
    cancelKill = clock.schedule(GRACE_MS, () => signalGroup(pty.pid, 'SIGKILL'));
  };
  signal?.addEventListener('abort', end, { once: true });
  const exit = exited.then(async ({ code, signal: by }): Promise<ChildEnd> => {
    isOver = true;
    cancelKill();
    signal?.removeEventListener('abort', end);
    await endTree(tree, clock).catch((cause: unknown) => log.warn('what a terminal left could not be ended', { pid: pty.pid, cause }));
    await forget().catch((cause: unknown) => log.warn('the record of a terminal that is gone could not be removed', { pid: pty.pid, cause }));
    return { exitCode: by ? null : code, signal: by ? String(by) : null, why: isEnded ? 'ended' : 'exit' };
  });
  if (signal?.aborted) end();
  const living = (act: () => void): void => {
    if (!isOver) act();
  };
  return {
    pid: pty.pid,
    write: (data) => living(() => pty.write(data)),
    resize: ({ cols, rows }) => living(() => pty.resize(cols, rows)),
    pause: () => living(() => pty.pause()),
    resume: () => living(() => pty.resume()),
    exit,
    kill: () => {
      end();
      return exit;
    },
  };
};

/** A program that is gone by now leaves nothing to record. */
const record = async (host: ChildHost, pid: number, tree: ChildTree, command: string, ownerKey: string): Promise<() => Promise<void>> => {
  await tree.adopt(pid);
  const startedAt = await startTimeOf(pid);
  if (startedAt === undefined) return async () => undefined;
  const { mark, cgroup } = tree;
  return host.register.add({ pid, startedAt, bootId: await bootId(), ownerKey, command, mark, cgroup });
};
