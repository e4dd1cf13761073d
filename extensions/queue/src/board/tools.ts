/** The task board as agents use it: they see the board of their owner. */
import { type AnyTool, defineTool, OneOf, type ToolCall, type ToolOutput, Type } from '@svc/api';
import type { Board, Doer } from './board.js';
import { TASK_STATES } from './board.js';
import type { BoardRow } from './board-rows.js';
import { taskErrors } from '../errors.js';

const MAX_TITLE = 256;
const MAX_TEXT = 16_384;
const TaskId = Type.String({ format: 'uuid' });

const doerOf = ({ agentId, runId, sessionId, callId }: ToolCall): Doer => ({ agentId, runId, sessionId, callId });

const facts = ({ id, title, description, status, assigned_to, creator_id, claimed_by, result, error, created_at }: BoardRow) => ({
  task_id: id,
  title,
  description,
  status,
  assigned_to,
  created_by: creator_id ?? 'a person',
  claimed_by,
  ...(result === null ? {} : { result }),
  ...(error === null ? {} : { error }),
  created_at,
});

/** What other agents wrote is not trusted. */
const shown = (value: unknown, rows: readonly BoardRow[], agentId: string): ToolOutput => {
  const isForeign = rows.some((row) => (row.creator_id !== null && row.creator_id !== agentId) || (row.result !== null && row.claimed_by !== agentId));
  return { content: JSON.stringify(value), ...(isForeign ? { origin: { labels: ['UntrustedAgent'], source: 'the task board' } } : {}) };
};

export const boardTools = (board: Board): AnyTool[] => {
  const reads = { risk: 'read', openWorld: false, replay: 'safe', parallel: true } as const;
  const writes = { risk: 'write', openWorld: false, parallel: false } as const;
  return [
    defineTool({
      name: 'task_post',
      description: 'Posts a task on the task board. Assigned to an agent, it wakes that agent; otherwise any agent may claim it.',
      params: Type.Object({
        title: Type.String({ minLength: 1, maxLength: MAX_TITLE }),
        description: Type.Optional(Type.String({ maxLength: MAX_TEXT })),
        assigned_to: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Id or name of an agent' })),
      }),
      // Waking another agent is a message to it.
      needs: ({ assigned_to: target }) => (target === undefined ? [] : [{ capability: 'agent_message', target }]),
      ...writes,
      replay: 'keyed',
      run: async ({ title, description, assigned_to: assignedTo }, call) =>
        JSON.stringify({ task_id: (await board.post(call.actor, { title, description, assignedTo }, doerOf(call))).id, status: 'pending' }),
    }),
    defineTool({
      name: 'task_claim',
      description: 'Takes a task from the task board: your oldest one, else the oldest that is assigned to nobody, or the one you name. No other agent gets it then.',
      params: Type.Object({ task_id: Type.Optional(TaskId) }),
      ...writes,
      replay: 'never',
      run: async ({ task_id: id }, call) => {
        const row = await board.claim(call.actor, doerOf(call), id);
        return row ? shown(facts(row), [row], call.agentId) : 'There is no task for you to claim.';
      },
    }),
    defineTool({
      name: 'task_complete',
      description: 'Completes a task that you claimed, with its result.',
      params: Type.Object({ task_id: TaskId, result: Type.String({ minLength: 1, maxLength: 65_536 }) }),
      ...writes,
      replay: 'safe',
      run: async ({ task_id: id, result }, call) => JSON.stringify({ task_id: (await board.complete(call.actor, doerOf(call), id, result)).id, status: 'completed' }),
    }),
    defineTool({
      name: 'task_list',
      description: 'Lists the tasks of the task board, oldest first: those that are open, or those in one state.',
      params: Type.Object({ status: Type.Optional(OneOf(TASK_STATES)) }),
      ...reads,
      run: async ({ status }, call) => {
        const rows = await board.of(call.actor, status);
        return shown(rows.map(facts), rows, call.agentId);
      },
    }),
    defineTool({
      name: 'task_status',
      description: 'Shows one task of the task board, with its result.',
      params: Type.Object({ task_id: TaskId }),
      ...reads,
      run: async ({ task_id: id }, call) => {
        const row = await board.find(call.actor, id);
        if (!row || row.owner_id !== call.actor.ownerId) throw taskErrors.not_found(id);
        return shown(facts(row), [row], call.agentId);
      },
    }),
  ];
};
