/** What runs offers: the agent loop. Submit a message, follow its topic, stop it. */
import type { Actor, AskHook, PipeHook, RunStatus, VetoHook } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import type { Attempt } from '@svc/ext-llm/contract';
import type { Part } from '@svc/ext-sessions/contract';

export type Door = 'rest' | 'sse' | 'ws' | 'openai' | 'agent' | 'cli';

export interface RunDraft {
  readonly agentId: string;
  readonly sessionId?: string;
  readonly parts: readonly Part[];
  readonly door: Door;
  /** Idempotency key: the same key and body is the same run. */
  readonly key?: string;
  /** The client says that it sends this again by itself: attach to the run it began, if there is one. */
  readonly isResend?: boolean;
  /** Prepended to the system prompt of this run only. */
  readonly systemExtra?: string;
  readonly maxTokens?: number;
  readonly temperature?: number;
  /** How many agents stand above this run. */
  readonly depth?: number;
  readonly parentRunId?: string;
}

export interface Submitted {
  readonly runId: string;
  /** Where its frames appear. */
  readonly topic: string;
  readonly sessionId: string;
  /** True when the key named a run that exists. */
  readonly replayed: boolean;
  /** 0 when it runs at once. */
  readonly position: number;
}

/** What the final frame `done` carries and the run row keeps. */
export interface RunResult {
  readonly response: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly iterations: number;
  readonly cost_usd: number;
  readonly session_id: string;
  readonly finish: 'stop' | 'length' | 'content_filter' | 'cancelled';
  readonly provider: string;
  readonly model: string;
}

/** Data of each frame type of a run's topic. */
export interface RunFrames {
  phase: { readonly phase: 'queued' | 'thinking' | 'waiting' | 'restarted' | 'command'; readonly detail?: string; readonly attempt?: number; readonly approval_id?: string };
  chunk: { readonly content: string; readonly done: false };
  tool_use: { readonly tool: string; readonly id: string };
  tool_result: { readonly tool: string; readonly id: string; readonly input: unknown; readonly is_error: boolean; readonly result: string };
  /** Final, exactly one of the two. */
  done: { readonly done: true; readonly usage: { readonly input_tokens: number; readonly output_tokens: number }; readonly result: RunResult };
  error: { readonly error: string; readonly code: string; readonly status: number; readonly hint?: string; readonly attempts?: readonly Attempt[] };
}

export interface RunInfo {
  readonly id: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly status: RunStatus;
  readonly createdAt: string;
  readonly result: RunResult | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** An answer that needs no model: a slash command's. */
export interface CommandAnswer {
  readonly command: string;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export interface RunsService {
  submit(actor: Actor, draft: RunDraft): Promise<Submitted>;
  get(actor: Actor, runId: string): Promise<RunInfo>;
  list(actor: Actor, filter: { agentId?: string; active?: boolean; limit?: number }): Promise<RunInfo[]>;
  /** Cancels what runs, waits or is queued; by any door. Resolves with how many. */
  stop(actor: Actor, target: { runId?: string; agentId?: string }, why: string): Promise<number>;
}

declare module '@svc/api' {
  interface ServiceMap {
    runs: RunsService;
  }
  interface HookMap {
    /** Asked before anything is queued: a slash command answers here. */
    'message.intercept': AskHook<{ readonly actor: Actor; readonly agent: Agent; readonly sessionId: string; readonly text: string; readonly door: Door }, CommandAnswer>;
    'run.start': VetoHook<{ readonly actor: Actor; readonly agent: Agent; readonly draft: RunDraft }>;
    /** Adds to the system prompt of a run. */
    'run.context': PipeHook<string, { readonly actor: Actor; readonly agent: Agent; readonly runId: string; readonly text: string }>;
  }
  interface EventMap {
    'run.started': { readonly runId: string; readonly agentId: string };
    'run.ended': { readonly runId: string; readonly agentId: string; readonly status: RunStatus };
  }
}
