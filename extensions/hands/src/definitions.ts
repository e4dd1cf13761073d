/**
 * The hands that are installed: those that come with svc, and folders in `hands` of the home.
 *
 * D1  A file that cannot be read is named with the reason, and the others are there. A folder with the id of a built-in hand takes its place.
 * D2  What is installed is whole or not there: the hand counts once its HAND.toml is written, which is last.
 * D3  Texts that look like orders for an agent are refused, unless whoever installs has read them and says so.
 */
import { type Assets, type Dir, isSvcError, nearest, type Schemas } from '@svc/api';
import { suspicionsOf } from '@svc/ext-taint/contract';
import { handErrors, reasonOf } from './errors.js';
import { type Hand, HAND_ID, MAX_FILE_BYTES, readHand } from './hand-file.js';

const FILE = 'HAND.toml';
const SKILL = 'SKILL.md';
const REGISTRY = 'hands';
const MAX_FOLDERS = 1_000;
const BUNDLED = ['folder-watcher', 'site-checker', 'file-digest'] as const;

export interface Definition {
  readonly hand: Hand;
  readonly isCustom: boolean;
  /** Context of all roles, and of one. */
  readonly skill: string;
  readonly roleSkills: Readonly<Record<string, string>>;
  /** To tell whether a reload brought another text. */
  readonly text: string;
}

export interface Fault {
  readonly file: string;
  readonly error: string;
}

export interface NewHand {
  readonly text?: string | undefined;
  readonly skill?: string | undefined;
  /** A folder of `registry/hands`. */
  readonly slug?: string | undefined;
  readonly acceptsFindings: boolean;
}

export interface Definitions {
  list(): Promise<readonly Definition[]>;
  faults(): Promise<readonly Fault[]>;
  find(id: string): Promise<Definition | undefined>;
  /** Throws `hands_not_found` with the nearest id. */
  get(id: string): Promise<Definition>;
  install(asked: NewHand): Promise<Definition>;
  /** Throws `hands_not_found`, `hands_built_in`. */
  remove(id: string): Promise<void>;
  reload(): Promise<{ readonly added: number; readonly updated: number; readonly total: number }>;
}

export interface DefinitionDeps {
  readonly assets: Assets;
  readonly hands: Dir;
  readonly registry: Dir;
  readonly schemas: Pick<Schemas, 'check'>;
  /** Throws where a role is no agent. */
  check(definition: Definition): Promise<void>;
}

interface Loaded {
  readonly byId: ReadonlyMap<string, Definition>;
  readonly faults: readonly Fault[];
}

export const createDefinitions = (deps: DefinitionDeps): Definitions => {
  let loaded: Promise<Loaded> | undefined;
  const all = (): Promise<Loaded> =>
    (loaded ??= load(deps).catch((error: unknown) => {
      loaded = undefined;
      throw error;
    }));
  const get = async (id: string): Promise<Definition> => {
    const { byId } = await all();
    const found = byId.get(id);
    if (found) return found;
    const [near] = nearest(id, [...byId.keys()], 1);
    throw handErrors.not_found(id, near === undefined ? '' : ` Did you mean "${near}"?`);
  };
  return {
    list: async () => [...(await all()).byId.values()].sort((a, b) => (a.hand.id < b.hand.id ? -1 : 1)),
    faults: async () => (await all()).faults,
    find: async (id) => (await all()).byId.get(id),
    get,
    install: async (asked) => {
      const made = await prepared(deps, asked);
      const { id } = made.hand;
      if ((await all()).byId.has(id) || (await deps.hands.stat(`${id}/${FILE}`))) throw handErrors.exists(id);
      if (!asked.acceptsFindings) refuseSuspicious(made);
      await deps.check(made);
      if (made.skill !== '') await deps.hands.write(`${id}/${SKILL}`, made.skill);
      for (const [role, text] of Object.entries(made.roleSkills)) await deps.hands.write(`${id}/SKILL-${role}.md`, text);
      await deps.hands.write(`${id}/${FILE}`, made.text);
      loaded = undefined;
      return made;
    },
    remove: async (id) => {
      const { isCustom } = await get(id);
      if (!isCustom) throw handErrors.built_in(id);
      await deps.hands.remove(id);
      loaded = undefined;
    },
    reload: async () => {
      const before = await all();
      loaded = undefined;
      const { byId } = await all();
      const added = [...byId.keys()].filter((id) => !before.byId.has(id)).length;
      const updated = [...byId].filter(([id, { text, skill }]) => {
        const old = before.byId.get(id);
        return old !== undefined && (old.text !== text || old.skill !== skill);
      }).length;
      return { added, updated, total: byId.size };
    },
  };
};

