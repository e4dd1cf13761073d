/** What the routes of skills do. */
import { type ExtensionContext, isSvcError, openResource, type RouteDecl, wordsAsked } from '@svc/api';
import { skillErrors } from './errors.js';
import { LINKED_FOLDERS } from './format/skill.js';
import type { evolveHandlers } from './evolve/routes.js';
import type { Installs } from './installs.js';
import type { Entry, Library } from './library.js';
import type { RegistrySkill } from './registry.js';
import { SkillsResource } from './resources.js';
import { detailed, shown } from './shown.js';

const MAX_FILE_BYTES = 256 * 1024;

export interface SkillRouteDeps {
  readonly library: Library;
  readonly installs: Installs;
  readonly evolve: ReturnType<typeof evolveHandlers>;
  readonly exec: ExtensionContext['exec'];
  readonly secrets: ExtensionContext['secrets'];
  registry(): Promise<readonly RegistrySkill[]>;
  isDisabled(name: string): boolean;
}

export const skillRoutes = ({ evolve, ...deps }: SkillRouteDeps): readonly RouteDecl[] =>
  openResource(SkillsResource, {
    list: ({ query: { category, q, offset = 0, limit } }) => {
      const all = deps.library.list();
      const words = wordsAsked(q ?? '');
      const fitting = all.filter((entry) => (category === undefined || categoryOf(entry) === category) && fits(entry, words)).sort((a, b) => (a.name < b.name ? -1 : 1));
      const rows = fitting.slice(offset, limit === undefined ? undefined : offset + limit).map((entry) => shown(entry, deps.isDisabled));
      return { skills: rows, total: fitting.length, categories: [...new Set(all.map(categoryOf))].sort() };
    },
    get: async ({ key }) => {
      const entry = deps.library.find(key);
      return entry && detailed(deps, entry);
    },
    actions: {
      rewrite: ({ actor, item, body }) => evolve.rewrite(actor, item.name, body),
      patch: ({ actor, item, body }) => evolve.patch(actor, item.name, body),
      rollback: ({ item }) => evolve.rollback(item.name),
      diff: ({ item, query }) => evolve.diff(item.name, query),
      file: ({ item, query }) => fileOf(deps.library, deps.library.get(item.name), query.path),
      registry: async () => {
        const skills = (await deps.registry()).map((skill) => ({ ...skill, tags: [...skill.tags], is_installed: deps.library.find(skill.name) !== undefined }));
        return { skills, total: skills.length };
      },
      reload: async () => ({ status: 'reloaded' as const, count: await deps.library.load() }),
      plan: ({ body }) => deps.installs.plan(body),
      install: async ({ actor, body }) => {
        const { verify = true, expected_sha256: expectedSha256, replace = false, discard_edits: discardEdits = false, accept_findings: acceptFindings = false, credentials } = body;
        const choices = { verify, replace, discardEdits, acceptFindings, ...(expectedSha256 === undefined ? {} : { expectedSha256 }) };
        const { name, version, digest, warnings } = await deps.installs.install(actor, body, choices, credentials);
        return { status: 'installed' as const, skill: name, name, version, digest, warnings: [...warnings] };
      },
      uninstall: async ({ body }) => {
        const name = await deps.installs.uninstall(body.name);
        return { status: 'uninstalled' as const, skill: name, name };
      },
      create: async ({ actor, body }) => {
        const { name, skill } = await deps.library.create(actor, body);
        return { status: 'created' as const, name, version: skill?.version ?? '', message: `Created the skill ${name}. Agents have it from the next message.` };
      },
    },
  }).routes;

const categoryOf = ({ skill }: Entry): string => skill?.category ?? 'general';

const fits = ({ name, skill }: Entry, words: readonly string[]): boolean => {
  const text = `${name} ${skill?.description ?? ''} ${(skill?.tags ?? []).join(' ')}`.toLowerCase();
  return words.every((word) => text.includes(word.toLowerCase()));
};

const fileOf = async (library: Library, entry: Entry, path: string): Promise<{ name: string; path: string; content: string; truncated: boolean }> => {
  if (path.startsWith('/') || path.includes('\\') || path.includes('\0')) throw skillErrors.bad_path(path, 'is not relative');
  const parts = path.split('/');
  if (parts.includes('..')) throw skillErrors.bad_path(path, 'leads out of the skill');
  if (!LINKED_FOLDERS.some((folder) => folder === parts[0]) || parts.length < 2) throw skillErrors.bad_path(path, 'is not in one of the four folders');
  if (!entry.skill?.paths.includes(path)) throw skillErrors.file_not_found(entry.name, path);
  try {
    const { text, isCut } = await library.text(entry, path, MAX_FILE_BYTES);
    return { name: entry.name, path, content: text, truncated: isCut };
  } catch (error) {
    if (isSvcError(error) && error.code.startsWith('files_')) throw skillErrors.file_not_found(entry.name, path).with({ cause: error });
    throw error;
  }
};
