/**
 * The one way a living agent changes.
 *
 * E1  A change is validated as a spawn of what it makes would be: by the manifest validate, and by every tap of `agent.spawning`, for its owner and for whoever changes it.
 * E2  Two changes at once are both kept where they are about different keys; where they are about the same one, the later is refused.
 * E3  The agent and the fact are one commit. What changes nothing commits nothing.
 * E4  What the mode of the agent does to its manifest stays: while it is Stable the model is the pinned one, and no change moves it.
 */
import { type Actor, type RowCache, type Write, isSvcError } from '@svc/api';
import { isDeepStrictEqual } from 'node:util';
import { type Agent, AgentChanged, type AgentEdited, type AgentManifest, type ModelChoice, WRONG_MANIFEST } from '../contract.js';
import { agentErrors, wrongManifest } from '../errors.js';
import { type ReadManifest, readManifest, readTaken } from '../manifest/manifest-reader.js';
import { plainManifest } from '../manifest/manifest-toml.js';
import { writtenManifest } from '../manifest/manifest-written.js';
import { asWrittenHere } from '../manifest/other-daemons.js';
import { type SpawnDeps, reviewOf } from '../spawning.js';
import type { Change } from './change.js';
import { modelRemarks } from './model-remarks.js';

/** Others that may change the agent while one change is tried. */
const MAX_RACES = 8;

export interface EditDeps extends SpawnDeps {
  readonly cache: RowCache<Agent | undefined>;
}

/** Throws the errors of the manifest, `agent_not_found`, `agent_already_exists`, `agents_change_denied`, `agents_changed_meanwhile`, `agents_model_pinned`. `agentId` is a UUID. */
export const editAgent = async (deps: EditDeps, actor: Actor, agentId: string, change: Change): Promise<AgentEdited> => {
  const first = await livingAgent(deps, actor, agentId);
  if (change.revision !== undefined && change.revision !== first.revision) throw agentErrors.agents_changed_meanwhile(`something (it is at revision ${first.revision})`);
  let agent = first;
  for (let races = 0; races < MAX_RACES; races++) {
    const { manifest, warnings } = await validated(deps, actor, agent, change);
    if (isSame(manifest, agent.manifest)) return { agent, warnings };
    const after = { ...agent, name: manifest.name, manifest, revision: agent.revision + 1 };
    if (await committed(deps, agent, after)) return { agent: after, warnings };
    const now = await livingAgent(deps, actor, agentId);
    // Nobody changed it, so the row that was in the way is another agent's.
    if (now.revision === agent.revision) throw agentErrors.agent_already_exists(manifest.name);
    refuseOverlap(change, first, now);
    agent = now;
  }
  throw agentErrors.agents_changed_meanwhile('other keys again and again');
};

/** What `editAgent` would warn of, and changes nothing. Throws what it would throw, but for what others do meanwhile. */
export const checkEdit = async (deps: EditDeps, actor: Actor, agentId: string, change: Change): Promise<readonly string[]> =>
  (await validated(deps, actor, await livingAgent(deps, actor, agentId), change)).warnings;

const livingAgent = async ({ store }: EditDeps, actor: Actor, agentId: string): Promise<Agent> => {
  const agent = await store.get(actor, agentId);
  if (!agent) throw agentErrors.agent_not_found(agentId);
  return agent;
};

const refuseOverlap = (change: Change, first: Agent, now: Agent): void => {
  const key = change.revision === undefined ? change.overlap(writtenManifest(first.manifest), writtenManifest(now.manifest)) : 'something';
  if (key !== undefined) throw agentErrors.agents_changed_meanwhile(key);
};

