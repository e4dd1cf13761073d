/**
 * How an agent comes to be.
 *
 * A1  Ids are random, unless an area brings one: a name used again inherits nothing of a dead agent, and an id used again finds nothing of it.
 * A2  The agent, its idempotency key and the fact are one commit. The same key and request give the same agent, and the same answer with its warnings.
 * A3  A name is taken once per owner; of two at the same time one gets it.
 * A4  A child belongs to its parent's owner, and no tap of `agent.spawning` may have objected.
 */
import { createHash } from 'node:crypto';
import { type Actor, type Clock, type DeclaredCapabilities, type Events, type HookHandle, type Ids, isSvcError, type Journal, type OptionalHandle, type Write, type RunSubject } from '@svc/api';
import type { ModelsService } from '@svc/ext-models/contract';
import type { ProvidersService } from '@svc/ext-providers/contract';
import { modelRemarks } from './changing/model-remarks.js';
import { type Agent, type AgentManifest, type AgentReview, AgentSpawned, type AgentSpawning, type SpawnRequest, type TemplatesService, WRONG_MANIFEST } from './contract.js';
import { agentErrors, wrongManifest } from './errors.js';
import type { ManifestGround } from './manifest/validate-manifest.js';
import { type ReadManifest, readManifest, readTaken } from './manifest/manifest-reader.js';
import { checkManifestSize, parseManifestToml, plainManifest } from './manifest/manifest-toml.js';
import { asWrittenHere } from './manifest/other-daemons.js';
import type { AgentStore } from './store.js';

const MAX_CHILDREN = 50;
export const SPAWN_KIND = 'agents.spawn';

export interface SpawnDeps {
  readonly journal: Pick<Journal, 'once'>;
  readonly store: AgentStore;
  readonly schemas: ManifestGround['schemas'];
  readonly capabilities: DeclaredCapabilities;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly events: Events;
  readonly spawning: HookHandle<typeof AgentSpawning>;
  readonly review: HookHandle<typeof AgentReview>;
  readonly providers: OptionalHandle<ProvidersService>;
  readonly models: OptionalHandle<ModelsService>;
  readonly templates: OptionalHandle<TemplatesService>;
}

export interface Spawned {
  readonly agentId: string;
  readonly name: string;
  readonly warnings: readonly string[];
}

/** Writes what whoever sends the request again is told: the same as the first time. */
export type Receipt = (spawned: Spawned, about: RunSubject) => readonly Write[];

/** Throws the errors of the manifest, `agent_already_exists`, `journal_key_conflict`, `agents_spawn_denied`, `agents_too_many_children`. */
export const spawnAgent = async (deps: SpawnDeps, actor: Actor, request: SpawnRequest): Promise<Spawned> => {
  const parent = request.parentId === undefined ? null : await parentOf(deps, actor, request.parentId);
  const ownerId = parent?.ownerId ?? actor.ownerId;
  const asked = { actor: { ...actor, ownerId }, kind: SPAWN_KIND, fingerprint: fingerprintOf(request), ...(request.key === undefined ? {} : { key: request.key }) };
  const { result } = await deps.journal.once<Kept>(asked, (receipt) => spawnOnce(deps, actor, request, { parent, ownerId, ...(request.id === undefined ? {} : { id: request.id }) }, receipt));
  return withWarnings(result);
};

/** Receipts that an older daemon wrote have no warnings. */
export type Kept = Pick<Spawned, 'agentId' | 'name'> & Partial<Spawned>;
export const withWarnings = (kept: Kept): Spawned => ({ warnings: [], ...kept });

interface Place {
  readonly parent: Agent | null;
  readonly ownerId: string;
  /** Its id, where that is known beforehand. */
  readonly id?: string;
  /** What has to be there before it is seen; done when nobody objects to it. Resolves with what to warn of. */
  prepare?(): Promise<readonly string[]>;
}

export const spawnOnce = async (deps: SpawnDeps, actor: Actor, request: SpawnRequest, place: Place, receipt: Receipt): Promise<Spawned> => {
  const { manifest, warnings } = await validated(deps, actor, request, place.parent);
  const agent: Agent = {
    id: place.id ?? deps.ids.uuid(),
    name: manifest.name,
    ownerId: place.ownerId,
    state: manifest.enabled ? 'Running' : 'Suspended',
    mode: 'Normal',
    parentId: place.parent?.id ?? null,
    sessionId: deps.ids.uuid(),
    manifest,
    createdAt: deps.clock.iso(),
    lastActiveAt: null,
    revision: 0,
  };
  const remarks = [...(await modelRemarks(deps, manifest)), ...(await reviewOf(deps, manifest))];
  const skipped = (await place.prepare?.()) ?? [];
  const spawned: Spawned = { agentId: agent.id, name: agent.name, warnings: [...warnings, ...remarks, ...skipped] };
  await commitSpawn(deps, agent, request.runId, receipt(spawned, { subject: agent.id }));
  return spawned;
};

