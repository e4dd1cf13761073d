/**
 * What processes say to each other about topics. Whoever follows a topic that is written elsewhere says each second
 * how far it has come, and whoever is ahead answers with the rest: a lost message costs a second, never a frame.
 */
import type { Frame } from '@svc/api';

/** A point in a topic: the frame with this number was the last. */
export interface Place {
  readonly attempt: number;
  readonly seq: number;
}

export type TopicSignal =
  /** `by` follows the topic and has its frames up to this place. */
  | ({ readonly is: 'follow'; readonly topic: string; readonly by: string } & Place)
  /** `by` follows it no more. */
  | { readonly is: 'leave'; readonly topic: string; readonly by: string }
  /** Frames in order. `oldest` is the number of the first that is still kept; `reached` see `TopicOptions.reached`. */
  | { readonly is: 'frames'; readonly topic: string; readonly to: string; readonly attempt: number; readonly oldest: number; readonly reached: Place | null; readonly frames: readonly Frame[] }
  /** Another attempt began here. */
  | { readonly is: 'opened'; readonly topic: string; readonly attempt: number }
  /** Where does the topic stand? */
  | { readonly is: 'ask'; readonly topic: string; readonly by: string }
  | ({ readonly is: 'stands'; readonly topic: string; readonly to: string; readonly ended: boolean } & Place);
