/** Text of an agent, which is Markdown, as messages of a platform. */
import type { Atom } from './atoms.js';
import { atomsOf } from './atoms.js';
import type { Format } from './formats.js';
import { type Piece, typeset } from './typeset.js';

/** What nests deeper than any text of a person is not read as Markdown. Each repetition begins with a character that ends the one before: a line of dashes costs no more than its length. */
const NESTED = /(?:(?:[>*+-]|\d{1,9}[.)])[ \t]*){40}|[[\]!]{40}|(?:[*_][^\s*_]?){200}/;
/** The parser's time grows with the square of what is hostile: a long text is read in parts. */
const MAX_PART = 4_000;
/** Text that has no end to be cut at, and is no code, is read as words beyond this. */
const MAX_WHOLE = 16_000;
const FENCE = /^ {0,3}(```+|~~~+)/;
const LONE = /[\ud800-\udfff]/gu;
const CONTROL = /(?![\n\t])\p{Cc}/gu;

const readable = (text: string): string => text.replaceAll(/\r\n?/g, '\n').replaceAll(LONE, '\ufffd').replaceAll(CONTROL, '');

const wordsOf = (text: string): Atom[] => [
  { kind: 'open', element: { kind: 'paragraph', isTight: false } },
  ...text.split(/(\s+)/).map((part): Atom => {
    if (/^\s*$/.test(part)) return part.includes('\n') ? { kind: 'line' } : { kind: 'space', text: part };
    return { kind: 'word', text: part, isUrl: false, isSoft: false };
  }),
  { kind: 'close' },
];

/** In the order in which they are sent; empty for a text without a visible character. The parser is loaded when it is first needed. */
export const documentPieces = async (markdown: string, format: Format): Promise<Piece[]> => {
  const text = readable(markdown);
  const atoms: Atom[] = [];
  for (const part of partsOf(text)) {
    if (atoms.length > 0) atoms.push({ kind: 'gap', isTight: false });
    atoms.push(...((part.length > MAX_WHOLE && !FENCE.test(part)) || NESTED.test(part) ? wordsOf(part) : atomsOf(await treeOf(part), format)));
  }
  return typeset(atoms, format);
};

/** Parts that end at empty lines outside of code, and are not much longer than they must be. */
const partsOf = (text: string): string[] => {
  if (text.length <= MAX_PART) return [text];
  const parts: string[] = [];
  let part = '';
  let fence = '';
  for (const block of text.split(/\n(?=[ \t]*\n)/)) {
    if (fence === '' && part !== '' && (part.length + block.length > MAX_PART || FENCE.test(block.trimStart()))) {
      parts.push(part);
      part = '';
    }
    part += part === '' ? block.replace(/^\n/, '') : `\n${block}`;
    for (const line of block.split('\n')) {
      const mark = FENCE.exec(line)?.[1] ?? '';
      if (fence === '') fence = mark;
      else if (mark !== '' && mark.startsWith(fence) && line.trim() === mark) fence = '';
    }
  }
  return [...parts, part];
};

const treeOf = async (text: string) => {
  const [{ fromMarkdown }, { gfmTable }, { gfmStrikethrough }, tables, strikes] = await Promise.all([
    import('mdast-util-from-markdown'),
    import('micromark-extension-gfm-table'),
    import('micromark-extension-gfm-strikethrough'),
    import('mdast-util-gfm-table'),
    import('mdast-util-gfm-strikethrough'),
  ]);
  return fromMarkdown(text, {
    extensions: [gfmTable(), gfmStrikethrough({ singleTilde: false })],
    mdastExtensions: [tables.gfmTableFromMarkdown(), strikes.gfmStrikethroughFromMarkdown()],
  });
};
