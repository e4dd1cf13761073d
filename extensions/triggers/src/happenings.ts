/**
 * What happens, as triggers and webhooks hear of it.
 *
 * L1  While nobody asks for a kind of event, nothing listens to it: a message costs nothing here. Events that are stored until they are taken
 *     are the exception: those who listen to them always do, because what is not taken would hold up what follows.
 * L2  An event has the same key, whichever daemon hears of it.
 */
import type { Disposable, Events, Origin } from '@svc/api';
import { AgentChanged, AgentKilled, AgentSpawned } from '@svc/ext-agents/contract';
import { RunEnded, RunStarted } from '@svc/ext-runs/contract';
import { CronFired } from '@svc/ext-schedules/contract';
import { WorkflowEnded } from '@svc/ext-workflows/contract';
import type { Lookup } from './values.js';
import { TriggerFired } from './fired.js';

export interface Happening {
  readonly kind: string;
  /** null: it belongs to the daemon. Owners hear of it. */
  readonly ownerId: string | null;
  readonly key: string;
  /** What it is about: an agent, a task, a key. */
  readonly subject: string;
  /** The run that caused it. */
  readonly runId?: string | null;
  /** For people and models. */
  readonly text: string;
  /** For programs. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly origin?: Origin;
  /** Values that a message may name beside `{{event}}`. */
  readonly lookup?: Lookup;
  readonly name?: string;
  readonly assigneeId?: string | null;
  readonly creatorId?: string | null;
}

export type Emit = (happening: Happening) => void | Promise<void>;

export interface Source {
  readonly kinds: readonly string[];
  /** Stored until it is taken, as the manifest of each listener names it under `events.durable`. */
  readonly isDurable?: boolean;
  listen(events: Pick<Events, 'on'>, emit: Emit): Disposable;
}

const MAX_TEXT = 2_000;
const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

const agentSources: readonly Source[] = [
  {
    kinds: ['agent_spawned'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(AgentSpawned, ({ agentId, name, ownerId, runId }) =>
        emit({
          kind: 'agent_spawned',
          ownerId,
          key: `agent_spawned:${agentId}`,
          subject: agentId,
          runId: runId ?? null,
          name,
          text: `The agent ${name} (${agentId}) was spawned.`,
          data: { agent_id: agentId, agent_name: name },
        }),
      ),
  },
  {
    kinds: ['agent_stopped'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(AgentKilled, ({ agentId, name, ownerId }) =>
        emit({
          kind: 'agent_stopped',
          ownerId,
          key: `agent_stopped:${agentId}`,
          subject: agentId,
          name,
          text: `The agent ${name} (${agentId}) was ended.`,
          data: { agent_id: agentId, agent_name: name },
        }),
      ),
  },
  {
    kinds: ['agent_suspended', 'agent_resumed'],
    listen: (events, emit) =>
      events.on(AgentChanged, ({ agentId, ownerId, change, revision }) => {
        if (change === undefined) return;
        return emit({
          kind: `agent_${change}`,
          ownerId,
          key: `agent_${change}:${agentId}:${revision ?? 0}`,
          subject: agentId,
          text: `The agent ${agentId} was ${change}.`,
          data: { agent_id: agentId },
        });
      }),
  },
];

const ofRun = ({ runId, agentId, sessionId }: { readonly runId: string; readonly agentId: string; readonly sessionId: string }) => ({ run_id: runId, agent_id: agentId, session_id: sessionId });

const runSources: readonly Source[] = [
  {
    kinds: ['message_received'],
    listen: (events, emit) =>
      events.on(RunStarted, ({ ownerId, ...run }) =>
        emit({
          kind: 'message_received',
          ownerId,
          key: `message_received:${run.runId}`,
          subject: run.agentId,
          runId: run.runId,
          text: `The agent ${run.agentId} received a message.`,
          data: ofRun(run),
        }),
      ),
  },
  {
    kinds: ['message_completed', 'agent_error'],
    listen: (events, emit) =>
      events.on(RunEnded, ({ ownerId, status, ...run }) => {
        const kind = status === 'done' ? 'message_completed' : status === 'failed' ? 'agent_error' : undefined;
        if (kind === undefined) return;
        const text = `The agent ${run.agentId} ${status === 'done' ? 'answered a message' : 'failed to answer a message'}.`;
        return emit({ kind, ownerId, key: `${kind}:${run.runId}`, subject: run.agentId, runId: run.runId, text, data: { ...ofRun(run), status } });
      }),
  },
];

const programSources: readonly Source[] = [
  {
    kinds: ['cron_fired'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(CronFired, ({ ownerId, jobId, fireId, name, agentId, kind, text, origin }) =>
        emit({
          kind: 'cron_fired',
          ownerId,
          key: `cron_fired:${fireId}`,
          subject: jobId,
          text: cut(kind === 'system_event' ? `cron.${name}: ${text}` : `The job ${name} fired.`),
          data: { job_id: jobId, fire_id: fireId, job_name: name, agent_id: agentId, action: kind },
          ...(origin === undefined ? {} : { origin }),
        }),
      ),
  },
  {
    kinds: ['workflow_completed', 'workflow_failed'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(WorkflowEnded, ({ ownerId, workflowId, runId, name, state, error, output }) => {
        if (state === 'cancelled') return;
        const kind = `workflow_${state}`;
        return emit({
          kind,
          ownerId,
          key: `${kind}:${runId}`,
          subject: workflowId,
          runId,
          text: cut(`The workflow ${name} ${state}${error === null ? '.' : `: ${error}`}`),
          data: { workflow_id: workflowId, run_id: runId, workflow_name: name, ...(error === null ? {} : { error }), ...(state === 'completed' && output !== undefined ? { output } : {}) },
        });
      }),
  },
  {
    kinds: ['trigger_fired'],
    isDurable: true,
    listen: (events, emit) =>
      events.on(TriggerFired, ({ ownerId, triggerId, fireId, agentId, event }) =>
        emit({
          kind: 'trigger_fired',
          ownerId,
          key: `trigger_fired:${fireId}`,
          subject: triggerId,
          text: `The trigger ${triggerId} fired.`,
          data: { trigger_id: triggerId, fire_id: fireId, agent_id: agentId, event },
        }),
      ),
  },
];

/** Events of agents, runs, jobs, workflows and triggers. */
export const COMMON_SOURCES: readonly Source[] = [...agentSources, ...runSources, ...programSources];

export interface Listening {
  /** From now on listens to events of these kinds alone, and to those that are stored until they are taken. */
  only(isAsked: (source: Source) => boolean): void;
}

export const createListening = (events: Pick<Events, 'on'>, sources: readonly Source[], emit: Emit): Listening => {
  const open = new Map<Source, Disposable>();
  const only = (isAsked: (source: Source) => boolean): void => {
    for (const source of sources) {
      const listener = open.get(source);
      if (source.isDurable || isAsked(source)) {
        if (!listener) open.set(source, source.listen(events, emit));
      } else if (listener) {
        listener.dispose();
        open.delete(source);
      }
    }
  };
  only(() => false);
  return { only };
};
