/**
 * Streams belong to runs, not to sockets (principles P8). A topic has a ring of
 * numbered frames of one declared format; whoever follows gets those after the number it names.
 */
import type { Plain } from './declare/plain.js';
import type { AnswerCode, AnswerProjection, FrameOf, FramesDecl, StreamCode, StreamProjection } from './declare/frames.js';
import type { Disposable } from './disposable.js';
import type { TSchema } from './schema.js';

export interface FrameStream<F> extends AsyncIterable<F> {
  close(): void;
}

export interface TopicState {
  readonly attempt: number;
  /** Number of the newest frame, 0 when there is none. */
  readonly seq: number;
  readonly ended: boolean;
  /** For how long nobody has followed the topic; null while somebody does. */
  readonly unwatchedMs: number | null;
}

export interface Streams {
  /** Begins a topic, or a new attempt of it after a restart; `startSeq` continues numbers that clients have seen. */
  open(format: FramesDecl, topic: string, options?: { attempt?: number; startSeq?: number }): void;
  /** Throws `stream_format` where the topic has another format, or the format no such type. What comes after the final frame is dropped. */
  publish<D extends FramesDecl, T extends keyof D['frames'] & string>(format: D, topic: string, type: T, data: Plain<D['frames'][T]>): void;
  /** Sends what waits to be joined; afterwards `state(topic).seq` counts every published frame. */
  flush(topic: string): void;
  state(topic: string): TopicState | undefined;
  /** Frames after `after` (a frame id, or 0 for all that the ring still holds), then live ones until the final frame. */
  follow<D extends FramesDecl>(format: D, topic: string, after?: string | number): FrameStream<FrameOf<D>>;
  /** Resolves with the final frame of the topic. */
  final<D extends FramesDecl>(format: D, topic: string, signal?: AbortSignal): Promise<FrameOf<D>>;
  /** The code behind a projection that replies name. */
  project<D extends FramesDecl, A extends TSchema>(projection: StreamProjection<D, A>, code: StreamCode<D, A>): Disposable;
  answer<D extends FramesDecl, A extends TSchema>(projection: AnswerProjection<D, A>, code: AnswerCode<D, A>): Disposable;
}
