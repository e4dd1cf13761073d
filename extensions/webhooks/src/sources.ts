/**
 * Events that webhooks ask for.
 *
 * L1  While nobody asks for a kind of event, nothing listens to it: a message costs nothing here. Events of agents, jobs, workflows and triggers are
 *     stored until their deliveries are: a crash between loses none.
 * L2  An event goes to webhooks of its owner alone. One that comes right after a webhook was saved goes to it, too.
 */
import type { Db, Events, Logger } from '@svc/api';
import { COMMON_SOURCES, createListening, type Happening, type Source } from '@svc/ext-triggers/contract';
import { EventSubscriptions, type Kind, KINDS, Webhooks } from './contract.js';

/** What is sent of an event. */
export interface Sent {
  readonly kind: Kind;
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
  send(target: Target, happening: Sent): Promise<unknown>;
}

/** Those that webhooks know. */
const SOURCES: readonly Source[] = COMMON_SOURCES.filter(({ kinds }) => kinds.some((kind) => KINDS.some((known) => known === kind)));

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
  let isRead = false;
  const sendAll = async ({ kind, ownerId, key, data }: Happening): Promise<void> => {
    // A stored event may come before the daemon is ready, and is not given again once it is taken.
    await (reading ?? (isRead ? undefined : reload()));
    const sent = KINDS.find((one) => one === kind);
    if (sent === undefined) return;
    const asked = targets.filter((target) => target.ownerId === ownerId && (target.kinds.includes(sent) || target.kinds.includes('all')));
    for (const target of asked) await send(target, { kind: sent, key, data });
  };
  const listening = createListening(events, SOURCES, sendAll);
  const read = async (): Promise<void> => {
    const reader = db.system('events that webhooks ask for');
    const [hooks, subscriptions] = await Promise.all([
      reader.select<TargetRow>({ from: Webhooks.table.name, columns: ['id', 'owner_id', 'events'], where: { enabled: 1 } }),
      reader.select<TargetRow>({ from: EventSubscriptions.table.name, columns: ['id', 'owner_id', 'event_type'], where: { enabled: 1 } }),
    ]);
    targets = [...hooks, ...subscriptions].map((row) => ({ id: row.id, ownerId: row.owner_id, kinds: kindsOf(row) }));
    isRead = true;
  };
  const reload = async (): Promise<void> => {
    const mine = (reading ?? Promise.resolve()).catch(() => undefined).then(read);
    reading = mine;
    await mine.finally(() => {
      if (reading !== mine) return;
      reading = undefined;
      const kinds = new Set(targets.flatMap((target) => target.kinds));
      listening.only((source) => kinds.has('all') || source.kinds.some((kind) => KINDS.some((known) => known === kind && kinds.has(known))));
    });
  };
  const changed = (): void => {
    // Until it is known what is asked for, nothing is missed.
    listening.only(() => true);
    reload().catch((cause: unknown) => log.error('Webhooks could not be read; svc tries again within a minute.', { cause }));
  };
  events.on(Webhooks.changed, changed);
  events.on(EventSubscriptions.changed, changed);
  return { reload };
};
