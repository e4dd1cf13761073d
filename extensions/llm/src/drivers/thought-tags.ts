/**
 * Thoughts that come within the text, as models say them whose server does not take them apart: `<think>…</think>`, and then the answer.
 *
 * T1  Only what stands before all else is thought: an answer may speak of the tag.
 * T2  What is held back while it may become a tag is a few letters, and is said when the text ends.
 */
import type { Emit } from './driver.js';

export interface TagReader {
  take(text: string): void;
  /** The text has ended. */
  end(): void;
}

const OPEN = '<think>';
const CLOSE = '</think>';

export const createTagReader = (emit: Emit): TagReader => {
  let state: 'before' | 'thinking' | 'between' | 'answering' = 'before';
  let held = '';
  const say = (type: 'text' | 'thought', text: string): void => {
    if (text !== '') emit({ type, text });
  };
  const before = (): void => {
    const text = held.trimStart();
    if (text.startsWith(OPEN)) {
      state = 'thinking';
      held = text.slice(OPEN.length);
      thinking();
    } else if (!OPEN.startsWith(text)) answer();
  };
  const thinking = (): void => {
    const at = held.indexOf(CLOSE);
    if (at >= 0) {
      say('thought', held.slice(0, at));
      state = 'between';
      held = held.slice(at + CLOSE.length);
      between();
      return;
    }
    const kept = endingLike(held, CLOSE);
    say('thought', held.slice(0, held.length - kept));
    held = held.slice(held.length - kept);
  };
  /** The lines between the two are neither. */
  const between = (): void => {
    held = held.trimStart();
    if (held !== '') answer();
  };
  const answer = (): void => {
    state = 'answering';
    say('text', held);
    held = '';
  };
  return {
    take: (text) => {
      if (state === 'answering') return say('text', text);
      held += text;
      if (state === 'before') before();
      else if (state === 'thinking') thinking();
      else between();
    },
    end: () => {
      if (held !== '') say(state === 'thinking' ? 'thought' : 'text', held);
      held = '';
    },
  };
};

/** How many of its last letters may be the beginning of `tag`. */
const endingLike = (text: string, tag: string): number => {
  for (let count = Math.min(tag.length - 1, text.length); count > 0; count--) if (tag.startsWith(text.slice(-count))) return count;
  return 0;
};