const load = async (deps: DefinitionDeps): Promise<Loaded> => {
  const byId = new Map<string, Definition>();
  for (const id of BUNDLED) {
    const text = await deps.assets.readText(`${id}.toml`);
    byId.set(id, { hand: await readHand(deps.schemas, text), isCustom: false, skill: '', roleSkills: {}, text });
  }
  const faults: Fault[] = [];
  for (const { name, kind } of await deps.hands.list('', { limit: MAX_FOLDERS })) {
    if (kind !== 'dir' || !(await deps.hands.stat(`${name}/${FILE}`))) continue;
    try {
      const found = await fromFolder(deps, deps.hands.dir(name));
      if (found.hand.id !== name) throw handErrors.bad_manifest(`its id is "${found.hand.id}", and its folder "${name}".`);
      byId.set(found.hand.id, found);
    } catch (error) {
      faults.push({ file: `hands/${name}/${FILE}`, error: reasonOf(error) });
    }
  }
  return { byId, faults };
};

const fromFolder = async ({ schemas }: DefinitionDeps, folder: Dir): Promise<Definition> => {
  const text = await folder.readText(FILE, { maxBytes: MAX_FILE_BYTES });
  const hand = await readHand(schemas, text);
  const optional = async (path: string): Promise<string> => ((await folder.stat(path)) ? folder.readText(path, { maxBytes: MAX_FILE_BYTES }) : '');
  const roleSkills: Record<string, string> = {};
  for (const { role } of hand.roles) {
    const skill = await optional(`SKILL-${role}.md`);
    if (skill !== '') roleSkills[role] = skill;
  }
  return { hand, isCustom: true, skill: await optional(SKILL), roleSkills, text };
};

const prepared = async (deps: DefinitionDeps, { text, skill = '', slug }: NewHand): Promise<Definition> => {
  if ((text === undefined) === (slug === undefined)) throw handErrors.nothing_to_install();
  if (text !== undefined) return { hand: await readHand(deps.schemas, text), isCustom: true, skill, roleSkills: {}, text };
  const name = slug ?? '';
  if (!new RegExp(HAND_ID).test(name) || !(await isThere(deps.registry, `${REGISTRY}/${name}/${FILE}`))) throw handErrors.not_in_registry(name);
  return fromFolder(deps, deps.registry.dir(`${REGISTRY}/${name}`));
};

const isThere = async (dir: Dir, path: string): Promise<boolean> => {
  try {
    return (await dir.stat(path)) !== undefined;
  } catch (error) {
    // A link that leads out of the folder.
    if (isSvcError(error) && error.status < 500) return false;
    throw error;
  }
};

/** Every text of it that an agent reads, with its place. */
const refuseSuspicious = ({ hand, skill, roleSkills }: Definition): void => {
  const said = hand.roles.map(({ role, manifest }) => [`the prompt of ${role}`, promptIn(manifest)] as const);
  const texts = [...said, [SKILL, skill] as const, ...Object.entries(roleSkills).map(([role, text]) => [`SKILL-${role}.md`, text] as const)];
  const findings = texts.flatMap(([place, text]) => suspicionsOf(text).map((rule) => `${rule} in ${place}`));
  if (findings.length > 0) throw handErrors.suspicious(findings);
};

export const promptIn = (manifest: Readonly<Record<string, unknown>>): string => {
  const model = manifest.model as { readonly system_prompt?: unknown } | undefined;
  return typeof model?.system_prompt === 'string' ? model.system_prompt : '';
};
