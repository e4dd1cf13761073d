/** What tools offers: list, judge and execute, for runs, direct calls and MCP alike. */
import type { Actor, Capabilities, ToolCall, ToolOutput, ToolStatus } from '@svc/api';
import type { AgentManifest } from '@svc/ext-agents/contract';

export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  readonly input_schema: unknown;
  readonly source: string;
  readonly risk: string;
  readonly replay: 'safe' | 'keyed' | 'never';
  readonly parallel: boolean;
}

/** A call as plain data, without signal and log. */
export interface CallRequest {
  readonly name: string;
  readonly args: unknown;
  readonly argsError?: string;
  readonly call: Omit<ToolCall, 'signal' | 'log'>;
  readonly earlier: ReadonlyArray<{ readonly digest: string; readonly status: string }>;
}

export interface Judgement {
  readonly verdict: 'run' | 'deny' | 'suspend';
  readonly digest: string;
  readonly replay: 'safe' | 'keyed' | 'never';
  readonly parallel: boolean;
  /** deny: what the model reads. */
  readonly reason?: string;
  readonly code?: string;
  /** Added to the result of a call that may run: a loop guard's warning. */
  readonly warning?: string;
  readonly suspend?: { readonly reason: string; readonly wakeKey: string; readonly until?: string; readonly data?: unknown };
}

export interface ToolResult {
  readonly content: string;
  readonly isError: boolean;
  readonly status: ToolStatus;
}

export interface ToolsService {
  all(): Promise<ToolInfo[]>;
  /** Those an agent with this manifest may call. */
  list(actor: Actor, agentId: string, manifest: AgentManifest): Promise<ToolInfo[]>;
  /** Validates arguments and runs the veto chain. */
  judge(request: CallRequest): Promise<Judgement>;
  /** Runs a judged call; never throws for what the tool did wrong. */
  execute(request: CallRequest, signal: AbortSignal): Promise<ToolResult>;
}

export type { Capabilities, ToolOutput };

declare module '@svc/api' {
  interface ServiceMap {
    tools: ToolsService;
  }
}
