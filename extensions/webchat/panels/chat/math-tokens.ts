/**
 * Formulas in Markdown, as models write them: `\( … \)` and `$ … $` within a line, `$$ … $$` and `\[ … \]` as one. TeX of one
 * formula is at most MAX_CHARS long, and nothing here looks farther than that: reading stays linear.
 *
 * T1  Money is no formula: a dollar opens one only where no letter or digit is before it and no space behind it, and closes one
 *     only where no space is before it and no letter or digit behind it, in the same line.
 * T2  Nor is an escaped bracket: `\[` opens a formula where a block begins, or before a space.
 */
import { Marked, type Token, type TokenizerExtension, type Tokens } from 'marked';

export interface MathToken extends Tokens.Generic {
  readonly type: 'math';
  /** TeX, without what stands around it. */
  readonly text: string;
  /** A line of its own. */
  readonly isDisplay: boolean;
}

const MAX_CHARS = 2_000;
const WORD = /[\p{L}\p{N}]/u;
const SPACE = /\s/;

const token = (src: string, opening: string, end: number, closing: string, isDisplay: boolean): MathToken | undefined => {
  const text = src.slice(opening.length, end).trim();
  return text === '' ? undefined : { type: 'math', raw: src.slice(0, end + closing.length), text, isDisplay };
};

/** Up to the nearest `closing`. */
const between = (src: string, opening: string, closing: string, isDisplay: boolean): MathToken | undefined => {
  if (!src.startsWith(opening)) return undefined;
  const end = src.slice(0, MAX_CHARS).indexOf(closing, opening.length);
  return end < 0 ? undefined : token(src, opening, end, closing, isDisplay);
};

/** T1. */
const inDollars = (src: string): MathToken | undefined => {
  if (src[0] !== '$' || src[1] === undefined || src[1] === '$' || SPACE.test(src[1])) return undefined;
  const last = Math.min(src.length, MAX_CHARS);
  for (let at = 1; at < last && src[at] !== '\n'; at += 1) {
    if (src[at] === '\\') at += 1;
    else if (src[at] === '$') return SPACE.test(src[at - 1] ?? '') || WORD.test(src[at + 1] ?? '') ? undefined : token(src, '$', at, '$', false);
  }
  return undefined;
};

/** Without a blank line before it a formula is part of a paragraph: a lexer that stops paragraphs for it would read on from each, to the end. */
const blockMath: TokenizerExtension = {
  name: 'math',
  level: 'block',
  tokenizer: (src) => {
    const found = between(src, '$$', '$$', true) ?? between(src, '\\[', '\\]', true);
    // Words behind it make it part of a line.
    const rest = found && /^[ \t]*(?:\n+|$)/.exec(src.slice(found.raw.length, found.raw.length + MAX_CHARS));
    return found && rest ? { ...found, raw: found.raw + rest[0] } : undefined;
  },
};

const inlineMath: TokenizerExtension = {
  name: 'math',
  level: 'inline',
  // A backslash ends plain text by itself.
  start: (src) => {
    const near = src.slice(0, MAX_CHARS);
    for (let at = near.indexOf('$'); at >= 0; at = near.indexOf('$', at + 1)) if (!WORD.test(near[at - 1] ?? '')) return at;
    return undefined;
  },
  tokenizer: (src) => between(src, '$$', '$$', true) ?? inDollars(src) ?? between(src, '\\(', '\\)', false) ?? (/^\\\[\s/.test(src) ? between(src, '\\[', '\\]', true) : undefined),
};

const marked = new Marked({ gfm: true, breaks: true }).use({ extensions: [blockMath, inlineMath] });

/** Blocks of Markdown, and formulas among them. */
export const lexed = (text: string): readonly Token[] => marked.lexer(text);
