/** An answer on its way to a chat: handed to the outbox of channels, then followed until the platform took it or did not. */
import { type Actors, type Clock, type Db, type Events, type ExtensionContext, isSvcError, type Journal, type LeasedRun, type Logger, type OptionalHandle } from '@svc/api';
import { ChannelChanged, type ChannelsService, type Chat } from '@svc/ext-channels/contract';
import type { DELIVERY_STATES, Message } from './contract.js';
import { chatOf } from './targets.js';

const CHECK_MS = 15_000;
/** Attempts while channels is off, such as during a reload. */
const PATIENCE = 3;
const OFF = 'the extension channels is off';

export interface DeliveryDeps {
  readonly db: Db;
  readonly journal: Journal;
  readonly clock: Pick<Clock, 'iso' | 'now'>;
  readonly events: Events;
  readonly log: Logger;
  readonly actors: Actors;
  readonly channels: OptionalHandle<ChannelsService>;
  readonly fetch: ExtensionContext['fetch'];
  readonly closing: AbortSignal;
}

export interface Ending {
  readonly state: (typeof DELIVERY_STATES)[number];
  readonly reason: string | null;
  /** HTTP status of the target; 0 for a chat. */
  readonly status?: number;
}

export interface ChatEnds {
  again(run: LeasedRun, why: string, tries: number): Promise<void>;
  end(run: LeasedRun, ending: Ending): Promise<void>;
}

export const createChatDelivery = (deps: DeliveryDeps, ends: ChatEnds): ((run: LeasedRun, message: Message) => Promise<void>) => {
  /** Owners of work that waits, by the delivery of channels. */
  const waiting = new Map<string, string>();
  const wake = async (deliveryId: string, owner: string): Promise<void> => {
    waiting.delete(deliveryId);
    await deps.journal.wake(deps.actors.of(owner), wakeKey(deliveryId), {});
  };
  deps.events.on(ChannelChanged, ({ deliveryId = '' }) => {
    const owner = waiting.get(deliveryId);
    return owner === undefined ? undefined : wake(deliveryId, owner);
  });
  return async (run, message) => {
    const tries = run.steps.length;
    const channels = deps.channels.value;
    const handed = handedOver(run);
    const given = handed === undefined ? await handOver(deps, run, message) : { deliveryId: handed };
    if ('why' in given) return given.why === OFF && tries < PATIENCE ? ends.again(run, OFF, tries) : ends.end(run, { state: 'failed', reason: given.why });
    // What was handed over goes out once channels is on again.
    if (!channels) return ends.again(run, OFF, PATIENCE);
    const { deliveryId } = given;
    const ending = await endingOf(deps, channels, run, deliveryId);
    if (ending) {
      waiting.delete(deliveryId);
      return ends.end(run, ending);
    }
    waiting.set(deliveryId, run.ownerId);
    await deps.journal.wait(run, { reason: 'channel', wakeKey: wakeKey(deliveryId), until: new Date(deps.clock.now() + CHECK_MS).toISOString() });
    // It may have ended before anybody could be woken.
    if (await endingOf(deps, channels, run, deliveryId)) await wake(deliveryId, run.ownerId);
  };
};

const wakeKey = (deliveryId: string): string => `cron-chat:${deliveryId}`;

type Given = { readonly deliveryId: string } | { readonly why: string };

const handedOver = ({ steps }: LeasedRun): string | undefined => {
  const [id] = steps.flatMap(({ outcome }) => {
    const given = outcome as Given | null; // what handOver stored
    return given && 'deliveryId' in given ? [given.deliveryId] : [];
  });
  return id;
};

/** The same key is the same message, so a crash in between sends nothing twice. */
const handOver = ({ journal, actors, channels: { value: channels } }: DeliveryDeps, run: LeasedRun, { to, agentId, text, subject }: Message): Promise<Given> => {
  const seq = run.steps.length + 1;
  return journal.step(run, { seq, kind: 'channel', key: run.id, replay: 'safe', intent: { attempt: seq } }, async () => {
    const given = await (async (): Promise<Given> => {
      if (!channels) return { why: OFF };
      const owner = actors.of(run.ownerId);
      const chat = to.kind === 'last_channel' ? await channels.lastChat(owner, { agentId: agentId ?? '' }) : to.kind === 'webhook' ? undefined : named(chatOf(to));
      if (!chat) return { why: 'nobody has written to the agent in a chat yet' };
      const about = { ...(agentId === null ? {} : { agentId }), ...(subject === undefined ? {} : { subject }) };
      return { deliveryId: await channels.send(owner, { ...chat, ...about, message: text, key: `cron:${run.id}` }) };
    })().catch((error: unknown): Given => {
      // Not configured any more, or without a place to write to.
      if (isSvcError(error) && error.status < 500) return { why: error.message };
      throw error;
    });
    return { value: given, outcome: given };
  });
};

const named = ({ channel, to, thread }: ReturnType<typeof chatOf>): Omit<Chat, 'chat'> & { readonly chat?: string } => ({
  channel,
  ...(to === undefined ? {} : { chat: to }),
  ...(thread === undefined ? {} : { thread }),
});

const endingOf = async ({ actors }: DeliveryDeps, channels: ChannelsService, run: LeasedRun, deliveryId: string): Promise<Ending | undefined> => {
  const standing = await channels.standing(actors.of(run.ownerId), deliveryId);
  if (!standing) return { state: 'failed', reason: 'the message was deleted before it was sent' };
  if (standing.status === 'sent') return { state: 'sent', reason: null };
  if (standing.status !== 'failed' && standing.status !== 'unknown') return undefined;
  return { state: standing.status, reason: standing.reason ?? `it is ${standing.status}` };
};
