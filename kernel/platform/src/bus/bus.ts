/**
 * What processes over one database tell each other at once. The database is the truth and the bus is only
 * faster: every user finds what a lost message would have told by reading rows, a little later.
 *
 * M1  A message reaches every other member that listens to its channel, never its sender: own state is changed directly.
 * M2  From one sender on one channel messages arrive in order, each at most once. They may be late, and they may be lost.
 * M3  A message is plain data: what JSON gives back is what was sent.
 * M4  A listener is never called inside the call that published, and what it throws reaches no other listener.
 */
import type { Disposable } from '@svc/api';
import type { JournalSignal } from '../journal/journal-signals.js';
import type { TopicSignal } from '../streams/topic-signals.js';

/** What each channel carries. In brackets: how its users find what was lost. */
export interface BusMessages {
  /** A live event of an area. [Caches expire within seconds; whoever must not miss one listens durably.] */
  events: { readonly event: string; readonly data: unknown };
  /** Work is ready, a lane is free, a run is to be interrupted. [Each beat of the leases asks the database.] */
  journal: JournalSignal;
  /** Frames of a topic that is followed elsewhere than it is written. [Readers ask again each second; the area's rows know the end.] */
  streams: TopicSignal;
  /** Somebody switched an area. [The choices are read every few seconds.] */
  choices: { readonly extension: string };
  /** Somebody changed a setting over the API. [The rows are read every few seconds.] */
  settings: { readonly path: string };
}

export interface BusState {
  /** `none`: whatever carries it could not be loaded yet. */
  readonly carrier: 'process' | 'postgres' | 'nats' | 'none';
  readonly isConnected: boolean;
  /** Names of the other members that were heard of in the last seconds. */
  readonly peers: readonly string[];
  /** Why it is not connected, for people. */
  readonly problem?: string;
  /** How long it has not been connected. */
  readonly lostMs?: number;
}

export interface Bus {
  /** Names this member among all that ever share the bus. */
  readonly name: string;
  /** True while it is certain that nobody else is there: nobody needs to be asked, or waited for. */
  isAlone(): boolean;
  publish<C extends keyof BusMessages>(channel: C, message: BusMessages[C]): void;
  subscribe<C extends keyof BusMessages>(channel: C, fn: (message: BusMessages[C]) => void): Disposable;
  /** Messages of others were lost, or may have been: rows are to be read now, and not with the next look. */
  onGap(fn: () => void): Disposable;
  state(): BusState;
  /** From now on it hears and says nothing. */
  close(): Promise<void>;
}
