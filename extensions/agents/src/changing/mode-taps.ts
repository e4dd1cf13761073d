/** What the modes observe and assist keep from an agent: judged at each list and each call, by the mode of now. */
import type { ToolFacts, ToolRequest, Verdict } from '@svc/api';
import type { Agent } from '../contract.js';
import type { AgentStore } from '../store.js';

/** Beside the tools that say they only read: they fetch with GET, or look things up. */
const READS = new Set(['web_fetch', 'web_search']);
const CODE = 'agents_mode_denied';

export interface ModeTapDeps {
  /** At once where the agent is kept; undefined where there is none (any more). */
  agent(agentId: string): Agent | undefined | Promise<Agent | undefined>;
}

const LIMITED = ['observe', 'assist'];

/**
 * Lists of tools are made for every message, and most daemons have no agent in such a mode: whoever shortens lists
 * begins when there is one. Calls are judged from the start.
 */
export const whenLimited = (store: Pick<AgentStore, 'hasMode'>, begin: () => void) => {
  let hasBegun = false;
  const seen = (mode: string): void => {
    if (hasBegun || !LIMITED.includes(mode)) return;
    hasBegun = true;
    begin();
  };
  return {
    seen,
    look: async (): Promise<void> => {
      if (!hasBegun && (await store.hasMode(LIMITED))) seen('observe');
    },
  };
};

type Tool = Pick<ToolFacts, 'name' | 'risk'>;

const mayUse = (mode: string, { name, risk }: Tool): boolean => mode !== 'observe' && (mode !== 'assist' || risk === 'read' || READS.has(name));

const limits = (agent: Agent | undefined): agent is Agent => agent !== undefined && LIMITED.includes(agent.mode);

/** At once for whoever is kept, as every message asks. */
const withAgent = <T>(deps: ModeTapDeps, agentId: string, judge: (agent: Agent | undefined) => T | undefined): T | undefined | Promise<T | undefined> => {
  if (agentId === '') return undefined;
  const agent = deps.agent(agentId);
  return agent instanceof Promise ? agent.then(judge) : judge(agent);
};

export const listedInMode =
  (deps: ModeTapDeps) =>
  (tools: readonly ToolFacts[], { agentId }: { readonly agentId: string }): readonly ToolFacts[] | undefined | Promise<readonly ToolFacts[] | undefined> =>
    withAgent(deps, agentId, (agent) => (limits(agent) ? tools.filter((tool) => mayUse(agent.mode, tool)) : undefined));

export const judgedInMode =
  (deps: ModeTapDeps) =>
  ({ tool, call }: ToolRequest): Verdict | undefined | Promise<Verdict | undefined> =>
    withAgent(deps, call.agentId, (agent) => {
      if (!limits(agent) || mayUse(agent.mode, tool)) return undefined;
      const rule = agent.mode === 'observe' ? 'it uses no tools' : 'it uses tools that only read';
      return { deny: `This agent may not use ${tool.name}: its mode is ${agent.mode}, in which ${rule}. Do without it, or ask a person to set another mode.`, code: CODE };
    });
