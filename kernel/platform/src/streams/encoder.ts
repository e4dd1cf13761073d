/** How frames become the bytes of one protocol, for one use: a projection with its arguments in place. */
import type { Frame } from '@svc/api';

export interface FrameEncoder {
  readonly contentType: string;
  /** Sent before the first frame. */
  readonly preamble?: string | undefined;
  /** The text of one frame, or undefined to leave it out. */
  encode(frame: Frame): string | undefined;
  /** Sent after the final frame. */
  readonly epilogue?: string | undefined;
}
