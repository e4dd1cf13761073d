/** Tools: what a model may call. A tool lives with the area whose effect it is. */
import type { Actor } from './actor.js';
import type { Logger } from './doors.js';
import type { Replay } from './journal.js';
import type { Static, TObject } from './schema.js';

export type ToolRisk = 'read' | 'write' | 'network' | 'exec' | 'agent';

/** Who calls, and under which grants. Plain data but for `signal` and `log`. */
export interface ToolCall {
  /** Unique per call, the same after a restart: the idempotency key of `keyed` tools. */
  readonly callId: string;
  readonly runId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly actor: Actor;
  /** How many agents stand above this run. */
  readonly depth: number;
  readonly capabilities: Capabilities;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

export interface ToolOutput {
  /** What the model reads. */
  readonly content: string;
  readonly isError?: boolean;
  /** Typed status beside the text; `error` when `isError`, else `completed`. */
  readonly status?: ToolStatus;
}

export type ToolStatus = 'completed' | 'error' | 'waiting_approval' | 'denied' | 'expired' | 'skipped' | 'outcome_unknown';

export interface ToolDecl<P extends TObject = TObject> {
  readonly name: string;
  readonly description: string;
  readonly params: P;
  readonly risk: ToolRisk;
  /**
   * What a restart may do with a call whose outcome is not known: `safe` runs it again; `keyed` runs it
   * again with the same `callId`, which the tool must honour; `never` gives the model `outcome_unknown`.
   */
  readonly replay: Replay;
  /** May run beside other calls of the same message. */
  readonly parallel: boolean;
  /** Reads or writes files of the agent's workspace: needs the capability `file_system`. */
  readonly workspace?: boolean;
  /** Workspace paths the call writes, for checkpoints and judges. */
  readonly writes?: (args: Static<P>) => readonly string[];
  /** Default 120 s. */
  readonly timeoutMs?: number;
  readonly run: (args: Static<P>, call: ToolCall) => Promise<ToolOutput | string>;
}

/** A declaration whose parameter type is no longer known: what registries hold. */
export type AnyTool = ToolDecl<TObject>;

export const defineTool = <P extends TObject>(decl: ToolDecl<P>): AnyTool =>
  // `run` only ever gets arguments that `params` has validated.
  decl as unknown as AnyTool;

/** What an agent may do (manifest section `[capabilities]`). Empty `tools` means every tool that needs no grant. */
export interface Capabilities {
  readonly tools: readonly string[];
  readonly network: readonly string[];
  readonly memory_read: readonly string[];
  readonly memory_write: readonly string[];
  readonly shell: readonly string[];
  readonly agent_spawn: boolean;
  readonly agent_message: readonly string[];
  readonly file_system: boolean;
  readonly max_llm_tokens_per_hour: number | null;
  /** Calls of tools in any 60 s; none, and 0, mean no limit (manifest key `[resources] max_tool_calls_per_minute`). */
  readonly max_tool_calls_per_minute?: number | null;
  /** What `exec_policy` of the manifest narrows; it never adds to `shell`. */
  readonly exec?: ExecLimits;
}

/** `deny`: no process. `allowlist`: single programs, never a shell. `full`: what `shell` grants. */
export interface ExecLimits {
  readonly mode: 'deny' | 'allowlist' | 'full';
  /** Names of programs, of which the command has to begin with one; null when the manifest names none. */
  readonly programs: readonly string[] | null;
  /** Of the variables that the daemon's own `[exec_policy]` lets through, only these; null for all of them. */
  readonly env: readonly string[] | null;
  readonly timeout_secs: number | null;
  readonly no_output_timeout_secs: number | null;
  readonly max_output_bytes: number | null;
}
