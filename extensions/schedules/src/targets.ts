/**
 * Places that answers go to: how they are written, and who may name them.
 *
 * T1  A channel is named by whoever sees everything, or for an agent whose manifest grants `channels_send` for it; mail is the channel email. Everybody else
 *     may have the chat in which they write to the agent: `last_channel`.
 * T2  What could never be sent to is refused when the job is written.
 */
import { type Actor, type OptionalHandle, seesAll } from '@svc/api';
import type { Agent } from '@svc/ext-agents/contract';
import { type ChannelsService, mayWriteTo } from '@svc/ext-channels/contract';
import type { Delivery, Target } from './contract.js';
import { scheduleErrors } from './errors.js';

export const EMAIL = 'email';
const NAMED = /^(?:channel:)?([a-z][a-z0-9_-]{0,63})(?::(\S.{0,199}))?$/;

/** `none`, `last_channel`, an address, `email:ADDRESS`, `NAME:CHAT`, or the `NAME` of a channel with one place to write to; undefined for other words. */
export const readTarget = (said: string): Delivery | undefined => {
  const text = said.trim();
  if (text === 'none' || text === 'last_channel') return { kind: text };
  if (/^https?:\/\//i.test(text)) return { kind: 'webhook', url: text };
  const [, channel, to] = NAMED.exec(text) ?? [];
  if (channel === undefined || (channel === EMAIL && to === undefined)) return undefined;
  if (channel === EMAIL) return { kind: 'email', to: to ?? '' };
  return { kind: 'channel', channel, ...(to === undefined ? {} : { to }) };
};

/** Throws `schedules_bad_target`. */
export const parseTarget = (said: string): Delivery => {
  const target = readTarget(said);
  if (!target) throw scheduleErrors.bad_target(said.trim());
  return target;
};

/** As people write it, and as `parseTarget` reads it. */
export const targetText = (target: Delivery): string => {
  if (target.kind === 'webhook') return target.url;
  if (target.kind === 'email') return `${EMAIL}:${target.to}`;
  return target.kind === 'channel' ? `${target.channel}${target.to === undefined ? '' : `:${target.to}`}` : target.kind;
};

export interface TargetDeps {
  readonly channels: OptionalHandle<ChannelsService>;
  /** Why a webhook to this address would be refused; undefined where it would not. */
  refusalOf(url: string): Promise<string | undefined>;
}

/** Throws where nothing could ever be sent there, and where the actor may not have it sent there. */
export const checkTarget = async ({ channels, refusalOf }: TargetDeps, actor: Actor, agent: Agent | undefined, target: Delivery): Promise<void> => {
  if (target.kind === 'none') return;
  if (target.kind === 'webhook') {
    const refused = await refusalOf(target.url);
    if (refused !== undefined) throw scheduleErrors.unsafe_url(refused);
    return;
  }
  if (!channels.value) throw scheduleErrors.no_channels(targetText(target));
  if (target.kind === 'last_channel') {
    if (!agent) throw scheduleErrors.unsupported('`last_channel`', 'the job has no agent that somebody could have written to.');
    return;
  }
  const { channel, to } = chatOf(target);
  if (!(agent ? mayWriteTo(actor, agent.manifest.capabilities, channel) : seesAll(actor))) throw scheduleErrors.channel_denied(channel);
  await channels.value.reach({ channel, ...(to === undefined ? {} : { chat: to }) });
};

export const chatOf = (target: Extract<Target, { kind: 'channel' | 'email' }>): { readonly channel: string; readonly to?: string | undefined; readonly thread?: string | undefined } =>
  target.kind === 'email' ? { channel: EMAIL, to: target.to } : { channel: target.channel, to: target.to, thread: target.thread_id };
