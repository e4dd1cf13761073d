/** The hooks of the kernel itself: their payload types, and one table with kind, policy and budget. */
import type { Actor } from './actor.js';
import type { HookSpec } from './hooks.js';
import type { AnyTool, Capabilities, ToolCall, ToolOutput } from './tools.js';

/** A request before its caller is known. */
export interface Admission {
  readonly ip: string;
  /** By what callers are counted: an IPv4 address, or the /64 around an IPv6 one, all of which one customer usually has. */
  readonly network: string;
  readonly method: string;
  readonly path: string;
  readonly routeId: string;
  readonly cost: number;
  readonly isLoopback: boolean;
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface Authorization {
  readonly actor: Actor;
  readonly method: string;
  readonly routeId: string;
  readonly permission: string;
}

export interface Upgrade {
  readonly actor: Actor;
  readonly ip: string;
  readonly routeId: string;
  /** Open sockets of the same network. */
  readonly openFromIp: number;
}

/** A tool call that waits for judgement. */
export interface ToolRequest {
  readonly tool: AnyTool;
  readonly args: Readonly<Record<string, unknown>>;
  readonly call: ToolCall;
  /** Hex SHA-256 of the tool's name and the canonical JSON of its arguments. */
  readonly digest: string;
  /** Earlier calls of this run, oldest first: what loop guards count. */
  readonly earlier: ReadonlyArray<{ readonly digest: string; readonly status: string }>;
}

export interface GreetingLine {
  /** One short word, e.g. `model`. */
  readonly label: string;
  readonly value: string;
  /** Why, or what to do; shown after the value, quieter. */
  readonly note?: string;
}

export interface DoctorFinding {
  readonly check: string;
  readonly result: 'pass' | 'warn' | 'fail';
  readonly message: string;
  /** The command or setting that mends it. */
  readonly fix?: string;
}

declare module './hooks.js' {
  interface HookMap {
    'http.admit': VetoHook<Admission>;
    'http.authenticate': AskHook<Admission, Actor>;
    'http.authorize': VetoHook<Authorization>;
    'socket.upgrade': VetoHook<Upgrade>;
    /** `capabilities` and `ownerId` stand when the list is for one agent: a tap may leave out what that agent could never run. */
    'tool.list': PipeHook<readonly AnyTool[], { readonly agentId: string; readonly ownerId?: string; readonly capabilities?: Capabilities }>;
    /** What a call may use while it runs: a tap takes away what the owner's role may not grant. */
    'tool.grants': PipeHook<Capabilities, { readonly ownerId: string }>;
    'tool.before': VetoHook<ToolRequest>;
    'tool.execute': AskHook<{ readonly name: string; readonly args: unknown; readonly call: ToolCall }, ToolOutput>;
    'tool.after': PipeHook<ToolOutput, ToolRequest>;
    'checkpoint.take': StepHook<{ readonly agentId: string; readonly sessionId: string; readonly tool: string; readonly directory: string; readonly paths: readonly string[] }>;
    'secret.resolve': AskHook<{ readonly name: string }, { readonly value: string }>;
    'secret.change': AskHook<{ readonly op: 'put' | 'delete' | 'list'; readonly name: string; readonly value?: string }, { readonly changed: boolean; readonly names?: readonly string[] }>;
    'storage.purge': StepHook<{ readonly ownerId?: string; readonly agentId?: string; readonly sessionId?: string }>;
    'kernel.ready': StepHook<undefined>;
    /** Lines for the person who starts the daemon in the foreground. */
    'kernel.greet': GatherHook<undefined, readonly GreetingLine[]>;
    'doctor.check': GatherHook<undefined, readonly DoctorFinding[]>;
    'health.probe': GatherHook<undefined, { readonly name: string; readonly status: 'ok' | 'warn' | 'error'; readonly detail?: string }>;
    'metrics.collect': GatherHook<
      undefined,
      ReadonlyArray<{ readonly name: string; readonly help: string; readonly type: 'gauge' | 'counter'; readonly value: number; readonly labels?: Readonly<Record<string, string>> }>
    >;
    'security.report': GatherHook<undefined, { readonly name: string; readonly state: string; readonly detail?: string }>;
  }
}

export const kernelHooks = {
  'http.admit': { kind: 'veto', policy: 'closed', budgetMs: 50 },
  'http.authenticate': { kind: 'ask', policy: 'closed', budgetMs: 2_000 },
  'http.authorize': { kind: 'veto', policy: 'closed', budgetMs: 200 },
  'socket.upgrade': { kind: 'veto', policy: 'closed', budgetMs: 2_000 },
  'tool.list': { kind: 'pipe', policy: 'closed', budgetMs: 500 },
  'tool.grants': { kind: 'pipe', policy: 'closed', budgetMs: 500 },
  'tool.before': { kind: 'veto', policy: 'closed', budgetMs: 2_000 },
  'tool.execute': { kind: 'ask', policy: 'closed', budgetMs: 120_000 },
  'tool.after': { kind: 'pipe', policy: 'closed', budgetMs: 500 },
  'checkpoint.take': { kind: 'step', policy: 'open', budgetMs: 10_000 },
  'secret.resolve': { kind: 'ask', policy: 'closed', budgetMs: 2_000 },
  'secret.change': { kind: 'ask', policy: 'closed', budgetMs: 5_000 },
  'storage.purge': { kind: 'step', policy: 'closed', budgetMs: 30_000 },
  'kernel.ready': { kind: 'step', policy: 'open', budgetMs: 5_000 },
  'kernel.greet': { kind: 'gather', policy: 'observe', budgetMs: 1_000 },
  'doctor.check': { kind: 'gather', policy: 'observe', budgetMs: 3_000 },
  'health.probe': { kind: 'gather', policy: 'observe', budgetMs: 3_000 },
  'metrics.collect': { kind: 'gather', policy: 'observe', budgetMs: 3_000 },
  'security.report': { kind: 'gather', policy: 'observe', budgetMs: 3_000 },
} as const satisfies Record<string, HookSpec>;
