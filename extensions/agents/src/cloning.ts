/**
 * An agent like another one.
 *
 * L1  A clone is a spawn by whoever asks for it: it is theirs, is validated as theirs, and stands below nobody.
 * L2  It has the manifest, the looks and the identity files of the other, and a session, a workspace and a mode of its own.
 * L3  Its files are there before it is seen. Where it cannot be made, none are left.
 */
import { type Actor, type Dir, type Logger, isSvcError } from '@svc/api';
import { createHash } from 'node:crypto';
import type { Agent } from './contract.js';
import { agentErrors } from './errors.js';
import { IDENTITY_FILES, identityPaths, MAX_IDENTITY_BYTES } from './identity-files.js';
import { writtenManifest } from './manifest/manifest-written.js';
import { type Kept, type Receipt, SPAWN_KIND, type SpawnDeps, type Spawned, spawnOnce, withWarnings } from './spawning.js';

const MAX_NAME = 256;
const MAX_COPIES = 100;
/** Others that may take the name which was free a moment ago. */
const MAX_RACES = 5;

export interface CloneDeps extends SpawnDeps {
  readonly workspaces: Dir;
  readonly log: Logger;
}

export interface CloneWish {
  /** Left out: `<name>-copy`, else `<name>-copy-2` … */
  readonly name?: string;
  readonly withTools: boolean;
  readonly withSkills: boolean;
  readonly key?: string;
}

/** Throws what a spawn throws, and `agents_no_free_name`. */
export const cloneAgent = async (deps: CloneDeps, actor: Actor, source: Agent, wish: CloneWish): Promise<Spawned> => {
  const { key, ...rest } = wish;
  const fingerprint = createHash('sha256')
    .update(JSON.stringify(['clone', source.id, rest]))
    .digest('hex');
  const { result } = await deps.journal.once<Kept>({ actor, kind: SPAWN_KIND, fingerprint, ...(key === undefined ? {} : { key }) }, (receipt) => cloneOnce(deps, actor, source, wish, receipt));
  return withWarnings(result);
};

const cloneOnce = async (deps: CloneDeps, actor: Actor, source: Agent, wish: CloneWish, receipt: Receipt): Promise<Spawned> => {
  const id = deps.ids.uuid();
  const prepare = (): Promise<readonly string[]> => copyIdentity(deps, source.id, id);
  try {
    for (let races = 0; ; races++) {
      const name = wish.name ?? (await freeName(deps, actor, source.name));
      try {
        return await spawnOnce(deps, actor, { manifest: manifestOf(source, name, wish) }, { parent: null, ownerId: actor.ownerId, id, prepare }, receipt);
      } catch (error) {
        const isTaken = isSvcError(error) && error.code === 'agent_already_exists';
        if (!isTaken || wish.name !== undefined || races >= MAX_RACES) throw error;
      }
    }
  } catch (error) {
    await dropFiles(deps, id);
    throw error;
  }
};

/** What was pinned for the other's mode is not pinned for it: a clone begins in Normal. */
const manifestOf = (source: Agent, name: string, { withTools, withSkills }: CloneWish): unknown => {
  const { pinned_model: pinned, ...written } = writtenManifest(source.manifest);
  return {
    ...written,
    ...(pinned === undefined || source.mode === 'Stable' ? {} : { pinned_model: pinned }),
    name,
    ...(withTools ? {} : { tools_disabled: true }),
    ...(withSkills ? {} : { skills_disabled: true }),
  };
};

const freeName = async ({ store }: CloneDeps, { ownerId }: Actor, name: string): Promise<string> => {
  const candidates = Array.from({ length: MAX_COPIES }, (_, index) => {
    const tail = index === 0 ? '-copy' : `-copy-${index + 1}`;
    return `${[...name].slice(0, MAX_NAME - tail.length).join('')}${tail}`;
  });
  const taken = new Set(await store.namesAmong(ownerId, candidates));
  const free = candidates.find((candidate) => !taken.has(candidate));
  if (free === undefined) throw agentErrors.agents_no_free_name(name);
  return free;
};

/** A sentence for each that was left behind. */
const copyIdentity = async ({ workspaces }: CloneDeps, from: string, to: string): Promise<string[]> => {
  if (!(await workspaces.stat(from))) return [];
  const skipped: string[] = [];
  for (const path of IDENTITY_FILES.flatMap(identityPaths)) {
    const why = await copyFile(workspaces, path, from, to);
    if (why !== undefined) skipped.push(`${path} was not copied: ${why}`);
  }
  return skipped;
};

/** Why it was left behind; undefined when it was copied, or is not there. */
const copyFile = async (workspaces: Dir, path: string, from: string, to: string): Promise<string | undefined> => {
  try {
    const found = await workspaces.dir(from).stat(path);
    if (found?.kind !== 'file') return undefined;
    if (found.sizeBytes > MAX_IDENTITY_BYTES) return `it has ${found.sizeBytes} bytes, and identity files have at most ${MAX_IDENTITY_BYTES}.`;
    await workspaces.dir(to).write(path, await workspaces.dir(from).read(path, { maxBytes: MAX_IDENTITY_BYTES }));
    return undefined;
  } catch (error) {
    // A link that leads out of the workspace, say: the agent may have put it there.
    if (isSvcError(error) && error.status < 500) return error.message;
    throw error;
  }
};

const dropFiles = async ({ workspaces, log }: CloneDeps, id: string): Promise<void> => {
  try {
    if (await workspaces.stat(id)) await workspaces.remove(id);
  } catch (error) {
    // What went wrong before is the better answer; a folder that belongs to nobody is seen by nobody.
    log.warn('the folder of a clone that could not be made was not removed', { agentId: id, error: String(error) });
  }
};
