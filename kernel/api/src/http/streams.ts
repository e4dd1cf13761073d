/**
 * Streams belong to runs, not to sockets: whoever is cut off can follow again. A topic has a ring of
 * numbered frames of one declared format; whoever follows gets those after the number it names.
 */
import type { Plain } from '../declare/plain.js';
import type { AnswerCode, AnswerProjection, FrameOf, FramesDecl, StreamCode, StreamProjection } from '../declare/frames.js';
import type { Disposable } from '../disposable.js';
import type { TSchema } from '../schema/schema.js';

export interface FrameStream<F> extends AsyncIterable<F> {
  close(): void;
}

export interface TopicState {
  readonly attempt: number;
  /** Number of the newest frame, 0 when there is none. */
  readonly seq: number;
  readonly ended: boolean;
}

/** What this process knows of a topic. */
export interface TopicHere extends TopicState {
  /** Whether it is written here; otherwise it is followed from wherever that is. */
  readonly own: boolean;
  /** The fencing token under which it was opened here last. */
  readonly token: number | undefined;
  /** For how long nobody has followed the topic through or at this process; null while somebody does. */
  readonly unwatchedMs: number | null;
}

export interface TopicOptions {
  attempt?: number;
  /** Continues numbers that clients have seen. */
  startSeq?: number;
  /** Of the lease under which it is written: an older one opens nothing. */
  token?: number;
  /** Other extensions that may publish to it, by id. */
  writers?: readonly string[];
  /**
   * How far the former attempts had come. A reader who has not read as far is ended, and resumes:
   * what it has missed only rows know. Left out, nothing that was said before is needed.
   */
  reached?: { readonly attempt: number; readonly seq: number };
}

/**
 * A topic is written by one process at a time, the one that opened it last, and belongs to the extension that opened it
 * there. Every process may follow it once it is open or attached there.
 */
export interface Streams {
  /** Opens a topic for writing here, or a new attempt of it after a restart. Opening the same attempt again continues it. */
  open(format: FramesDecl, topic: string, options?: TopicOptions): void;
  /** Throws `stream_wrong_format` where the topic has another format, or the format no such type. What comes after the final frame, or to a topic that is written elsewhere by now, is counted and dropped. */
  publish<D extends FramesDecl, T extends keyof D['frames'] & string>(format: D, topic: string, type: T, data: Plain<D['frames'][T]>): void;
  /** Sends what waits to be joined; afterwards `here(topic).seq` counts every published frame. */
  flush(topic: string): void;
  /** From now on some other process may write the topic; here it is followed. Does nothing under another token than the newest. */
  letGo(topic: string, token: number): void;
  /** Synchronous; knows only this process. */
  here(topic: string): TopicHere | undefined;
  /** Where the topic stands, wherever it is written: others are asked, for half a second at most. Undefined when none has it. */
  state(topic: string): Promise<TopicState | undefined>;
  /** Makes the topic available here, so that it can be followed, whichever process writes it. `after`: the id of the last frame received. */
  attach(format: FramesDecl, topic: string, after?: string): Promise<void>;
  /** Topics that this extension opened or attached here, that somebody follows, and that have not ended. */
  watched(): string[];
  /** Frames after `after` (a frame id, or 0 for all that the ring still holds), then live ones until the final frame. */
  follow<D extends FramesDecl>(format: D, topic: string, after?: string | number): FrameStream<FrameOf<D>>;
  /** Resolves with the final frame of the topic. */
  final<D extends FramesDecl>(format: D, topic: string, signal?: AbortSignal): Promise<FrameOf<D>>;
  /** The code behind a projection that replies name. */
  project<D extends FramesDecl, A extends TSchema, S = undefined>(projection: StreamProjection<D, A>, code: StreamCode<D, A, S>): Disposable;
  answer<D extends FramesDecl, A extends TSchema>(projection: AnswerProjection<D, A>, code: AnswerCode<D, A>): Disposable;
}
