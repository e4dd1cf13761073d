/** How an agent loads a skill. */
import { type AnyTool, defineTool, isSvcError, type Origin, type ToolOutput, Type } from '@svc/api';
import type { AgentManifest, AgentsService } from '@svc/ext-agents/contract';
import { type Assigned, isTainted, READ_TOOL } from './assigned.js';
import type { Entry, Library } from './library.js';
import { lineOf } from './prompt.js';
import { saidOf } from './install/scan.js';

const MAX_BYTES = 256 * 1024;
const FOLDER_WORDS = /\{baseDir\}|\$\{(?:SKILL_DIR|CLAUDE_SKILL_DIR)\}/g;

export interface ReadDeps {
  readonly library: Library;
  readonly assigned: Assigned;
  readonly agents: Pick<AgentsService, 'get'>;
}

export const readSkillTool = (deps: ReadDeps): AnyTool =>
  defineTool({
    name: READ_TOOL,
    description: 'Reads a skill: without `path` its instructions, with `path` one of its files. Without `skill` it lists your skills.',
    params: Type.Object({
      skill: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'Name of the skill' })),
      path: Type.Optional(Type.String({ minLength: 1, maxLength: 1_000, description: 'A file of the skill, from its folder' })),
    }),
    risk: 'read',
    replay: 'safe',
    parallel: true,
    // Its own text is that of the person who installed it; what is more is said by the origin of each result.
    openWorld: false,
    run: async ({ skill, path }, { actor, agentId }) => {
      const manifest = agentId === '' ? undefined : (await deps.agents.get(actor, agentId)).manifest;
      if (skill === undefined) return allOf(deps, manifest);
      const entry = manifest ? deps.assigned.has(manifest, skill) : deps.library.find(skill);
      if (!entry?.skill) return { content: `You have no skill "${skill}". Call ${READ_TOOL} without a skill to see those that you have.`, isError: true };
      if (path === undefined) deps.library.used(entry.name);
      return path === undefined ? instructions(deps, entry) : fileOf(deps, entry, path);
    },
  });

const allOf = ({ assigned, library }: ReadDeps, manifest: AgentManifest | undefined): ToolOutput => {
  const entries = (manifest ? assigned.of(manifest) : library.list().filter((entry) => assigned.isOn(entry))).filter(({ skill }) => skill?.isModelInvocable === true);
  return { content: entries.length === 0 ? 'You have no skills.' : entries.map(lineOf).join('\n') };
};

export const originOf = (entry: Entry): { origin?: Origin } =>
  isTainted(entry) ? { origin: { labels: ['ExternalNetwork'], source: `the skill ${entry.name}, in which svc found ${saidOf(entry.findings)}` } } : {};

/** Its text as an agent reads it: the folder first, and its words for the folder replaced. */
export const instructionsOf = (library: Pick<Library, 'pathOf'>, entry: Entry): string => {
  const path = library.pathOf(entry);
  const files = (entry.skill?.paths ?? []).filter((file) => file !== entry.skill?.file);
  const tools = entry.skill?.program?.tools ?? [];
  const head = [
    path === '' ? `Skill ${entry.name}.` : `Skill ${entry.name}. Its folder is ${path}. Paths in it are relative to that folder. Read its files with ${READ_TOOL}.`,
    ...(files.length > 0 ? [`Files: ${files.slice(0, 200).join(', ')}${files.length > 200 ? `, and ${files.length - 200} more` : ''}.`] : []),
    ...(tools.length > 0 ? [`Its programs are tools whose names begin with skill_${entry.name.replace(/[^a-z0-9_]/g, '_')}_.`] : []),
  ].join('\n');
  const body = (entry.skill?.body ?? '').replace(FOLDER_WORDS, path);
  return `${head}\n\n${body}`;
};

const instructions = ({ library }: ReadDeps, entry: Entry): ToolOutput => ({ content: instructionsOf(library, entry), ...originOf(entry) });

const fileOf = async ({ library }: ReadDeps, entry: Entry, given: string): Promise<ToolOutput> => {
  const own = library.pathOf(entry);
  const path = (own !== '' && given.startsWith(`${own}/`) ? given.slice(own.length + 1) : given).replace(/^(?:\.\/)+/, '');
  if (!entry.skill?.paths.includes(path)) return { content: `The skill ${entry.name} has no file "${given}". It has: ${(entry.skill?.paths ?? []).slice(0, 200).join(', ')}.`, isError: true };
  try {
    const { text, isCut } = await library.text(entry, path, MAX_BYTES);
    if (text.slice(0, 8_192).includes('\0')) return { content: `${path} is no text.`, isError: true };
    return { content: `${text}${isCut ? '\n[The file is longer. Only its beginning is shown.]' : ''}`, ...originOf(entry) };
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { content: error.message, isError: true };
  }
};
