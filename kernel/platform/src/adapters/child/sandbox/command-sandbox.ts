/**
 * The sandbox of commands: what an agent starts sees its workspace and what its manifest mounts, and nothing else.
 *
 * Z1  Not the daemon's home, other workspaces, /run, the environment, other processes or their ports; it has no network of its own (K1 to K5 of @svc/sandbox).
 * Z2  `required` never runs a command outside; `auto` does where the sandbox does not work, says why with each result, and asks `beforeUnsandboxed` first.
 * Z3  All that it started ends with it, whatever it did to get away: the first process inside takes the rest along.
 * Z4  Whether it works is tried with the real arguments, and tried again after a while where it did not.
 */
import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { AgentReach, SandboxState } from '@svc/api';
import { type Bind, type Bubblewrap, bubblewrapArguments, findBubblewrap, nodeBinds, probeSandbox, type SandboxPlan } from '@svc/sandbox';
import type { TimerClock } from '../../../clock/clock.js';
import { toolsSettings } from '../../../config/tools-section.js';
import type { ScopedLogger } from '../../../log/log.js';
import { execErrors } from '../../errors.js';
import type { ResolveHost } from '../../resolved-address.js';
import { SANDBOX_USER, writeAccountFiles } from './account-files.js';
import { type Bounds, boundsOf, limitLines } from './bounds.js';
import { createDiskRegistry } from './disk-registry.js';
import { forwarderWords, PROXY_ENVIRONMENT, PROXY_SOCKET } from './forwarder.js';
import { checkedMounts, hiddenFrom } from './mounts.js';
import { type CommandProxy, openProxy } from './proxy.js';
import { insideEnvironment, isSeen } from './seen.js';

/** One that does not work is tried again after so long: it may have been installed meanwhile. */
const RETRY_MS = 30_000;

export interface CommandSandboxDeps {
  readonly config: { get(section: string): unknown };
  readonly clock: TimerClock;
  /** Its own files: accounts, a folder to try with. */
  readonly folder: string;
  readonly log: Pick<ScopedLogger, 'warn'>;
  /** Name resolution; by default the system's. */
  readonly resolveHost?: ResolveHost | undefined;
  /** Where this daemon listens, once it does. */
  readonly ownPort?: (() => number | undefined) | undefined;
  /** The daemon's: never seen. */
  readonly home: string | undefined;
  /** Awaited before a command of an agent starts without a sandbox; rejects to refuse it. */
  readonly beforeUnsandboxed?: ((what: string) => Promise<void>) | undefined;
  /** The program; by default the system's. */
  readonly findBubblewrap?: (() => Promise<Bubblewrap | undefined>) | undefined;
}

/** How one command is started inside. */
export interface Inside {
  readonly workspace: string;
  readonly bounds: Bounds;
  readonly env: Record<string, string>;
  isSeen(program: string): boolean;
  /** What is started instead of the program. */
  wrapped(program: string, args: readonly string[]): readonly string[];
  /** For the shell that starts it. */
  readonly limits: string;
  /** When the command has ended, or did not begin. */
  left(): Promise<void>;
}

export interface Entered {
  readonly state: SandboxState;
  readonly inside?: Inside;
}

export interface CommandSandbox {
  state(): Promise<SandboxState>;
  /** Throws `exec_no_sandbox`, `exec_bad_cwd`, `exec_bad_mount`. */
  enter(command: string, cwd: string, env: Readonly<Record<string, string>>, reach: AgentReach): Promise<Entered>;
}

interface State {
  readonly deps: CommandSandboxDeps;
  readonly disk: ReturnType<typeof createDiskRegistry>;
  tried: { readonly atMs: number; readonly found: Promise<Ready | Extract<SandboxState, { isOn: false }>> } | undefined;
}

interface Ready {
  readonly isOn: true;
  readonly bubblewrap: Bubblewrap;
  readonly accounts: readonly Bind[];
}

export const createCommandSandbox = (deps: CommandSandboxDeps): CommandSandbox => {
  const state: State = { deps, disk: createDiskRegistry(deps.clock), tried: undefined };
  return {
    state: async () => {
      const found = await ready(state);
      return found.isOn ? { isOn: true } : found;
    },
    enter: (command, cwd, env, reach) => enter(state, command, cwd, env, reach),
  };
};

const ready = async (state: State): Promise<Ready | Extract<SandboxState, { isOn: false }>> => {
  const { deps } = state;
  if (toolsSettings(deps.config).sandbox === 'off') return { isOn: false, cause: '[tools] sandbox is "off"', fix: 'Set [tools] sandbox = "auto" in config.toml.' };
  const known = state.tried;
  const found = known && (await known.found);
  if (found?.isOn || (found && known && deps.clock.mono() - known.atMs < RETRY_MS)) return found;
  // Whoever came meanwhile tries already.
  if (state.tried === known) state.tried = { atMs: deps.clock.mono(), found: tryIt(deps) };
  return state.tried?.found ?? ready(state);
};

