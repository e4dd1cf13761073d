/**
 * Changes of skills that agents propose.
 *
 * E1  What an agent writes is a proposal with a diff. It takes effect when an owner or admin approves it, and never by itself.
 * E2  A proposal is for the files that its agent saw. Where they have changed since, it is refused.
 * E3  What an agent wrote counts as text from outside after it was approved as well.
 */
import type { Actor, ExtensionContext } from '@svc/api';
import type { ProposalRow } from '../contract.js';
import { skillErrors } from '../errors.js';
import { writtenSkill } from '../format/skill.js';
import { digestOf, hashesOf, type PackFile } from '../install/pack.js';
import type { Finding } from '../install/scan.js';
import type { Entry, Library } from '../library.js';
import { alikeTo, changedFiles, diffOf, type FileChange, instructionsIn, withBody, withPatch } from './changes.js';

const TABLE = 'proposals';
const MAX_PENDING = 200;

export interface Draft {
  readonly name: string;
  readonly description: string;
  readonly prompt_context: string;
}

export interface Proposals {
  create(actor: Actor, agentId: string, draft: Draft, changelog: string): Promise<ProposalRow>;
  update(actor: Actor, agentId: string, skill: string, body: string, changelog: string): Promise<ProposalRow>;
  patch(actor: Actor, agentId: string, skill: string, patch: Patch, changelog: string): Promise<ProposalRow>;
  list(): Promise<ProposalRow[]>;
  find(id: string): Promise<ProposalRow | undefined>;
  approve(actor: Actor, row: ProposalRow): Promise<Entry>;
  reject(row: ProposalRow): Promise<void>;
}

export interface Patch {
  readonly old_string: string;
  readonly new_string: string;
  readonly replace_all?: boolean | undefined;
}

export const createProposals = ({ ctx, library }: { readonly ctx: Pick<ExtensionContext, 'db' | 'clock' | 'ids'>; readonly library: Library }): Proposals => {
  const system = ctx.db.system('proposals of agents for the skills of the daemon');
  const list = (): Promise<ProposalRow[]> => system.select<ProposalRow>({ from: TABLE, order: [{ column: 'created_at', descending: true }, { column: 'id' }], limit: MAX_PENDING });
  const remove = async (id: string): Promise<void> => void (await ctx.db.commit([ctx.db.remove(TABLE, { id })]));
  const store = async (actor: Actor, agentId: string, rest: Omit<ProposalRow, 'id' | 'owner_id' | 'agent_id' | 'created_at'>): Promise<ProposalRow> => {
    if ((await list()).length >= MAX_PENDING) throw skillErrors.too_many_proposals(MAX_PENDING);
    const row: ProposalRow = { id: ctx.ids.uuid(), owner_id: actor.ownerId, agent_id: agentId, created_at: ctx.clock.iso(), ...rest };
    await ctx.db.commit([ctx.db.insert(TABLE, [row])]);
    return row;
  };
  const change = async (actor: Actor, agentId: string, skill: string, changelog: string, changed: (text: string) => string): Promise<ProposalRow> => {
    const entry = library.get(skill);
    const files = await library.files(entry);
    const path = entry.skill?.file ?? 'SKILL.md';
    const text = changed(instructionsIn(entry.name, path, files));
    const changes: FileChange[] = [{ path, text }];
    const diff = diffOf(files, changedFiles(files, changes));
    if (diff === '') throw skillErrors.no_change(entry.name);
    return store(actor, agentId, { skill: entry.name, kind: 'update', base: digestOf(hashesOf(files)), changelog, changes: JSON.stringify(changes), diff, alike: '[]' });
  };
  return {
    create: async (actor, agentId, draft, changelog) => {
      if (library.find(draft.name)) throw skillErrors.exists(draft.name);
      const text = writtenSkill({ ...draft, tags: [], body: draft.prompt_context });
      const after: PackFile[] = [{ path: 'SKILL.md', bytes: Buffer.from(text), isProgram: false }];
      const known = library.list().map(({ name, skill }) => ({ name, description: skill?.description ?? '' }));
      const changes = JSON.stringify([{ path: 'SKILL.md', text }]);
      return store(actor, agentId, { skill: draft.name, kind: 'create', base: '', changelog, changes, diff: diffOf([], after), alike: JSON.stringify(alikeTo(draft.description, known)) });
    },
    update: (actor, agentId, skill, body, changelog) => change(actor, agentId, skill, changelog, (text) => withBody(text, body)),
    patch: (actor, agentId, skill, { old_string: old, new_string: next, replace_all: all = false }, changelog) =>
      change(actor, agentId, skill, changelog, (text) => withPatch(text, old, next, all).text),
    list,
    find: async (id) => (await system.select<ProposalRow>({ from: TABLE, where: { id }, limit: 1 }))[0],
    approve: async (actor, row) => {
      const changes = JSON.parse(row.changes) as FileChange[];
      const finding: Finding = { rule: 'written_by_agent', severity: 'warning', file: changes[0]?.path ?? 'SKILL.md', line: 1, message: 'An agent wrote it, and a person approved it.' };
      const entry = library.find(row.skill);
      if (row.kind === 'create' ? entry : !entry) throw skillErrors.proposal_stale(row.skill);
      const files = entry ? await library.files(entry) : [];
      if (entry && digestOf(hashesOf(files)) !== row.base) throw skillErrors.proposal_stale(row.skill);
      const made = await library.change(actor, row.skill, changedFiles(files, changes), row.changelog, [finding]);
      await remove(row.id);
      return made;
    },
    reject: (row) => remove(row.id),
  };
};
