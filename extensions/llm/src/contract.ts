/** What llm offers: one gateway to every model. It owns retries, fallback, usage and cost. */
import type { Actor, AskHook, NoteHook, PipeHook, Write } from '@svc/api';

export type ContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly args: unknown }
  | { readonly type: 'tool_result'; readonly id: string; readonly name: string; readonly content: string; readonly isError: boolean };

/** Provider-neutral. `tool_call` parts stand only in assistant messages, `tool_result` parts only in the user message straight after. */
export interface ModelMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly ContentPart[];
}

export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, an object schema. */
  readonly parameters: unknown;
}

export interface ModelRequest {
  readonly provider: string;
  readonly model: string;
  readonly fallbacks: ReadonlyArray<{ readonly provider: string; readonly model: string }>;
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ToolSchema[];
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly timeoutMs?: number;
  /** Tokens that the model may think beforehand, beside `maxTokens`. Models that cannot think are asked without. */
  readonly thinking?: { readonly budgetTokens: number };
}

export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly costMicros: number;
  /** True where the provider sent no numbers and tokens were counted from the text. */
  readonly estimated?: boolean;
}

export interface Attempt {
  readonly provider: string;
  readonly model: string;
  readonly status: 'ok' | 'error';
  readonly errorClass?: ModelErrorClass;
  readonly message?: string;
  readonly httpStatus?: number;
  readonly latencyMs: number;
  /** Milliseconds waited before the next attempt. */
  readonly waitedMs: number;
}

export type ModelErrorClass =
  | 'auth'
  | 'rate_limit'
  | 'overloaded'
  | 'context_too_long'
  | 'bad_request'
  | 'model_not_found'
  | 'credit'
  | 'timeout'
  | 'network'
  | 'server'
  | 'half_stream'
  | 'garbage'
  | 'cancelled';

export interface ModelAnswer {
  readonly text: string;
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: unknown; readonly argsError?: string }>;
  readonly stop: 'end' | 'tool_calls' | 'length' | 'content_filter';
  readonly usage: Usage;
  /** Who answered, after `default` and fallbacks were resolved. */
  readonly provider: string;
  readonly model: string;
  readonly attempts: readonly Attempt[];
  /** Usage rows; they join the commit of the step's outcome. */
  readonly settle: readonly Write[];
}

export interface CallContext {
  readonly actor: Actor;
  readonly agentId: string;
  readonly runId: string;
  readonly purpose: 'run' | 'compaction' | 'probe';
  /** Text deltas are published here as `{type: 'chunk', data: {content, done: false}}`, merged by the platform. */
  readonly topic?: string;
  readonly signal: AbortSignal;
}

/** What a driver speaks: one wire protocol of one family of providers. Plain in, a stream of plain events out. */
export interface DriverTarget {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly secret?: { readonly secret: string; readonly env?: string };
  readonly timeoutMs: number;
  /** No byte for this long ends the exchange. */
  readonly idleTimeoutMs?: number;
}

export type DriverEvent =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'call'; readonly id: string; readonly name: string; readonly argsText: string }
  | { readonly type: 'usage'; readonly inputTokens?: number; readonly outputTokens?: number }
  | { readonly type: 'stop'; readonly reason: ModelAnswer['stop'] };

export interface Driver {
  readonly wire: 'openai' | 'anthropic' | 'builtin';
  stream(target: DriverTarget, request: ModelRequest, signal: AbortSignal): AsyncIterable<DriverEvent>;
}

export interface LlmService {
  /** Resolves `default`, aliases and provider prefixes to a provider and model; says why. Throws `model_not_found`, `provider_key_missing`. */
  resolve(choice: { provider: string; model: string }): Promise<{ provider: string; model: string; contextWindow: number; canThink: boolean; why: string }>;
  /** Whether a model can be told to think before it answers, key or no key; null where its provider is not known. */
  canThink(choice: { provider: string; model: string }): Promise<boolean | null>;
  /** Throws `token_quota_exceeded` or `budget_exceeded` (429, with the time it goes on) while the agent may not call a model. */
  admit(agentId: string): Promise<void>;
  /** The ceiling of what a call may cost, as a row to commit with the intent. Throws what `admit` throws. */
  reserve(request: ModelRequest, context: { actor: Actor; agentId: string; runId: string }): Promise<{ reservation: string; ceilingMicros: number; writes: Write[] }>;
  /** One model call with retries and fallback, within what the agent may use. Every attempt stands in the answer, and in the error's `details.attempts`. */
  complete(request: ModelRequest, context: CallContext): Promise<ModelAnswer>;
  /** An estimate of tokens. */
  count(text: string): Promise<number>;
  /** Micro-dollars that these agents' calls have cost since then; agents without a call are left out. */
  spending(actor: Actor, agentIds: readonly string[], since: string): Promise<ReadonlyMap<string, number>>;
  /** Tokens and cost so far, of an agent or a session's runs. */
  usage(actor: Actor, filter: { agentId?: string; runIds?: readonly string[] }): Promise<Usage & { requests: number }>;
}

declare module '@svc/api' {
  interface ServiceMap {
    llm: LlmService;
  }
  interface EventMap {
    /** Usage rows of an agent with limits were committed, by the process of this name. */
    'llm.used': { readonly agentId: string; readonly by: string };
  }
  interface HookMap {
    /** Another area may choose the model for a call. */
    'model.resolve': AskHook<{ readonly provider: string; readonly model: string; readonly agentId: string }, { readonly provider: string; readonly model: string }>;
    'llm.request': PipeHook<ModelRequest, { readonly agentId: string; readonly runId: string }>;
    'llm.delta': NoteHook<{ readonly runId: string; readonly text: string }>;
  }
}
