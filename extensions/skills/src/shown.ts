/** Skills as they are answered. */
import type { ExtensionContext, Plain } from '@svc/api';
import { offReason } from './assigned.js';
import { linkedFilesOf } from './format/skill.js';
import { programsOf } from './install/plan.js';
import { worstOf } from './install/scan.js';
import { type Entry, type Library, versionsOf } from './library.js';
import type { SkillDetail, SkillItem } from './resources.js';
import { secretName } from './run/script-tools.js';

const UNREAD = { version: '', runtime: 'PromptOnly', description: '', author: '', tags: [], category: 'general' } as const;

export const shown = (entry: Entry, isDisabled: (name: string) => boolean): Plain<typeof SkillItem> => {
  const { skill } = entry;
  const error = offReason(entry, isDisabled);
  const { version, runtime, description, author, tags, category } = skill ?? UNREAD;
  return {
    ...{ name: entry.name, version, runtime, description, author, category },
    tags: [...tags],
    tools_count: skill?.program?.tools.length ?? 0,
    enabled: error === undefined,
    has_prompt_context: (skill?.body ?? '') !== '',
    error: error ?? null,
    warnings: (skill?.warnings ?? []).map(({ line, message }) => `${skill?.file ?? ''}, line ${line}: ${message}.`),
    risk: worstOf(entry.findings),
    use_count: entry.row?.use_count ?? 0,
    source: { ...entry.source },
  };
};

export interface DetailDeps {
  readonly library: Library;
  readonly exec: ExtensionContext['exec'];
  readonly secrets: Pick<ExtensionContext['secrets'], 'where'>;
  isDisabled(name: string): boolean;
}

export const detailed = async ({ library, exec, secrets, isDisabled }: DetailDeps, entry: Entry): Promise<Plain<typeof SkillDetail>> => {
  const { skill, row } = entry;
  const variables = await Promise.all((skill?.requires.env ?? []).map(async (name) => ({ name, is_set: (await secrets.where({ secret: secretName(entry.name, name) })) !== undefined })));
  const { references, templates, scripts, assets } = linkedFilesOf(skill?.paths ?? []);
  const versions = row ? versionsOf(row).map(({ folder: _place, ...version }) => version) : [];
  return {
    ...shown(entry, isDisabled),
    source: entry.source.slug === undefined ? entry.source.type : `${entry.source.type}:${entry.source.slug}`,
    license: skill?.license ?? '',
    homepage: skill?.homepage ?? '',
    tools: (skill?.program?.tools ?? []).map(({ name, description }) => ({ name, description })),
    prompt_context: skill?.body ?? '',
    prompt_context_length: [...(skill?.body ?? '')].length,
    path: library.pathOf(entry),
    linked_files: { references: [...references], templates: [...templates], scripts: [...scripts], assets: [...assets] },
    evolution: { versions, use_count: row?.use_count ?? 0, evolution_count: Math.max(0, versions.length - 1) },
    requirements: { programs: skill ? await programsOf(exec, skill) : [], variables, systems: [...(skill?.requires.os ?? [])], installs: [...(skill?.requires.installs ?? [])] },
    findings: [...entry.findings],
    digest: row?.digest ?? null,
    installed_at: row?.created_at ?? null,
  };
};
