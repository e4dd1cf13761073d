/** What every start of a child needs of the daemon. */
import type { TimerClock } from '../../clock/clock.js';
import type { ScopedLogger } from '../../log/log.js';
import { join, dirname } from 'node:path';
import { type ChildRegister, createChildRegister } from './child-register.js';
import { ownCgroup } from './child-tree.js';
import { type CommandSandbox, type CommandSandboxDeps, createCommandSandbox } from './sandbox/command-sandbox.js';

/** What is told to end has so long until it is made to. */
export const GRACE_MS = 3_000;

export interface Config {
  get(section: string): unknown;
  isClosed?(section: string): boolean;
}

export interface ChildHostDeps {
  config: Config;
  /** Folder of the child register, such as `<home>/data/children`. */
  registerDir: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: TimerClock;
  log: ScopedLogger;
  /** The folder whose files no guarded command may name, its own working directory excepted. */
  home?: string;
  /** Where cgroups of children are made; by default this process's own cgroup, where there is one. */
  cgroupOf?: () => Promise<string | undefined>;
  /** Awaited before a process of an agent starts without a sandbox, with the name of its program; rejects to refuse it. */
  beforeUnsandboxed?: (what: string) => Promise<void>;
  findBubblewrap?: CommandSandboxDeps['findBubblewrap'];
  resolveHost?: CommandSandboxDeps['resolveHost'];
  ownPort?: CommandSandboxDeps['ownPort'];
}

export interface ChildHost {
  readonly deps: ChildHostDeps;
  readonly register: ChildRegister;
  readonly sandbox: CommandSandbox;
  /** Found out at the first call. */
  cgroup(): Promise<string | undefined>;
}

export const createChildHost = (deps: ChildHostDeps): ChildHost => {
  let cgroup: Promise<string | undefined> | undefined;
  return {
    deps,
    register: createChildRegister(deps.registerDir, GRACE_MS, deps.clock, deps.log),
    sandbox: createCommandSandbox({
      config: deps.config,
      clock: deps.clock,
      folder: join(dirname(deps.registerDir), 'sandbox'),
      home: deps.home,
      log: deps.log,
      resolveHost: deps.resolveHost,
      ownPort: deps.ownPort,
      beforeUnsandboxed: deps.beforeUnsandboxed,
      findBubblewrap: deps.findBubblewrap,
    }),
    cgroup: () => {
      cgroup ??= (deps.cgroupOf ?? ownCgroup)();
      return cgroup;
    },
  };
};
