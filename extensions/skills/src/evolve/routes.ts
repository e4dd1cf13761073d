/** What the routes of changes do. */
import { type Actor, openResource, type Plain, type RouteDecl } from '@svc/api';
import type { ProposalRow } from '../contract.js';
import { skillErrors } from '../errors.js';
import { type Entry, type Library, versionsOf } from '../library.js';
import { changedFiles, diffOf, instructionsIn, withBody, withPatch } from './changes.js';
import type { Patch, Proposals } from './proposals.js';
import { type Evolved, SkillProposals } from './resources.js';

const evolved = (entry: Entry, what: string): Plain<typeof Evolved> => ({
  success: true,
  message: `${what} Agents have it from the next message.`,
  skill_name: entry.name,
  version: entry.skill?.version ?? '',
  evolution_count: Math.max(0, (entry.row ? versionsOf(entry.row).length : 1) - 1),
  use_count: entry.row?.use_count ?? 0,
});

export const evolveHandlers = (library: Library) => {
  const change = async (actor: Actor, name: string, changelog: string, changed: (text: string) => string): Promise<Plain<typeof Evolved>> => {
    const entry = library.get(name);
    if (entry.source.type === 'bundled') throw skillErrors.bundled(entry.name);
    const files = await library.files(entry);
    const path = entry.skill?.file ?? 'SKILL.md';
    const text = changed(instructionsIn(entry.name, path, files));
    const next = changedFiles(files, [{ path, text }]);
    if (diffOf(files, next) === '') throw skillErrors.no_change(entry.name);
    const made = await library.change(actor, entry.name, next, changelog);
    return evolved(made, `${made.name} is now ${made.skill?.version ?? ''}.`);
  };
  return {
    rewrite: (actor: Actor, name: string, { prompt_context: body, changelog }: { prompt_context: string; changelog: string }) => change(actor, name, changelog, (text) => withBody(text, body)),
    patch: (actor: Actor, name: string, { changelog, old_string: old, new_string: next, replace_all: all = false }: Patch & { changelog: string }) =>
      change(actor, name, changelog, (text) => withPatch(text, old, next, all).text),
    rollback: async (name: string) => {
      const entry = await library.rollBack(name);
      return evolved(entry, `${entry.name} is ${entry.skill?.version ?? ''} again.`);
    },
    diff: async (name: string, { from, to }: { from?: string | undefined; to?: string | undefined }) => {
      const entry = library.get(name);
      const before = from ?? (entry.row ? versionsOf(entry.row)[1]?.content_hash : undefined);
      if (before === undefined) throw skillErrors.no_version(entry.name);
      const [old, next] = [await library.filesOfVersion(entry, before), to === undefined ? await library.files(entry) : await library.filesOfVersion(entry, to)];
      return { name: entry.name, diff: diffOf(old, next) };
    },
  };
};

const shown = ({ id, skill, kind, agent_id, changelog, diff, alike, created_at }: ProposalRow) => ({
  ...{ id, skill, agent_id, changelog, diff },
  kind: kind === 'create' ? ('create' as const) : ('update' as const),
  similar_skills: JSON.parse(alike) as string[],
  captured_at: created_at,
});

export const proposalRoutes = (proposals: Proposals): readonly RouteDecl[] => {
  const get = async (id: string): Promise<ProposalRow> => {
    const row = await proposals.find(id.toLowerCase());
    if (!row) throw skillErrors.proposal_not_found(id);
    return row;
  };
  return openResource(SkillProposals, {
    list: async () => (await proposals.list()).map(shown),
    actions: {
      approve: async ({ actor, key }) => {
        const row = await get(key);
        const { name, skill } = await proposals.approve(actor, row);
        return {
          status: 'approved' as const,
          candidate_id: row.id,
          skill_name: name,
          version: skill?.version ?? '',
          message: `${name} is now ${skill?.version ?? ''}. Agents have it from the next message.`,
        };
      },
      reject: async ({ key }) => {
        const row = await get(key);
        await proposals.reject(row);
        return { status: 'rejected' as const, candidate_id: row.id, skill_name: row.skill };
      },
    },
  }).routes;
};
