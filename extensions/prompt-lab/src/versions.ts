/** Versions of prompts: saved by people, and by svc when a prompt changes. */
import { createHash } from 'node:crypto';
import type { AgentsService } from '@svc/ext-agents/contract';
import type { Actor, Clock, Db, Events, Ids } from '@svc/api';
import { type ExperimentRow, PromptsChanged, type Variant, type Version, type VersionRow } from './contract.js';
import { promptErrors } from './errors.js';

export interface LabDeps {
  readonly db: Db;
  readonly events: Events;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly agents: AgentsService;
}
const KEPT = 50;

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
  const save = async (actor: Actor, agentId: string, draft: Pick<VersionRow, 'system_prompt' | 'description' | 'created_by' | 'tools' | 'variables'>): Promise<VersionRow> => {
    const agent = await agents.get(actor, agentId);
    const [before, inUse] = await Promise.all([rowsOf(actor, agent.id), tested(actor, agent.id)]);
    const active = hashOf(agent.manifest.model.system_prompt);
    const made: VersionRow = {
      ...{ id: ids.uuid(), owner_id: agent.ownerId, agent_id: agent.id, version: (before[0]?.version ?? 0) + 1, content_hash: hashOf(draft.system_prompt), created_at: clock.iso() },
      ...draft,
    };
    const surplus = before.slice(KEPT - 1).filter((one) => one.content_hash !== active && !inUse.has(one.id));
    await db.commit([
      db.insert('prompt_versions', [made]),
      ...surplus.map(({ id }) => db.remove('prompt_versions', { id }, { expect: 'any' })),
      events.event(PromptsChanged, { agentId: agent.id, ownerId: agent.ownerId }),
    ]);
    return made;
  };
  return {
    row,
    save: async (actor: Actor, agentId: string, draft: Parameters<typeof save>[2]): Promise<Version> => shown(await save(actor, agentId, draft), await promptOf(actor, agentId)),
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
      await agents.edit(actor, found.agent_id, { manifest: { model: { system_prompt: found.system_prompt } } });
      return shown(found, found.system_prompt);
    },
    /** The prompt may have changed. */
    track: async (actor: Actor, agentId: string): Promise<void> => {
      const [prompt, known] = [await promptOf(actor, agentId), await rowsOf(actor, agentId)];
      if (prompt === '' || known.some((one) => one.content_hash === hashOf(prompt))) return;
      await save(actor, agentId, { system_prompt: prompt, description: 'Saved when the prompt changed', created_by: 'svc', tools: '[]', variables: '[]' });
    },
  };
};
export type Versions = ReturnType<typeof createVersions>;