const validated = async (deps: SpawnDeps, actor: Actor, request: SpawnRequest, parent: Agent | null): Promise<ReadManifest> => {
  const read = await manifestOf(deps, request);
  const veto = deps.spawning.isEmpty() ? undefined : await deps.spawning.call({ actor, manifest: read.manifest, parent });
  if (veto && 'deny' in veto && veto.code === WRONG_MANIFEST) throw wrongManifest(veto.deny);
  if (veto) throw agentErrors.agents_spawn_denied('deny' in veto ? veto.deny : `Spawning this agent needs a decision first: ${veto.suspend.reason}`);
  return read;
};

/** What a spawn would warn of, and makes nothing. Throws what it would throw, but for a name that is taken. */
export const checkSpawn = async (deps: SpawnDeps, actor: Actor, request: SpawnRequest): Promise<readonly string[]> => {
  const { manifest, warnings } = await validated(deps, actor, request, null);
  return [...warnings, ...(await modelRemarks(deps, manifest)), ...(await reviewOf(deps, manifest))];
};

/** What the person who spawns or changes it should know of what it grants. */
export const reviewOf = async ({ review }: Pick<SpawnDeps, 'review'>, manifest: AgentManifest): Promise<readonly string[]> =>
  review.isEmpty() ? [] : (await review.call({ manifest })).flatMap(({ value }) => value ?? []);

const parentOf = async (deps: SpawnDeps, actor: Actor, parentId: string): Promise<Agent> => {
  const parent = await deps.store.get(actor, parentId);
  if (!parent) throw agentErrors.agent_not_found(parentId);
  if ((await deps.store.countChildren(parentId)) >= MAX_CHILDREN) throw agentErrors.agents_too_many_children(MAX_CHILDREN);
  return parent;
};

const commitSpawn = async (deps: SpawnDeps, agent: Agent, runId: string | undefined, receipt: readonly Write[]): Promise<void> => {
  const { id: agentId, name, ownerId } = agent;
  try {
    // The receipt first: the same request sent twice at once is a repetition, and not a name that is taken.
    await deps.store.commit([...receipt, deps.store.insert(agent), deps.events.event(AgentSpawned, { agentId, name, ownerId, ...(runId === undefined ? {} : { runId }) })]);
  } catch (error) {
    if (!isSvcError(error) || error.code !== 'storage_conflict') throw error;
    throw agentErrors.agent_already_exists(name).with({ cause: error });
  }
};

/** The manifest of a request: its text, else its table, else its template, else all defaults; then what the request says beside it. */
const manifestOf = async (deps: SpawnDeps, request: SpawnRequest): Promise<ReadManifest> => {
  const isTable = request.manifest !== undefined;
  const text = request.manifestToml ?? (isTable || request.template === undefined ? undefined : await templateText(deps, request.template));
  if (text === undefined && !isTable && request.name === undefined) throw agentErrors.agents_nothing_to_spawn();
  if (text === undefined) checkManifestSize(JSON.stringify(request.manifest ?? {}));
  const raw = text === undefined ? plainManifest(request.manifest ?? {}) : await parseManifestToml(text);
  const ground = { schemas: deps.schemas, declared: deps.capabilities.declared() };
  const read = await readTaken(ground, await asWrittenHere(raw, deps.providers), text);
  // What the request says goes through the same rules as what a manifest says.
  const { name } = request.name === undefined ? read.manifest : (await readManifest(ground, { name: request.name })).manifest;
  const model = request.model === undefined ? read.manifest.model : { ...read.manifest.model, ...request.model };
  return { manifest: { ...read.manifest, name, model }, warnings: read.warnings };
};

/** Throws `template_not_found`, also while there are no templates at all. */
const templateText = async ({ templates }: SpawnDeps, name: string): Promise<string> => {
  const found = await templates.value?.find(name);
  if (!found) throw agentErrors.template_not_found(name, templates.value !== undefined);
  return found.manifestToml;
};

/** What a text says, for whoever only asks. */
export const readText = async (deps: SpawnDeps, text: string): Promise<ReadManifest> =>
  readTaken({ schemas: deps.schemas, declared: deps.capabilities.declared() }, await asWrittenHere(await parseManifestToml(text), deps.providers), text);

const fingerprintOf = ({ key: _key, runId: _runId, ...request }: SpawnRequest): string =>
  createHash('sha256')
    .update(
      JSON.stringify([
        request.manifestToml ?? null,
        request.manifest ?? null,
        request.name ?? null,
        request.model ?? null,
        request.parentId ?? null,
        ...(request.template === undefined ? [] : [request.template]),
        ...(request.id === undefined ? [] : [{ id: request.id }]),
      ]),
    )
    .digest('hex');
