/** A child process that lives as long as the work it serves: a server that is spoken to over its pipes. */
import type { SecretRef } from './secret-ref.js';

/** What a command of an agent can access in addition to its workspace. */
export interface AgentReach {
  /** As `[capabilities] network` grants them. */
  readonly hosts: readonly string[];
  readonly mounts: readonly SandboxMount[];
  /** Folders below the working directory that it may write to; the rest of it is only read then. By default it may write to all of it. */
  readonly writes?: readonly string[];
}

export interface SandboxMount {
  /** Absolute. */
  readonly path: string;
  readonly isWritable: boolean;
}

/** Whether commands of agents are kept apart by the operating system. */
export type SandboxState = { readonly isOn: true } | { readonly isOn: false; readonly cause: string; readonly fix: string };

export interface SpawnOptions {
  cwd: string;
  /** Values added to a scrubbed environment. */
  env?: Readonly<Record<string, string>>;
  /** Of the variables that `[exec_policy] allowed_env_vars` lets through, only these. */
  envNames?: readonly string[];
  /** Adds variables from secrets that only this adapter resolves. One that has no value is an error. */
  secretEnv?: Readonly<Record<string, SecretRef>>;
  /** `drop` discards standard error. With the default, `pipe`, you must read it, or the child blocks when the pipe is full. */
  stderr?: 'pipe' | 'drop';
  /** Its whole life; never more than `[exec_policy] timeout_secs` where that is set. Left out, it has no end, whatever is set: a server that an operator wants. */
  timeoutMs?: number;
  /** Nothing written by the child for this long ends it; never, when left out. */
  idleTimeoutMs?: number;
  /** Refuses arguments that name the daemon's own files: for commands that a model wrote. */
  guardsOwnFiles?: boolean;
  /** Ends the child when it aborts. */
  signal?: AbortSignal;
  /** Names it in the child register; default the extension. */
  ownerKey?: string;
  /** A program that no sandbox keeps from the network: callers of this daemon need a key before it starts, since it could call as one. */
  isUnconfined?: boolean;
  /** As `ExecOptions.agent`. */
  agent?: AgentReach;
}

export interface ChildEnd {
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** `exit`: the program ended. `timeout`: it reached its time limit. `idle`: it had no output for too long. `ended`: by `kill`, the signal, or the end of the generation. `exceeded`: it exceeded a limit of the sandbox. */
  readonly why: 'exit' | 'timeout' | 'idle' | 'ended' | 'exceeded';
  /** Which bound that was. */
  readonly exceeded?: string;
}

/** Ends with its whole tree when the generation that started it stops. */
export interface ChildHandle {
  readonly pid: number;
  /** Of a command of an agent: what keeps it apart. */
  readonly sandbox?: SandboxState;
  readonly stdin: {
    /** Resolves when the child has taken enough of it that more may be written. Rejects with `exec_stdin_closed`, or `exec_stdin_full` where 1 MiB waits already. */
    write(data: string | Uint8Array): Promise<void>;
    end(): void;
  };
  /** Each can be read once, piece by piece. Unread data stays in the pipe and blocks the child. Leaving the loop discards the rest. */
  readonly stdout: AsyncIterable<Uint8Array>;
  readonly stderr: AsyncIterable<Uint8Array>;
  /** When it and its tree are gone. Never rejects. */
  readonly exit: Promise<ChildEnd>;
  /** TERM to the whole tree, after 3 s KILL. The same promise as `exit`. */
  kill(): Promise<ChildEnd>;
}