const validated = async (deps: EditDeps, actor: Actor, agent: Agent, change: Change): Promise<ReadManifest> => {
  const written = writtenManifest(agent.manifest);
  const ground = { schemas: deps.schemas, declared: deps.capabilities.declared() };
  const raw = plainManifest(change.apply(written));
  const read = await readTaken(ground, await asWrittenHere(raw, deps.providers), change.source);
  const manifest = inMode(agent, read.manifest);
  if (isSame(manifest, agent.manifest)) return { manifest, warnings: [...change.warnings(written), ...read.warnings] };
  await refuseUnlessGranted(deps, actor, agent, manifest);
  const known = change.source === undefined ? (await readManifest(ground, plainManifest(written))).warnings : [];
  const remarks = [
    ...(isSame(modelsOf(manifest), modelsOf(agent.manifest)) ? [] : await modelRemarks(deps, manifest)),
    ...(isSame(manifest.capabilities, agent.manifest.capabilities) ? [] : await reviewOf(deps, manifest)),
  ];
  return { manifest, warnings: [...change.warnings(written), ...read.warnings.filter((warning) => !known.includes(warning)), ...remarks] };
};

const modelsOf = ({ model, fallback_models }: AgentManifest): readonly ModelChoice[] => [model, ...fallback_models].map((one) => ({ provider: one.provider, model: one.model }));

/** E1. A child is validated beside its parent, as long as that lives. */
const refuseUnlessGranted = async (deps: EditDeps, actor: Actor, agent: Agent, manifest: AgentManifest): Promise<void> => {
  if (deps.spawning.isEmpty()) return;
  const parent = agent.parentId === null ? undefined : await deps.store.get(actor, agent.parentId);
  const veto = await deps.spawning.call({ actor, manifest, parent: parent ?? null, changes: agent });
  if (veto && 'deny' in veto && veto.code === WRONG_MANIFEST) throw wrongManifest(veto.deny);
  if (veto) throw agentErrors.agents_change_denied('deny' in veto ? veto.deny : `This change needs a decision first: ${veto.suspend.reason}`);
};

/** E4. */
const inMode = (agent: Agent, manifest: AgentManifest): AgentManifest => {
  const { asked_model: asked, pinned_model: pinned, mode_tools: tools } = agent.manifest;
  if (agent.mode !== 'Stable' || asked === undefined || pinned === undefined) return tools === undefined ? manifest : { ...manifest, mode_tools: tools };
  const { provider, model } = manifest.model;
  if (provider !== asked.provider || model !== asked.model || manifest.pinned_model !== pinned) throw agentErrors.agents_model_pinned(pinned);
  return withPinned(manifest, pinned);
};

/** The model that is pinned in the place of the one that the manifest asks for. */
export const withPinned = (manifest: AgentManifest, pinned: string): AgentManifest => {
  const { provider, model } = manifest.model;
  const [first = '', ...rest] = pinned.split('/');
  const choice: ModelChoice = { provider: first, model: rest.join('/') };
  return { ...manifest, model: { ...manifest.model, ...choice }, pinned_model: pinned, asked_model: { provider, model } };
};

/** False where the agent has changed, or another one has the name. */
const committed = async (deps: EditDeps, before: Agent, after: Agent): Promise<boolean> => {
  try {
    await commitChange(deps, before, after);
    return true;
  } catch (error) {
    if (isSvcError(error) && error.code === 'storage_conflict') return false;
    throw error;
  }
};

/** E3. */
export const commitChange = async (deps: EditDeps, before: Agent, after: Agent, also: readonly Write[] = []): Promise<void> => {
  deps.cache.willChange(before.id);
  await deps.store.commit([deps.store.change(before, after), deps.events.event(AgentChanged, { agentId: before.id, ownerId: before.ownerId, ...stateChange(before, after) }), ...also]);
};

const stateChange = (before: Agent, after: Agent): { readonly change?: 'suspended' | 'resumed'; readonly revision?: number } => {
  if (before.state === after.state) return {};
  const { revision } = after;
  return after.state === 'Suspended' ? { change: 'suspended', revision } : before.state === 'Suspended' ? { change: 'resumed', revision } : {};
};

/** As they are stored: a key without a value is no key. */
const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(JSON.parse(JSON.stringify(a)), JSON.parse(JSON.stringify(b)));
