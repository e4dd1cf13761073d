/**
 * Words set in the form of a platform, in pieces that it takes.
 *
 * R3  No piece is longer than the limit, with all its marks.
 * R4  A cut is at a paragraph, a line, a sentence or a word where there is one, and never within a character that is drawn as one.
 * R5  What a cut goes through is closed, and opened again in the next piece: tags, marks, fences of code and quotes.
 * R6  The pieces together have the text of the whole, apart from white space at cuts.
 */
import type { Atom, Element, Word } from './atoms.js';
import { type Format, PLAIN, type Strokes, type WordPlace } from './formats.js';

/** One message. `formatted` is left out where the form is plain. */
export interface Piece {
  readonly text: string;
  readonly formatted?: string;
}

/** A cut in the first part of a piece would waste the piece. */
const LEAST_SHARE = 0.4;
const SENTENCE = /[.!?…。！？]["')\]”’]*$/;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

const isBreak = ({ kind }: Atom): boolean => kind === 'space' || kind === 'line' || kind === 'gap';

export const typeset = (given: readonly Atom[], format: Format): Piece[] => {
  const atoms = [...given];
  const pieces: Piece[] = [];
  let at = 0;
  let open: readonly Element[] = [];
  for (;;) {
    ({ at, open } = begun(atoms, at, open));
    if (at >= atoms.length) return pieces;
    const end = endOf(atoms, at, open, format);
    const slice = trimmed(atoms.slice(at, end));
    const reopened = renumbered(open, atoms[at]);
    const text = written(slice, reopened, PLAIN);
    pieces.push(format === PLAIN || format.strokes === PLAIN.strokes ? { text } : { text, formatted: written(slice, reopened, format) });
    open = openAfter(atoms.slice(at, end), open);
    at = end;
  }
};

/** White space at the beginning of a piece is dropped, and what would close at once is not opened again. */
const begun = (atoms: readonly Atom[], from: number, before: readonly Element[]): { readonly at: number; readonly open: readonly Element[] } => {
  let at = from;
  let open = before;
  let isLineSkipped = false;
  if (from > 0)
    for (let atom = atoms[at]; atom !== undefined; atom = atoms[at]) {
      const isCode = open.at(-1)?.kind === 'code';
      // The spaces of code are its indentation.
      if (atom.kind === 'close') open = open.slice(0, -1);
      else if (!isBreak(atom) || (isCode && (isLineSkipped || atom.kind === 'space'))) break;
      else isLineSkipped ||= isCode;
      at += 1;
    }
  return { at, open };
};

const trimmed = (atoms: readonly Atom[]): readonly Atom[] => {
  let end = atoms.length;
  for (let atom = atoms[end - 1]; atom && isBreak(atom); atom = atoms[end - 1]) end -= 1;
  return atoms.slice(0, end);
};

const openAfter = (atoms: readonly Atom[], before: readonly Element[]): readonly Element[] => {
  const open = [...before];
  for (const atom of atoms) {
    if (atom.kind === 'open') open.push(atom.element);
    else if (atom.kind === 'close') open.pop();
  }
  return open;
};

/** A numbered list goes on with the number that it was at. */
const renumbered = (open: readonly Element[], next: Atom | undefined): readonly Element[] =>
  open.map((element, index) => {
    if (element.kind !== 'list' || element.start === undefined) return element;
    const item = open[index + 1] ?? (next?.kind === 'open' ? next.element : undefined);
    return item?.kind === 'item' && item.number !== undefined ? { ...element, start: item.number } : element;
  });

interface Pen {
  put(atom: Atom): void;
  /** With all that is open closed. */
  size(): number;
  finished(): string;
  place(): WordPlace;
}

interface Opened {
  readonly element: Element;
  readonly strokes: Strokes;
}

const createPen = (format: Format, reopened: readonly Element[]): Pen => {
  const stack: Opened[] = [];
  let out = '';
  let isLineStart = true;
  let closings: string | undefined;
  const isIn = (kind: Element['kind']): boolean => stack.some(({ element }) => element.kind === kind);
  const prefix = (count = stack.length): string => {
    const isFlush = !format.isCodeIndented && isIn('code');
    return stack
      .slice(0, count)
      .map(({ element, strokes }) => (isFlush && element.kind === 'item' ? '' : (strokes.line ?? '')))
      .join('');
  };
  const lined = (text: string, count?: number): string => {
    const [first = '', ...rest] = text.split('\n');
    if (rest.length === 0) return first;
    const begin = prefix(count);
    // A line without text ends where its marks do.
    return first + rest.map((line, index) => `\n${line === '' && index < rest.length - 1 ? begin.trimEnd() : begin}${line}`).join('');
  };
  const add = (text: string): void => {
    out += lined(text);
    if (text.endsWith('\n')) isLineStart = true;
  };
  const begin = (element: Element, isAgain: boolean): void => {
    const strokes = format.strokes(
      element,
      stack.map((one) => one.element),
    );
    add(isAgain ? (strokes.reopen ?? strokes.open) : strokes.open);
    stack.push({ element, strokes });
    closings = undefined;
  };
  const closing = (): string => {
    closings ??= [...stack.keys()]
      .reverse()
      .map((index) => lined(stack[index]?.strokes.close ?? '', index))
      .join('');
    return closings;
  };
  const place = (): WordPlace => ({ code: isIn('code') ? 'block' : isIn('literal') ? 'inline' : undefined, isLineStart });
  for (const element of reopened) begin(element, true);
  return {
    place,
    put: (atom) => {
      if (atom.kind === 'open') begin(atom.element, false);
      else if (atom.kind === 'close') {
        const closed = stack.pop();
        closings = undefined;
        add(closed?.strokes.close ?? '');
      } else if (atom.kind === 'word') {
        out += format.text(atom, place());
        isLineStart = false;
      } else if (atom.kind === 'space') out += atom.text;
      else {
        add(atom.kind === 'rule' ? format.rule : atom.kind === 'line' ? (isIn('code') ? '\n' : format.line) : atom.isTight ? format.tightGap : format.gap);
        isLineStart = atom.kind !== 'rule';
      }
    },
    size: () => out.length + closing().length,
    finished: () => out + closing(),
  };
};

const written = (atoms: readonly Atom[], reopened: readonly Element[], format: Format): string => {
  const pen = createPen(format, reopened);
  for (const atom of atoms) pen.put(atom);
  return pen.finished();
};

interface Break {
  readonly index: number;
  readonly size: number;
}
type BreakKind = 'gap' | 'line' | 'sentence' | 'space' | 'soft';
const PREFERRED: readonly BreakKind[] = ['gap', 'line', 'sentence', 'space', 'soft'];

const breakKind = (atom: Atom, before: Atom | undefined): BreakKind | undefined => {
  if (atom.kind === 'gap') return atom.isTight ? 'line' : 'gap';
  if (atom.kind === 'line') return 'line';
  if (atom.kind === 'space') return before?.kind === 'word' && SENTENCE.test(before.text) ? 'sentence' : 'space';
  return atom.kind === 'word' && atom.isSoft ? 'soft' : undefined;
};

/** Where a piece ends. A word that is too long for any piece is cut in two, in `atoms`. */
const endOf = (atoms: Atom[], from: number, open: readonly Element[], format: Format): number => {
  const pen = createPen(format, renumbered(open, atoms[from]));
  const breaks = new Map<BreakKind, Break>();
  let isBegun = false;
  for (let index = from; index < atoms.length; index += 1) {
    const atom = atoms[index] as Atom;
    const kind = isBegun ? breakKind(atom, atoms[index - 1]) : undefined;
    const before = pen.size();
    const place = pen.place();
    if (kind !== undefined) breaks.set(kind, { index, size: before });
    pen.put(atom);
    if (!isBreak(atom) && pen.size() > format.limit) return backed(atoms, from, cutAt({ atoms, index, from, before, place, breaks, isBegun }, format), index);
    isBegun ||= atom.kind === 'word' || atom.kind === 'rule' || atom.kind === 'close';
  }
  return atoms.length;
};

interface Overflow {
  readonly atoms: Atom[];
  readonly index: number;
  readonly from: number;
  /** Length before the atom that does not fit. */
  readonly before: number;
  readonly place: WordPlace;
  readonly breaks: ReadonlyMap<BreakKind, Break>;
  readonly isBegun: boolean;
}

const cutAt = ({ atoms, index, before, place, breaks, isBegun }: Overflow, format: Format): number => {
  const found = PREFERRED.flatMap((kind) => breaks.get(kind) ?? []);
  const good = found.find(({ size }) => size >= format.limit * LEAST_SHARE);
  if (good) return good.index;
  const atom = atoms[index];
  const isLong = atom?.kind === 'word' && format.text(atom, place).length > format.limit / 2;
  if (!isLong && found.length > 0) return Math.max(...found.map((one) => one.index));
  if (atom?.kind !== 'word') return index;
  const length = fittingLength(atom, place, format, format.limit - before);
  if (length === 0 && isBegun) return index;
  // Where not even one fits, the piece is too long by one: better than to go on for ever.
  const at = length > 0 ? length : String.fromCodePoint(atom.text.codePointAt(0) ?? 0).length;
  if (at < atom.text.length) atoms.splice(index, 1, { ...atom, text: atom.text.slice(0, at) }, { ...atom, text: atom.text.slice(at), isSoft: true });
  return index + 1;
};

/** How much of a word fits, at a character; of a character that is longer than a piece, whole code points. */
const fittingLength = (word: Word, place: WordPlace, format: Format, room: number): number => {
  const sizeOf = (text: string): number => format.text({ ...word, text }, place).length;
  const head = word.text.slice(0, format.limit * 2);
  let [end, size] = [0, 0];
  for (const { segment } of graphemes.segment(head)) {
    size += sizeOf(segment);
    if (size > room) break;
    end += segment.length;
  }
  if (end > 0 || room < format.limit / 2) return end;
  size = 0;
  for (const point of head) {
    size += sizeOf(point);
    if (size > room) break;
    end += point.length;
  }
  return end;
};

/** An element that opens just before a cut opens after it. There is always something before the cut. */
const backed = (atoms: readonly Atom[], from: number, cut: number, overflow: number): number => {
  let end = cut;
  while (end > from && atoms[end - 1]?.kind === 'open') end -= 1;
  return end > from ? end : Math.max(cut, overflow + 1);
};
