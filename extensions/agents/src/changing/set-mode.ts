/**
 * The mode of an agent.
 *
 * O1  Stable pins the model that answers now, or the one that the manifest names as pinned_model. Every other mode releases it.
 * O2  observe and assist keep tools away at every call, also from runs that are under way: tools validates each by what the manifest says now.
 */
import { type Actor, type HookHandle, isSvcError, wordForm } from '@svc/api';
import type { Agent, AgentManifest, ResolveModel } from '../contract.js';
import { agentErrors } from '../errors.js';
import { type EditDeps, commitChange, withPinned } from './edit-agent.js';
import { type ModelChoiceDeps, chosenModel } from './model-choice.js';

export const MODES = ['Stable', 'Normal', 'observe', 'assist', 'full'] as const;
/** Without case. */
export const MODE_WORD = wordForm(MODES);
export type Mode = (typeof MODES)[number];

const MAX_RACES = 8;

export interface ModeDeps extends EditDeps, ModelChoiceDeps {
  readonly resolve: HookHandle<typeof ResolveModel>;
}

/** Without case. Throws `agents_unknown_mode`. */
export const modeNamed = (word: string): Mode => {
  const mode = MODES.find((one) => one.toLowerCase() === word.toLowerCase());
  if (mode === undefined) throw agentErrors.agents_unknown_mode(word, MODES);
  return mode;
};

/** Throws `agent_not_found`, and what the gateway says of a model that cannot be pinned because it cannot be asked. */
export const setMode = async (deps: ModeDeps, actor: Actor, agentId: string, mode: Mode): Promise<Agent> => {
  for (let races = 0; ; races++) {
    const agent = await deps.store.get(actor, agentId);
    if (!agent) throw agentErrors.agent_not_found(agentId);
    if (agent.mode === mode) return agent;
    const free = released(agent.manifest);
    const manifest = mode === 'Stable' ? withPinned(free, await pinFor(deps, free)) : withTools(free, mode);
    const after = { ...agent, mode, manifest, revision: agent.revision + 1 };
    try {
      await commitChange(deps, agent, after);
      return after;
    } catch (error) {
      if (races >= MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
    }
  }
};

const pinFor = async (deps: ModeDeps, { model, pinned_model: named }: AgentManifest): Promise<string> => {
  const choice = named === undefined ? model : await chosenModel(deps, { model: named }, model);
  const { provider, model: id } = (await deps.resolve.call({ provider: choice.provider, model: choice.model })) ?? choice;
  return `${provider}/${id}`;
};

const withTools = (manifest: AgentManifest, mode: Mode): AgentManifest => {
  if (mode === 'observe') return { ...manifest, mode_tools: 'none' };
  return mode === 'assist' ? { ...manifest, mode_tools: 'reads' } : manifest;
};

/** As the manifest is in no mode at all. */
const released = ({ asked_model: asked, pinned_model: pinned, mode_tools: _tools, ...manifest }: AgentManifest): AgentManifest =>
  asked === undefined ? { ...manifest, ...(pinned === undefined ? {} : { pinned_model: pinned }) } : { ...manifest, model: { ...manifest.model, ...asked } };
