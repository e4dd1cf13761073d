/** A skill as its folder has it: SKILL.md, skill.toml, or both. */
import { MAX_SKILL_BYTES, nameOf, type Note, readSkillFile, type Requirements, SkillFault, type SkillText } from './skill-file.js';
import { readSkillToml, type Runtime, type SkillProgram } from './skill-toml.js';

export const LINKED_FOLDERS = ['references', 'templates', 'scripts', 'assets'] as const;
const PROMPT_FILE = 'prompt_context.md';
const MAX_PROMPT_CHARS = 160_000;

export interface Skill extends SkillText {
  readonly runtime: Runtime;
  /** Of one with programs. */
  readonly program: SkillProgram | undefined;
  /** The file that it is read from. */
  readonly file: string;
  readonly paths: readonly string[];
}

export interface SkillFolder {
  /** What it is called where its file has no name. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Rejects for what is no file, or has more bytes. */
  text(path: string, maxBytes: number): Promise<string>;
}

export interface BadSkill {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** The file that makes a folder a skill; undefined where there is none. */
export const mainFileOf = (paths: readonly string[]): string | undefined =>
  paths.find((path) => path === 'SKILL.md') ?? paths.find((path) => path.toLowerCase() === 'skill.md') ?? paths.find((path) => path === 'skill.toml');

/** What cannot be read is answered, with file and line. */
export const readSkill = async (folder: SkillFolder): Promise<Skill | BadSkill> => {
  const file = mainFileOf(folder.paths);
  if (file === undefined) return { file: 'SKILL.md', line: 1, message: 'there is no SKILL.md and no skill.toml' };
  let reading = file;
  try {
    const own = file === 'skill.toml' ? undefined : readSkillFile(await folder.text(file, MAX_SKILL_BYTES), folder.name);
    if (!folder.paths.includes('skill.toml')) return { ...(own as SkillText), runtime: 'PromptOnly', program: undefined, file, paths: folder.paths };
    reading = 'skill.toml';
    return await withProgram(folder, file, own, () => {
      reading = PROMPT_FILE;
    });
  } catch (error) {
    const line = error instanceof SkillFault ? error.line : 1;
    return { file: reading, line, message: (error as Error).message.replace(/\.$/, '') };
  }
};

export const isBad = (skill: Skill | BadSkill): skill is BadSkill => 'message' in skill;

const NO_REQUIREMENTS: Requirements = { bins: [], anyBins: [], env: [], config: [], os: [], installs: [] };

const withProgram = async (folder: SkillFolder, file: string, own: SkillText | undefined, readsPrompt: () => void): Promise<Skill> => {
  const toml = readSkillToml(await folder.text('skill.toml', MAX_SKILL_BYTES), own?.name ?? folder.name);
  const { program } = toml;
  if (program.entry !== '' && !folder.paths.includes(program.entry)) throw new SkillFault(1, `[runtime] entry = "${program.entry}" is not in the skill`);
  const common = { runtime: program.runtime, program, file, paths: folder.paths };
  if (own) return { ...own, ...common, requires: { ...own.requires, env: [...new Set([...own.requires.env, ...program.env])] } };
  if (toml.promptContext === undefined && folder.paths.includes(PROMPT_FILE)) readsPrompt();
  const body = toml.promptContext ?? (folder.paths.includes(PROMPT_FILE) ? await folder.text(PROMPT_FILE, MAX_SKILL_BYTES) : '');
  if (body.length > MAX_PROMPT_CHARS) throw new SkillFault(1, `the instructions have more than ${MAX_PROMPT_CHARS} characters`);
  const { name, description, version, author, license, tags } = toml;
  if (description === '') throw new SkillFault(1, '[skill] description is missing');
  return {
    ...{ name, description, version, author, license, tags, body, ...common },
    ...{ homepage: '', emoji: '', allowedTools: [], argumentHint: '', isUserInvocable: true, isModelInvocable: true },
    category: tags[0] ?? 'general',
    requires: { ...NO_REQUIREMENTS, env: program.env },
    warnings: [],
  };
};

/** Names of its files in the four folders, from there. */
export const linkedFilesOf = (paths: readonly string[]): Readonly<Record<(typeof LINKED_FOLDERS)[number], readonly string[]>> => {
  const below = (folder: string): string[] => paths.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1));
  return { references: below('references'), templates: below('templates'), scripts: below('scripts'), assets: below('assets') };
};

/** A file that `createSkill` writes. */
export const writtenSkill = ({ name, description, tags, body }: { name: string; description: string; tags: readonly string[]; body: string }): string =>
  ['---', `name: ${nameOf(name)}`, `description: ${JSON.stringify(description)}`, 'version: "0.1.0"', `tags: ${JSON.stringify(tags)}`, '---', '', body.trim(), ''].join('\n');

export type { Note };
