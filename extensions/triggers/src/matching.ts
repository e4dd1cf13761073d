/** Whether an event is what a trigger waits for. */
import type { Trigger } from './contract.js';
import type { Happening } from './happenings.js';
import { kindsOf, parsed } from './pattern.js';

export interface MatchDeps {
  /** Id of an agent of this owner, by id or name. */
  agentId(ownerId: string, idOrName: string): Promise<string | undefined>;
}

const contains = (text: string, part: string): boolean => part === '*' || text.includes(part);
const containsWord = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase());

export const matches = async (deps: MatchDeps, trigger: Pick<Trigger, 'id' | 'pattern' | 'agent_id' | 'owner_id'>, happening: Happening): Promise<boolean> => {
  if (kindsOf(trigger.pattern)?.includes(happening.kind) === false) return false;
  const { kind, value } = parsed(trigger.pattern);
  switch (kind) {
    case 'webhook':
      return happening.subject === trigger.id;
    case 'agent_spawned':
      return contains(happening.name ?? '', value.name_pattern ?? '*');
    case 'system_keyword':
      return containsWord(happening.text, value.keyword ?? '');
    case 'memory_key_pattern':
      return contains(happening.name ?? '', value.key_pattern ?? '*');
    case 'content_match':
      return containsWord(happening.text, value.substring ?? '');
    case 'task_posted':
      return value.assignee_match === 'unassigned' ? (happening.assigneeId ?? null) === null : isAgent(deps, trigger, value.assignee_match, happening.assigneeId);
    case 'task_claimed':
    case 'task_completed':
      return isAgent(deps, trigger, value.creator_match, happening.creatorId);
    default:
      return true;
  }
};

const isAgent = async ({ agentId }: MatchDeps, trigger: Pick<Trigger, 'agent_id' | 'owner_id'>, match: string | null | undefined, id: string | null | undefined): Promise<boolean> => {
  if (match === null || match === undefined) return true;
  if (!id) return false;
  if (match === 'self') return id === trigger.agent_id;
  return match.toLowerCase() === id || (await agentId(trigger.owner_id, match)) === id;
};
