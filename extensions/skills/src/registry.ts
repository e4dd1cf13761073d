/** The local registry: folders below `registry/skills` of the home, each with a skill that can be installed by name. */
import type { Dir } from '@svc/api';
import { isBad, mainFileOf, readSkill } from './format/skill.js';
import { nameOf } from './format/skill-file.js';

const MAX_SKILLS = 2_000;
const AT_ONCE = 16;

export interface RegistrySkill {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly author: string;
  readonly tags: readonly string[];
  readonly error: string | null;
}

export const readRegistry = async (root: Dir): Promise<RegistrySkill[]> => {
  const skills = root.dir('skills');
  const listed = (await root.stat('skills'))?.kind === 'dir' ? await skills.list('', { limit: MAX_SKILLS }) : [];
  const folders = listed.filter(({ kind, name }) => kind === 'dir' && !name.startsWith('.'));
  const found: RegistrySkill[] = [];
  for (let start = 0; start < folders.length; start += AT_ONCE) found.push(...(await Promise.all(folders.slice(start, start + AT_ONCE).map(({ name }) => readOne(skills.dir(name), name)))));
  return found.sort((a, b) => (a.name < b.name ? -1 : 1));
};

const readOne = async (dir: Dir, folder: string): Promise<RegistrySkill> => {
  const paths = (await dir.list('', { limit: 1_000 })).filter(({ kind }) => kind === 'file').map(({ name }) => name);
  if (mainFileOf(paths) === 'skill.toml')
    paths.push(...(await dir.list('', { recursive: true, limit: 1_000 })).filter(({ kind, name }) => kind === 'file' && name.includes('/')).map(({ name }) => name));
  const skill = await readSkill({ name: folder, paths, text: (path, maxBytes) => dir.readText(path, { maxBytes }) });
  if (isBad(skill)) return { name: nameOf(folder) || folder, description: '', version: '', author: '', tags: [], error: `${skill.file}, line ${skill.line}: ${skill.message}.` };
  const { description, version, author, tags } = skill;
  return { name: nameOf(folder) || folder, description, version, author, tags, error: null };
};
