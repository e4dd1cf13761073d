/** Commands for your own agents; those for agents elsewhere come with their resources. */
import type { CommandDecl } from '@svc/api';

export const commands: readonly CommandDecl[] = [
  { command: 'a2a card', summary: 'show the public agent card of this daemon', operation: 'getAgentCard', output: { kind: 'record' } },
  {
    command: 'a2a served',
    summary: 'list your agents that others may ask',
    operation: 'listA2aAgents',
    output: { kind: 'table', rows: 'agents', empty: 'No agent may be asked: [a2a] agents names them.', columns: [{ field: 'name' }, { field: 'id' }, { field: 'description', shrinks: true }] },
  },
  { command: 'a2a submit', summary: 'send one of your agents a task, as others do', operation: 'sendA2aTask', output: { kind: 'record' } },
  { command: 'a2a served-task', summary: 'show a task that others sent', operation: 'getA2aTask', args: ['id'], output: { kind: 'record' } },
  { command: 'a2a cancel', summary: 'cancel a task that others sent', operation: 'cancelA2aTask', args: ['id'], output: { kind: 'line', text: 'Cancelled {task_id}.' } },
];
