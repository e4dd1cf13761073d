/**
 * Thoughts that come within the text, as models say them whose server does not take them apart: `<think>…</think>`, and then the answer.
 *
 * T1  Only what stands before all else is thought: an answer may speak of the tag.
 * T2  What is held back while it may become a tag is a few letters, and is said when the text ends.
 * T3  Where the template of the model writes the first tag itself, only the last one comes: it closes what was never opened.
 *     Then all before it was thought.
 */
import type { Emit } from './driver.js';

export interface TagReader {
  take(text: string): void;
  /** The text has ended. */
  end(): void;
}

const TAGS: ReadonlyArray<readonly [open: string, close: string]> = [
  ['<think>', '</think>'],
  ['<thought>', '</thought>'],
  ['<seed:think>', '</seed:think>'],
  ['<mm:think>', '</mm:think>'],
  ['[THINK]', '[/THINK]'],
  ['◁think▷', '◁/think▷'],
];
/** Templates that open the thought themselves are of these. */
const LONE = ['</think>', '◁/think▷', '[/THINK]', '</seed:think>'] as const;
/** A thought that was never opened is not looked for behind more text than that. */
const MAX_LONE_CHARS = 400_000;

export const createTagReader = (emit: Emit): TagReader => {
  let state: 'before' | 'thinking' | 'between' | 'answering' = 'before';
  let held = '';
  let close = '';
  let said = 0;
  let mayBeLone = true;
  let isInCode = false;
  let lastLine = '';
  const say = (type: 'text' | 'thought', text: string): void => {
    if (text === '') return;
    if (type === 'text') said += text.length;
    emit({ type, text });
  };
  const before = (): void => {
    const text = held.trimStart();
    const tag = TAGS.find(([open]) => text.startsWith(open));
    if (tag) {
      state = 'thinking';
      close = tag[1];
      mayBeLone = false;
      held = text.slice(tag[0].length);
      thinking();
    } else if (!TAGS.some(([open]) => open.startsWith(text))) answer();
  };
  const thinking = (): void => {
    const at = held.indexOf(close);
    if (at >= 0) {
      say('thought', held.slice(0, at));
      state = 'between';
      held = held.slice(at + close.length);
      between();
      return;
    }
    const kept = endingLike(held, close);
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
    answering();
  };
  /** T3. */
  const answering = (): void => {
    if (!mayBeLone || said > MAX_LONE_CHARS) {
      mayBeLone = false;
      say('text', held);
      held = '';
      return;
    }
    const found = LONE.map((tag) => ({ tag, at: held.indexOf(tag) }))
      .filter(({ at }) => at >= 0)
      .sort((a, b) => a.at - b.at)[0];
    if (found) {
      const text = held.slice(0, found.at);
      note(text);
      held = held.slice(found.at + found.tag.length);
      if (!mayBeLone || isQuoted()) {
        say('text', text + found.tag);
        note(found.tag);
        answering();
        return;
      }
      say('text', text);
      mayBeLone = false;
      if (said > 0) emit({ type: 'was_thought' });
      state = 'between';
      between();
      return;
    }
    const kept = Math.max(...LONE.map((tag) => endingLike(held, tag)));
    const text = held.slice(0, held.length - kept);
    note(text);
    say('text', text);
    held = held.slice(held.length - kept);
  };
  const note = (text: string): void => {
    const whole = lastLine + text;
    // What was opened in the middle of an answer is spoken of.
    if (TAGS.some(([open]) => whole.includes(open))) mayBeLone = false;
    const lines = whole.split('\n');
    for (const line of lines.slice(0, -1)) if (line.trimStart().startsWith('```')) isInCode = !isInCode;
    lastLine = (lines.at(-1) ?? '').slice(-2_000);
  };
  /** An answer may speak of the tag, in code or between quotes. */
  const isQuoted = (): boolean => isInCode || /["'`“‘]\s*$/.test(lastLine) || (lastLine.split('`').length - 1) % 2 === 1;
  return {
    take: (text) => {
      if (state === 'answering' && !mayBeLone) return say('text', text);
      held += text;
      if (state === 'before') before();
      else if (state === 'thinking') thinking();
      else if (state === 'between') between();
      else answering();
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
