/** A program in a terminal of its own: a shell that a person types into. */
import type { ChildEnd } from './child.js';

export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

export interface PtyOptions extends TerminalSize {
  cwd: string;
  /** Values added to a scrubbed environment. */
  env?: Readonly<Record<string, string>>;
  /** Names it in the child register; default the extension. */
  ownerKey?: string;
  signal?: AbortSignal;
  /** Each piece of what the program writes. Nothing is read while paused, and the program waits. */
  output(piece: Uint8Array): void;
}

/** Ends with its whole tree when the generation that started it stops. */
export interface PtyHandle {
  readonly pid: number;
  write(data: string): void;
  resize(size: TerminalSize): void;
  pause(): void;
  resume(): void;
  /** When it and its tree are gone. Never rejects. */
  readonly exit: Promise<ChildEnd>;
  /** HUP to the whole tree, after 3 s KILL. The same promise as `exit`. */
  kill(): Promise<ChildEnd>;
}

/** Whether programs can have a terminal here. */
export type PtyState = { readonly isThere: true } | { readonly isThere: false; readonly cause: string; readonly fix: string };

export interface Pty {
  /** Throws `exec_no_terminal`, and what `spawn` throws. A program in it is in no sandbox: callers of this daemon need a key before it starts. */
  open(command: string, args: readonly string[], options: PtyOptions): Promise<PtyHandle>;
  state(): Promise<PtyState>;
}
