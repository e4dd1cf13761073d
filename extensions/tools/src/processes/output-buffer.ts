/** The newest part of what a process wrote, by places that count every character it ever wrote. */
import { withoutHalf } from '../result-size.js';

export interface OutputBuffer {
  add(text: string): void;
  /** Where the next character will stand. */
  readonly end: number;
  /** What stands from `from` on, `maxChars` at most. */
  read(from: number, maxChars: number): OutputPart;
}

export interface OutputPart {
  readonly text: string;
  /** Where the part ends: what is asked for next. */
  readonly next: number;
  /** Characters between the place that was asked for and the part, which are kept no more. */
  readonly dropped: number;
  /** Characters that stand behind the part. */
  readonly left: number;
}

/** At most twice `maxChars` are held. */
export const createOutputBuffer = (maxChars: number): OutputBuffer => {
  let kept = '';
  let start = 0;
  return {
    add: (text) => {
      const all = kept + text;
      const over = all.length > maxChars * 2 ? all.length - maxChars : 0;
      kept = all.slice(over);
      start += over;
    },
    get end() {
      return start + kept.length;
    },
    read: (from, max) => {
      const end = start + kept.length;
      const first = Math.min(Math.max(from, start), end);
      const text = withoutHalf(kept.slice(first - start, first - start + max));
      return { text, next: first + text.length, dropped: Math.max(0, start - from), left: end - first - text.length };
    },
  };
};
