/** Events that triggers alone hear of. */
import { ConfigChanged, type Ids, ExtensionChanged, type Origin } from '@svc/api';
import { ApprovalRequested, ApprovalResolved } from '@svc/ext-approvals/contract';
import { EventPublished } from '@svc/ext-comms/contract';
import { MemoryChanged } from '@svc/ext-memory/contract';
import { TaskClaimed, TaskCompleted, type TaskFact, TaskPosted } from '@svc/ext-queue/contract';
import { WebhookWake } from './fired.js';
import type { Happening, Source } from './happenings.js';

const MAX_TEXT = 2_000;
const MAX_PAYLOAD = 300;
const cut = (text: string, length = MAX_TEXT): string => (text.length > length ? `${text.slice(0, length)}…` : text);
const byAgent: Origin = { labels: ['UntrustedAgent'], source: 'an event of another agent' };

const taskOf = (kind: string, fact: TaskFact, text: string): Happening => ({
  kind,
  ownerId: fact.ownerId,
  key: `${kind}:${fact.taskId}:${fact.round}`,
  subject: fact.taskId,
  runId: fact.runId,
  assigneeId: fact.assigneeId,
  creatorId: fact.creatorId,
  text: cut(text),
  data: { task_id: fact.taskId, title: fact.title, assigned_to: fact.assigneeId, created_by: fact.creatorId, agent_id: fact.agentId },
  ...(fact.creatorId === null && fact.result === '' ? {} : { origin: byAgent }),
});

const taskSources: readonly Source[] = [
  { kinds: ['task_posted'], isDurable: true, listen: (events, emit) => events.on(TaskPosted, (fact) => emit(taskOf('task_posted', fact, `The task ${fact.taskId} was posted: ${fact.title}`))) },
  {
    kinds: ['task_claimed'],
    isDurable: true,
    listen: (events, emit) => events.on(TaskClaimed, (fact) => emit(taskOf('task_claimed', fact, `The task ${fact.taskId} was claimed by the agent ${fact.agentId ?? ''}: ${fact.title}`))),
  },
  {
    kinds: ['task_completed'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(TaskCompleted, (fact) => emit(taskOf('task_completed', fact, `The task ${fact.taskId} was completed by the agent ${fact.agentId ?? ''}: ${fact.title}\nResult: ${fact.result}`))),
  },
];

const agentSources = (unique: () => string): readonly Source[] => [
  {
    kinds: ['approval_requested'],
    listen: (events, emit) =>
      events.on(ApprovalRequested, ({ id, ownerId, agentId, runId, tool, risk, description }) =>
        emit({
          kind: 'approval_requested',
          ownerId,
          key: `approval_requested:${id}`,
          subject: id,
          runId,
          text: cut(`The agent ${agentId} asks to use ${tool} (risk ${risk}): ${description}`),
          data: { approval_id: id, agent_id: agentId, run_id: runId, tool, risk },
          origin: byAgent,
        }),
      ),
  },
  {
    kinds: ['approval_resolved'],
    listen: (events, emit) =>
      events.on(ApprovalResolved, ({ id, ownerId, agentId, runId, tool, state }) =>
        emit({
          kind: 'approval_resolved',
          ownerId,
          key: `approval_resolved:${id}`,
          subject: id,
          runId,
          text: `The request ${id} of the agent ${agentId} to use ${tool} was ${state}.`,
          data: { approval_id: id, agent_id: agentId, run_id: runId, tool, state },
        }),
      ),
  },
  {
    kinds: ['memory'],
    listen: (events, emit) =>
      events.on(MemoryChanged, ({ ownerId, agentId, id, key, change, places }) => {
        // Only that vectors were made of what was there.
        if (places !== undefined && id === undefined && key === undefined) return;
        const subject = key ?? id ?? agentId ?? 'memory';
        return emit({
          kind: 'memory',
          ownerId,
          key: `memory:${unique()}`,
          subject,
          name: key ?? id ?? '',
          text: `Memory: ${change} ${key === undefined ? 'an entry' : `the key ${key}`}${agentId === undefined ? '' : ` of the agent ${agentId}`}.`,
          data: { change, key: key ?? null, entry_id: id ?? null, agent_id: agentId ?? null },
        });
      }),
  },
  {
    kinds: ['custom'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(EventPublished, ({ ownerId, id, agentId, runId, type, payload }) =>
        emit({ kind: 'custom', ownerId, key: `custom:${id}`, subject: type, runId, text: `${type}: ${cut(payload, MAX_PAYLOAD)}`, data: { type, agent_id: agentId }, origin: byAgent }),
      ),
  },
  {
    kinds: ['webhook_wake'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(WebhookWake, ({ ownerId, agentId, text, id }) =>
        emit({
          kind: 'webhook_wake',
          ownerId,
          key: `webhook_wake:${id}`,
          subject: agentId,
          runId: id,
          text: cut(`webhook.wake: ${text}`),
          data: { agent_id: agentId },
          origin: { labels: ['ExternalNetwork'], source: 'a webhook' },
        }),
      ),
  },
];

/** `unique`: no two of them are one event. */
const systemSources = (unique: () => string): readonly Source[] => [
  {
    kinds: ['system'],
    listen: (events, emit) => {
      const listeners = [
        events.on(ExtensionChanged, ({ id, state }) =>
          emit({ kind: 'system', ownerId: null, key: `extension:${id}:${state}:${unique()}`, subject: id, text: `The extension ${id} is ${state}.`, data: { extension: id, state } }),
        ),
        events.on(ConfigChanged, ({ sections }) =>
          emit({ kind: 'system', ownerId: null, key: `config:${unique()}`, subject: 'config', text: `Settings changed: ${sections.join(', ')}.`, data: { sections } }),
        ),
      ];
      return {
        dispose: () => {
          for (const one of listeners) one.dispose();
        },
      };
    },
  },
];

export const ownSources = (ids: Pick<Ids, 'uuid'>): readonly Source[] => [...taskSources, ...agentSources(() => ids.uuid()), ...systemSources(() => ids.uuid())];