const tryIt = async (deps: CommandSandboxDeps): Promise<Ready | Extract<SandboxState, { isOn: false }>> => {
  const accounts = await writeAccountFiles(deps.folder);
  const workspace = join(deps.folder, 'workspace');
  await mkdir(workspace, { recursive: true });
  const plan = planOf(accounts, { real: workspace, cwd: workspace }, [], deps.home, boundsOf(toolsSettings(deps.config)));
  const probed = await probeSandbox(plan, deps.findBubblewrap ?? findBubblewrap);
  return 'fault' in probed ? { isOn: false, ...probed.fault } : { isOn: true, bubblewrap: probed.bubblewrap, accounts };
};

interface Workspace {
  readonly real: string;
  readonly cwd: string;
  /** Real folders below it that can be written to; undefined for all of it. */
  readonly writes?: readonly string[] | undefined;
}

const planOf = (accounts: readonly Bind[], { real, cwd, writes }: Workspace, mounts: readonly Bind[], home: string | undefined, bounds: Bounds): SandboxPlan => ({
  hostname: 'sandbox',
  user: SANDBOX_USER,
  tmpBytes: bounds.tmpBytes,
  folders: ['/tmp/home'],
  hidden: hiddenFrom(home),
  binds: [
    ...accounts,
    ...nodeBinds(process.execPath),
    ...mounts,
    { path: real, at: cwd, isWritable: writes === undefined },
    ...(writes ?? []).map((folder) => ({ path: join(real, folder), at: join(cwd, folder), isWritable: true })),
  ],
  chdir: cwd,
});

const enter = async (state: State, command: string, cwd: string, env: Readonly<Record<string, string>>, reach: AgentReach): Promise<Entered> => {
  const { deps } = state;
  const settings = toolsSettings(deps.config);
  const found = await ready(state);
  if (!found.isOn) {
    if (settings.sandbox === 'required') throw execErrors.no_sandbox(found.cause, found.fix);
    await deps.beforeUnsandboxed?.(command);
    return { state: found };
  }
  const bounds = boundsOf(settings);
  const workspace = { cwd, real: await realWorkspace(cwd), writes: reach.writes };
  for (const folder of reach.writes ?? []) await realWorkspace(join(workspace.real, folder));
  const mounts = await checkedMounts(reach.mounts, deps.home);
  const proxy = reach.hosts.length > 0 ? await openNetwork(deps, reach.hosts) : undefined;
  const socket = proxy ? [{ path: proxy.socket, at: PROXY_SOCKET, isWritable: true }] : [];
  const plan = planOf([...found.accounts, ...socket], workspace, mounts, deps.home, bounds);
  const seen = plan.binds.map(({ path, at }) => at ?? path);
  const { program: bubblewrap, features } = found.bubblewrap;
  return {
    state: { isOn: true },
    inside: {
      workspace: workspace.real,
      bounds,
      env: { ...insideEnvironment(env, seen), ...(proxy ? PROXY_ENVIRONMENT : {}) },
      isSeen: (program) => isSeen(program, seen),
      wrapped: (program, args) => [bubblewrap, ...bubblewrapArguments(plan, features), '--', ...processLimit(bounds), ...(proxy ? forwarderWords() : []), program, ...args],
      limits: limitLines(bounds, state.disk.isFull(workspace.real, bounds.diskBytes)),
      left: async () => {
        state.disk.measure(workspace.real, bounds.diskBytes);
        await proxy?.close();
      },
    },
  };
};

/** The rules of web_fetch, as they are set now. */
const openNetwork = ({ config, log, resolveHost, ownPort }: CommandSandboxDeps, hosts: readonly string[]): Promise<CommandProxy> => {
  // The section was validated when it was read.
  const { fetch = {} } = (config.get('web') ?? {}) as { fetch?: { ssrf_allowed_hosts?: readonly string[] } };
  return openProxy({
    hosts,
    allowed: fetch.ssrf_allowed_hosts ?? [],
    maxBytes: toolsSettings(config).sandbox_network_mb * 1024 * 1024,
    resolveHost,
    ownPort,
    refused: (host, why) => log.warn('A request of a command to a refused address was stopped.', { host, why }),
  });
};

/** Counted inside, where only its own processes are. The kernel exempts root: there the watch counts alone. */
const processLimit = ({ processes }: Bounds): string[] =>
  process.getuid?.() === 0 ? [] : ['/bin/sh', '-c', `ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null; exec "$@"`, 'sh'];

/** The folder above it is the daemon's; a link in its own place was put there by somebody else. */
const realWorkspace = async (cwd: string): Promise<string> => {
  const info = await lstat(cwd).catch(() => undefined);
  if (!info?.isDirectory()) throw execErrors.bad_cwd();
  return join(await realpath(dirname(cwd)), cwd.slice(dirname(cwd).length + 1));
};
