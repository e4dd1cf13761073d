/** What agents offers to other areas: who the agents are. */
import type { Actor, Capabilities, GatherHook, VetoHook, Write } from '@svc/api';

export type AgentState = 'Created' | 'Running' | 'Suspended' | 'Crashed' | 'Terminated';

export interface ModelChoice {
  /** `default` takes the daemon's default provider. */
  readonly provider: string;
  readonly model: string;
}

/** The manifest as validated, every default filled in. What becomes of each key: manifest-keys.ts. */
export interface AgentManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly tags: readonly string[];
  /** False: the agent begins suspended. */
  readonly enabled: boolean;
  readonly model: ModelChoice & {
    readonly max_tokens: number;
    readonly temperature: number;
    readonly system_prompt: string;
    readonly request_timeout_secs: number | null;
    /** Narrow what the catalog says of the model. */
    readonly context_window: number | null;
    readonly max_output_tokens: number | null;
  };
  /** Set where the model shall think before it answers. */
  readonly thinking: { readonly budget_tokens: number } | null;
  readonly fallback_models: readonly ModelChoice[];
  readonly max_history_messages: number | null;
  readonly capabilities: Capabilities;
  /** 0 is no limit. */
  readonly resources: AgentLimits;
  readonly tool_allowlist: readonly string[];
  readonly tool_blocklist: readonly string[];
  readonly tools_disabled: boolean;
  /** The set of tools it was given by name; shown, and already unfolded in the capabilities. */
  readonly profile?: string;
  readonly autonomous: {
    readonly max_iterations: number;
    /** What becomes of a run that nobody watches; left out, the door and [runs] decide. */
    readonly unwatched?: 'finish' | 'cancel';
  };
  /** Keys that only describe, or wait for their area: as they were written. */
  readonly kept: Readonly<Record<string, unknown>>;
}

/** Beside the tokens per hour, which stand in the capabilities. */
export interface AgentLimits {
  readonly burst_ratio: number;
  readonly max_cost_per_hour_usd: number;
  readonly max_cost_per_day_usd: number;
  readonly max_cost_per_month_usd: number;
  readonly max_concurrent_tools: number;
}

export interface Agent {
  readonly id: string;
  readonly name: string;
  readonly ownerId: string;
  readonly state: AgentState;
  readonly mode: string;
  readonly parentId: string | null;
  /** The session that messages without a session id go to. */
  readonly sessionId: string;
  readonly manifest: AgentManifest;
  readonly createdAt: string;
  readonly lastActiveAt: string | null;
}

export interface SpawnRequest {
  readonly manifestToml?: string;
  readonly manifest?: unknown;
  /** Instead of the manifest's name. */
  readonly name?: string;
  /** Instead of the manifest's model. */
  readonly model?: ModelChoice;
  readonly parentId?: string;
  /** The same key gives the same agent. */
  readonly key?: string;
}

export interface AgentsService {
  /** Only agents the actor may see. Throws `agent_not_found`, `invalid_agent_id`. */
  get(actor: Actor, agentId: string): Promise<Agent>;
  /** By id, else by name. */
  find(actor: Actor, idOrName: string): Promise<Agent | undefined>;
  list(actor: Actor): Promise<Agent[]>;
  /** What each answers with now, in the same order: `default` as the gateway would resolve it. */
  modelsOf(agents: readonly Agent[]): Promise<ModelChoice[]>;
  spawn(actor: Actor, request: SpawnRequest): Promise<Agent>;
  kill(actor: Actor, agentId: string): Promise<void>;
  setModel(actor: Actor, agentId: string, model: ModelChoice): Promise<Agent>;
  /** A suspended agent takes no messages until it is resumed. */
  setSuspended(actor: Actor, agentId: string, isSuspended: boolean): Promise<Agent>;
  /** Writes that make this session the agent's current one; join another's commit. Throws `agent_not_found`. */
  setSession(actor: Actor, agentId: string, sessionId: string): Promise<Write[]>;
}

declare module '@svc/api' {
  interface ServiceMap {
    agents: AgentsService;
  }
  interface HookMap {
    /** Before an agent is created: capabilities judges inheritance here. */
    'agent.spawning': VetoHook<{ readonly actor: Actor; readonly manifest: AgentManifest; readonly parent: Agent | null }>;
    /** After nobody objected: what the person who spawns it should know. */
    'agent.review': GatherHook<{ readonly manifest: AgentManifest }, readonly string[]>;
  }
  interface EventMap {
    'agent.spawned': { readonly agentId: string; readonly name: string; readonly ownerId: string };
    'agent.killed': { readonly agentId: string; readonly name: string; readonly ownerId: string };
    'agent.changed': { readonly agentId: string };
  }
}
