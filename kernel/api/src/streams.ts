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
  /** Begins a topic, or a new attempt of it after a restart, which from now on is written here. The same attempt opened again goes on. */
  open(topic: string, options?: TopicOptions): void;
  /** What comes after the final frame, or to a topic that is written elsewhere by now, is counted and dropped. */
  publish(topic: string, frame: FrameDraft): void;
  /** Sends what waits to be joined; afterwards `here(topic).seq` counts every published frame. */
  flush(topic: string): void;
  /** From now on some other process may write the topic; here it is followed. Does nothing under another token than the newest. */
  letGo(topic: string, token: number): void;
  /** What is known in this process, at once. */
  here(topic: string): TopicHere | undefined;
  /** Where the topic stands, wherever it is written: others are asked, for half a second at most. Undefined when none has it. */
  state(topic: string): Promise<TopicState | undefined>;
  /** Makes the topic known here, so that it can be followed, whoever writes it. `after`: the id of the last frame that is known already. */
  attach(topic: string, after?: string): Promise<void>;
  /** Topics that this extension opened or attached here, that somebody follows, and that have not ended. */
  watched(): string[];
  /** Frames after `after` (a frame id, or 0 for all that the ring still holds), then live ones until the final frame. */
  follow(topic: string, after?: string | number): FrameStream;
  /** Resolves with the final frame of the topic. */
  final(topic: string, signal?: AbortSignal): Promise<Frame>;
}
