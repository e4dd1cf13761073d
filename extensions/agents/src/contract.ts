/** What agents offers to other areas: who the agents are. */
import type { Actor, Capabilities, GatherHook, VetoHook, Write } from '@svc/api';

export type AgentState = 'Created' | 'Running' | 'Suspended' | 'Crashed' | 'Terminated';

export interface ModelChoice {
  /** `default` takes the daemon's default provider. */
  readonly provider: string;
  readonly model: string;
}

/** The manifest as validated, every default filled in. */
export interface AgentManifest {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly author: string;
  readonly tags: readonly string[];
  readonly model: ModelChoice & { readonly max_tokens: number; readonly temperature: number; readonly system_prompt: string; readonly request_timeout_secs: number | null };
  readonly fallback_models: readonly ModelChoice[];
  readonly capabilities: Capabilities;
  readonly tool_allowlist: readonly string[];
  readonly tool_blocklist: readonly string[];
  readonly tools_disabled: boolean;
  readonly autonomous: { readonly max_iterations: number /** What becomes of a run that nobody watches; left out, the door and [runs] decide. */; readonly unwatched?: 'finish' | 'cancel' };
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
  spawn(actor: Actor, request: SpawnRequest): Promise<Agent>;
  kill(actor: Actor, agentId: string): Promise<void>;
  setModel(actor: Actor, agentId: string, model: ModelChoice): Promise<Agent>;
  /** Writes that make this session the agent's current one; join another's commit. */
  setSession(agentId: string, sessionId: string): Promise<Write[]>;
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
