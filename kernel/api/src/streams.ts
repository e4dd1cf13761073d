/**
 * Streams belong to runs, not to sockets (principles P8). A topic has a ring of
 * numbered frames; whoever follows gets those after the number it names.
 */

/** One numbered piece of a stream. `id` is `<topic>.<attempt>.<seq>`. */
export interface Frame<T = unknown> {
  readonly id: string;
  readonly seq: number;
  readonly attempt: number;
  readonly type: string;
  readonly data: T;
  /** The last frame of the topic: exactly one, `done` or `error`. */
  readonly final: boolean;
}

export interface FrameDraft {
  type: string;
  data: unknown;
  /**
   * Frames of one type whose `data[merge]` is text may be joined while they wait to be sent:
   * the first goes out at once, later ones together every 40 to 50 ms.
   */
  merge?: string;
  final?: boolean;
}

export interface FrameStream extends AsyncIterable<Frame> {
  close(): void;
}

/** Turns frames into the bytes of one protocol. Must be pure: it may outlive the generation that made it. */
export interface FrameEncoder {
  readonly contentType: string;
  /** Sent before the first frame. */
  readonly preamble?: string;
  /** The text of one frame, or undefined to leave it out. */
  encode(frame: Frame): string | undefined;
  /** Sent after the final frame. */
  readonly epilogue?: string;
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
  open(topic: string, options?: { attempt?: number; startSeq?: number }): void;
  publish(topic: string, frame: FrameDraft): void;
  /** Sends what waits to be joined; afterwards `state(topic).seq` counts every published frame. */
  flush(topic: string): void;
  state(topic: string): TopicState | undefined;
  /** Frames after `after` (a frame id, or 0 for all that the ring still holds), then live ones until the final frame. */
  follow(topic: string, after?: string | number): FrameStream;
  /** Resolves with the final frame of the topic. */
  final(topic: string, signal?: AbortSignal): Promise<Frame>;
}
