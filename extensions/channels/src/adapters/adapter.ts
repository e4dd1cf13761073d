/** What an adapter is: how one platform is listened to and written to. */
import type { Clock, ExtensionContext, Logger, Req, SecretRef } from '@svc/api';
import type { Account } from '../account.js';
import type { Format } from '../document/formats.js';

/** A message that came, in words that every platform has. */
export interface Incoming {
  /** Unique on the platform: the same id again is the same message. */
  readonly id: string;
  readonly chat: string;
  readonly thread?: string;
  readonly sender: string;
  readonly senderName?: string;
  readonly text: string;
  readonly isGroup?: boolean;
  /** In a group: whether the bot was meant. */
  readonly isMentioned?: boolean;
  /** For matching bindings. */
  readonly guild?: string;
  readonly roles?: readonly string[];
  /** What the answer needs, such as the id to reply to. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Where the platform is read from next, once this is stored. */
  readonly place?: string;
}

/** What became of a message: another text, or nothing where its sender deleted it. */
export interface Changed {
  /** That of the message. */
  readonly id: string;
  readonly text: string | undefined;
  readonly place?: string;
}

/** A piece of text on its way out. */
export interface Outgoing {
  /** The same for each attempt. */
  readonly key: string;
  readonly chat: string;
  readonly thread?: string;
  readonly text: string;
  /** The same in the form of the platform, where the adapter names one that is not plain. */
  readonly formatted?: string;
  readonly facts: Readonly<Record<string, string>>;
}

export interface OutgoingFile {
  readonly name: string;
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** Why the platform does not answer as it should, and what a person does about it. */
export class ChannelFault extends Error {
  override readonly name = 'ChannelFault';
  readonly fix: string;
  /** `never`: the same again fails the same way. `unknown`: it may have arrived. */
  readonly retry: 'later' | 'never' | 'unknown';
  readonly retryAfterMs: number | undefined;

  constructor(message: string, fix: string, retry: ChannelFault['retry'] = 'later', retryAfterMs?: number) {
    super(message);
    this.fix = fix;
    this.retry = retry;
    this.retryAfterMs = retryAfterMs;
  }
}

/** What an adapter may use. */
export interface AdapterTools extends Pick<ExtensionContext, 'fetch' | 'tcp' | 'webSocket' | 'secrets' | 'ids' | 'spawn' | 'files'> {
  readonly clock: Pick<Clock, 'now' | 'sleep' | 'iso'>;
  readonly log: Logger;
}

/** One connection, as long as it lasts. */
export interface Connection extends AdapterTools {
  readonly account: Account;
  /** Aborted when the channel is removed, changed, or taken over by another daemon. */
  readonly signal: AbortSignal;
  /** Where reading went on last; undefined at first. */
  readonly place: string | undefined;
  secret(field: string): SecretRef;
  /** The platform answered just now. */
  alive(): void;
  /** True for a message that is new. Durable when this resolves; the platform may forget the message then. */
  receive(message: Incoming): Promise<boolean>;
  /** Durable when this resolves. An edit counts until the agent is asked; a deletion ends what the message began. */
  change(message: Changed): Promise<void>;
  /** Stores where reading goes on, where no message says so: at the first connection, and behind several messages at once. */
  remember(place: string): Promise<void>;
}

/** What the platform reads in answer to what it sent; `challenge` is given back where it asks whose address it is. */
export interface Accepted {
  readonly status: 'accepted' | 'duplicate' | 'ignored';
  readonly challenge?: string;
}

export interface Adapter {
  readonly id: string;
  /** Longest text of one message, in UTF-16 units. */
  readonly maxLength: number;
  /** How Markdown is written for the platform, with the limit of that form. Left out: it goes as it is, in pieces of `maxLength`. */
  readonly format?: Format;
  /** Whether the platform drops what comes twice with one key: then an unknown outcome is sent again. */
  readonly isKeyed: boolean;
  /** How long it remembers a key; for ever where it is left out. */
  readonly keyedForMs?: number;
  /** Whether the platform says who sent a message. Where senders name themselves, nobody is linked to a person. */
  readonly namesSenders: boolean;
  /** Who may write, where the settings say nothing. */
  readonly dmPolicy: 'respond' | 'allowed_only';
  /** Text of the setup, one step each. */
  readonly steps: readonly string[];
  readonly description: string;
  readonly difficulty: 'Easy' | 'Medium' | 'Hard';
  readonly setupTime: string;
  /** A base URL or `tcp://host:port` that the settings name. */
  origins(account: Account): readonly string[];
  /** Why these settings cannot work; undefined where they can. */
  fault?(fields: Readonly<Record<string, unknown>>): string | undefined;
  /** Listens until the signal aborts; throws where the platform does not let it. Left out: it is called by others. */
  connect?(connection: Connection): Promise<void>;
  /** Takes what comes to `/api/channels/NAME/webhook`, by the platform's own signature. Throws `channels_bad_signature`, `channels_bad_message`. */
  accept?(connection: Connection, headers: Req['headers'], body: Uint8Array): Promise<Accepted>;
  /** The id that the platform gave to the message. Throws a ChannelFault. */
  send(connection: Connection, message: Outgoing): Promise<string | undefined>;
  /** Left out: the name of the file is sent. Throws a ChannelFault. */
  sendFile?(connection: Connection, to: Omit<Outgoing, 'text' | 'formatted'>, file: OutgoingFile): Promise<string | undefined>;
  /** Shows in the chat that an answer is being written, for some seconds. What it throws is not looked at. */
  typing?(connection: Connection, to: Pick<Outgoing, 'chat' | 'thread'>): Promise<void>;
  /** Asks the platform who it is for, and answers with a sentence. Throws a ChannelFault. */
  check(connection: Connection): Promise<string>;
}
