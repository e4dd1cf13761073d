/** Versions of prompts: saved by people, and by svc when a prompt changes. */
import { createHash } from 'node:crypto';
import type { AgentsService } from '@svc/ext-agents/contract';
import { type Actor, type Clock, type Db, type Events, type Ids, isSvcError } from '@svc/api';
import { type ExperimentRow, PromptsChanged, type Variant, type Version, type VersionRow } from './contract.js';
import { promptErrors } from './errors.js';

export interface LabDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly agents: AgentsService;
}
type Draft = Pick<VersionRow, 'system_prompt' | 'description' | 'created_by' | 'tools' | 'variables'>;

const KEPT = 50;
const MAX_RACES = 20;
const FOUND = { description: 'Saved when the prompt changed', created_by: 'svc', tools: '[]', variables: '[]' } as const;

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export const createVersions = ({ db, events, clock, ids, agents }: LabDeps) => {
  const rowsOf = (actor: Actor, agentId: string): Promise<VersionRow[]> =>
    db.as(actor).select<VersionRow>({ from: 'prompt_versions', where: { agent_id: agentId }, order: [{ column: 'version', descending: true }], limit: KEPT * 2 });
  const shown = (row: VersionRow, prompt: string): Version => {
    const { owner_id: _, ...rest } = row;
    return { ...rest, tools: JSON.parse(row.tools), variables: JSON.parse(row.variables), is_active: row.content_hash === hashOf(prompt) } as Version;
  };
  const promptOf = async (actor: Actor, agentId: string): Promise<string> => (await agents.get(actor, agentId)).manifest.model.system_prompt;
  const row = async (actor: Actor, id: string): Promise<VersionRow> => {
    const found = await db.as(actor).first<VersionRow>({ from: 'prompt_versions', where: { id } });
    if (!found) throw promptErrors.version_not_found(id);
    return found;
  };
  const tested = async (actor: Actor, agentId: string): Promise<Set<string>> => {
    const running = await db.as(actor).select<ExperimentRow>({ from: 'prompt_experiments', where: { agent_id: agentId, status: ['running', 'paused'] }, limit: 1_000 });
    return new Set(running.flatMap(({ variants }) => (JSON.parse(variants) as Variant[]).map((one) => one.prompt_version_id)));
  };
  /** Of a prompt that svc found, nothing where a version has it; the read that says so is the one that numbers it. */
  const saveOnce = async (actor: Actor, agentId: string, draft: Draft | undefined): Promise<VersionRow | undefined> => {
    const agent = await agents.get(actor, agentId);
    const prompt = agent.manifest.model.system_prompt;
    const [before, inUse] = await Promise.all([rowsOf(actor, agent.id), tested(actor, agent.id)]);
    if (!draft && (prompt === '' || before.some((one) => one.content_hash === hashOf(prompt)))) return undefined;
    const { system_prompt, ...rest } = draft ?? { ...FOUND, system_prompt: prompt };
    const made: VersionRow = {
      ...{ id: ids.uuid(), owner_id: agent.ownerId, agent_id: agent.id, version: (before[0]?.version ?? 0) + 1, content_hash: hashOf(system_prompt), created_at: clock.iso() },
      ...{ system_prompt, ...rest },
    };
    const surplus = before.slice(KEPT - 1).filter((one) => one.content_hash !== hashOf(prompt) && !inUse.has(one.id));
    await db.commit([
      db.insert('prompt_versions', [made]),
      ...surplus.map(({ id }) => db.remove('prompt_versions', { id }, { expect: 'any' })),
      events.event(PromptsChanged, { agentId: agent.id, ownerId: agent.ownerId }),
    ]);
    return made;
  };
  /** Two that save at once want the same number: the later takes the next one. */
  const save = async (actor: Actor, agentId: string, draft?: Draft): Promise<VersionRow | undefined> => {
    for (let races = 0; ; races += 1) {
      try {
        return await saveOnce(actor, agentId, draft);
      } catch (error) {
        if (races >= MAX_RACES || !isSvcError(error) || error.code !== 'storage_conflict') throw error;
      }
    }
  };
  /** The prompt that an agent has becomes a version, unless it is one. */
  const track = async (actor: Actor, agentId: string): Promise<void> => {
    await save(actor, agentId);
  };
  return {
    row,
    save: async (actor: Actor, agentId: string, draft: Draft): Promise<Version> => {
      await track(actor, agentId);
      const made = (await save(actor, agentId, draft)) as VersionRow; // a draft is always saved
      return shown(made, await promptOf(actor, agentId));
    },
    list: async (actor: Actor, agentId: string): Promise<Version[]> => {
      const prompt = await promptOf(actor, agentId);
      return (await rowsOf(actor, agentId)).map((one) => shown(one, prompt));
    },
    get: async (actor: Actor, id: string): Promise<Version> => {
      const found = await row(actor, id);
      return shown(found, await promptOf(actor, found.agent_id));
    },
    remove: async (actor: Actor, item: Version): Promise<void> => {
      if (item.is_active) throw promptErrors.in_use('the agent has it');
      if ((await tested(actor, item.agent_id)).has(item.id)) throw promptErrors.in_use('an experiment compares it');
      await db.commit([db.remove('prompt_versions', { id: item.id }, { expect: 1 })]);
    },
    activate: async (actor: Actor, id: string): Promise<Version> => {
      const found = await row(actor, id);
      await track(actor, found.agent_id);
      await agents.edit(actor, found.agent_id, { manifest: { model: { system_prompt: found.system_prompt } } });
      return shown(found, found.system_prompt);
    },
    track,
  };
};
export type Versions = ReturnType<typeof createVersions>;
