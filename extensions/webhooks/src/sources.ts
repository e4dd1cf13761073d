/**
 * Events that webhooks ask for.
 *
 * L1  While nobody asks for a kind of event, nothing listens to it: a message costs nothing here.
 * L2  An event goes to webhooks of its owner alone. One that comes right after a webhook was saved goes to it, too.
 */
import type { Db, Disposable, Events, Logger } from '@svc/api';
import { AgentKilled, AgentSpawned } from '@svc/ext-agents/contract';
import { RunEnded, RunStarted } from '@svc/ext-runs/contract';
import { CronFired } from '@svc/ext-schedules/contract';
import { EventSubscriptions, type Kind, Webhooks } from './contract.js';

export interface Happening {
  readonly kind: Kind;
  readonly ownerId: string;
  /** The same for one event, whichever daemon hears of it. */
  readonly key: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A webhook or an event subscription. */
export interface Target {
  readonly id: string;
  readonly ownerId: string;
  readonly kinds: readonly Kind[];
}

export interface SourceDeps {
  readonly db: Db;
  readonly events: Pick<Events, 'on'>;
  readonly log: Logger;
  send(target: Target, happening: Happening): Promise<unknown>;
}

type Emit = (happening: Happening) => void;

interface Source {
  readonly kinds: readonly Kind[];
  listen(events: Pick<Events, 'on'>, emit: Emit): Disposable;
}

const SOURCES: readonly Source[] = [
  {
    kinds: ['agent_spawned'],
    listen: (events, emit) =>
      events.on(AgentSpawned, ({ agentId, name, ownerId }) => emit({ kind: 'agent_spawned', ownerId, key: `agent_spawned:${agentId}`, data: { agent_id: agentId, agent_name: name } })),
  },
  {
    kinds: ['agent_stopped'],
    listen: (events, emit) =>
      events.on(AgentKilled, ({ agentId, name, ownerId }) => emit({ kind: 'agent_stopped', ownerId, key: `agent_stopped:${agentId}`, data: { agent_id: agentId, agent_name: name } })),
  },
  {
    kinds: ['message_received'],
    listen: (events, emit) => events.on(RunStarted, ({ ownerId, ...run }) => emit({ kind: 'message_received', ownerId, key: `message_received:${run.runId}`, data: ofRun(run) })),
  },
  {
    kinds: ['message_completed', 'agent_error'],
    listen: (events, emit) =>
      events.on(RunEnded, ({ ownerId, status, ...run }) => {
        const kind = status === 'done' ? 'message_completed' : status === 'failed' ? 'agent_error' : undefined;
        if (kind) emit({ kind, ownerId, key: `${kind}:${run.runId}`, data: { ...ofRun(run), status } });
      }),
  },
  {
    kinds: ['cron_fired'],
    listen: (events, emit) =>
      events.on(CronFired, ({ ownerId, jobId, fireId, name, agentId, kind }) =>
        emit({ kind: 'cron_fired', ownerId, key: `cron_fired:${fireId}`, data: { job_id: jobId, fire_id: fireId, job_name: name, agent_id: agentId, action: kind } }),
      ),
  },
];

const ofRun = ({ runId, agentId, sessionId }: { readonly runId: string; readonly agentId: string; readonly sessionId: string }) => ({ run_id: runId, agent_id: agentId, session_id: sessionId });

export interface Sources {
  /** Reads who asks for what. */
  reload(): Promise<void>;
}

interface TargetRow {
  readonly id: string;
  readonly owner_id: string;
  /** JSON text. */
  readonly events?: string | readonly Kind[];
  readonly event_type?: Kind;
}

const kindsOf = ({ events, event_type: only }: TargetRow): readonly Kind[] => {
  if (only !== undefined) return [only];
  return typeof events === 'string' ? (JSON.parse(events) as Kind[]) : (events ?? []); // checked when it was saved
};

export const createSources = ({ db, events, log, send }: SourceDeps): Sources => {
  let targets: readonly Target[] = [];
  let reading: Promise<void> | undefined;
  const open = new Map<Source, Disposable>();
  const emit: Emit = (happening) => {
    sendAll(happening).catch((cause: unknown) => log.error('An event could not be sent to webhooks.', { event: happening.kind, cause }));
  };
  const sendAll = async (happening: Happening): Promise<void> => {
    await reading;
    const asked = targets.filter(({ ownerId, kinds }) => ownerId === happening.ownerId && (kinds.includes(happening.kind) || kinds.includes('all')));
    for (const target of asked) await send(target, happening);
  };
  const listen = (isAsked: (source: Source) => boolean): void => {
    for (const source of SOURCES) {
      const listener = open.get(source);
      if (isAsked(source)) {
        if (!listener) open.set(source, source.listen(events, emit));
      } else if (listener) {
        listener.dispose();
        open.delete(source);
      }
    }
  };
  const read = async (): Promise<void> => {
    const reader = db.system('events that webhooks ask for');
    const [hooks, subscriptions] = await Promise.all([
      reader.select<TargetRow>({ from: Webhooks.table.name, columns: ['id', 'owner_id', 'events'], where: { enabled: 1 } }),
      reader.select<TargetRow>({ from: EventSubscriptions.table.name, columns: ['id', 'owner_id', 'event_type'], where: { enabled: 1 } }),
    ]);
    targets = [...hooks, ...subscriptions].map((row) => ({ id: row.id, ownerId: row.owner_id, kinds: kindsOf(row) }));
  };
  const reload = async (): Promise<void> => {
    const mine = (reading ?? Promise.resolve()).catch(() => undefined).then(read);
    reading = mine;
    await mine.finally(() => {
      if (reading !== mine) return;
      reading = undefined;
      const kinds = new Set(targets.flatMap((target) => target.kinds));
      listen((source) => kinds.has('all') || source.kinds.some((kind) => kinds.has(kind)));
    });
  };
  const changed = (): void => {
    // Until it is known what is asked for, nothing is missed.
    listen(() => true);
    reload().catch((cause: unknown) => log.error('Webhooks could not be read; svc tries again within a minute.', { cause }));
  };
  events.on(Webhooks.changed, changed);
  events.on(EventSubscriptions.changed, changed);
  return { reload };
};
