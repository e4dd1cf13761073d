/** The goals of an agent, as it reads them in its system prompt. */
import type { Reader } from '@svc/api';
import { type Goal, Goals } from './contract.js';

const MAX_GOALS = 20;
const MAX_DESCRIPTION = 300;

type Line = Pick<Goal, 'id' | 'title' | 'description' | 'status' | 'progress' | 'due_at'>;

/** Empty where nothing is to be done. */
export const promptOf = async (reader: Pick<Reader, 'select'>, agentId: string): Promise<string> => {
  const goals = await reader.select<Line>({
    from: Goals.table.name,
    columns: ['id', 'title', 'description', 'status', 'progress', 'due_at'],
    where: { agent_id: agentId, status: ['pending', 'in_progress'] },
    order: [{ column: 'created_at' }],
    limit: MAX_GOALS,
  });
  return goals.length === 0 ? '' : ['## Your goals', ...goals.map(lineOf)].join('\n');
};

const lineOf = ({ id, title, description, status, progress, due_at: due }: Line): string => {
  const more = description.length > MAX_DESCRIPTION ? `${description.slice(0, MAX_DESCRIPTION)}…` : description;
  return `- ${title} (${id}, ${status}, ${progress} %${due === null ? '' : `, due ${due}`})${more === '' ? '' : `: ${more.replaceAll(/\s+/g, ' ')}`}`;
};
