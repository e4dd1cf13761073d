/**
 * A long text in pieces that a platform takes.
 *
 * P1  No piece is longer than the limit, in UTF-16 units; the pieces together are the text, apart from white space at cuts.
 * P2  A cut is at a paragraph, a line, a sentence or a word, where there is one; it never splits a character that is drawn as one.
 * P3  A fence of code that a cut goes through is closed, and opened again in the next piece.
 */
const FENCE = /^ {0,3}(```+|~~~+)(.*)$/;
const MAX_FENCE_LINE = 60;
/** A cut in the first part of a piece would waste the piece. */
const LEAST_SHARE = 0.4;

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

export const piecesOf = (text: string, limit: number): string[] => {
  const pieces: string[] = [];
  let rest = text.trim();
  let opening = '';
  while (rest !== '') {
    const whole = opening + rest;
    if (whole.length <= limit) {
      pieces.push(whole);
      break;
    }
    const fenceOf = (piece: string): string => openFence(piece);
    let at = cutOf(whole, limit);
    let fence = fenceOf(whole.slice(0, at));
    if (fence !== '') {
      at = cutOf(whole, limit - closingOf(fence).length);
      fence = fenceOf(whole.slice(0, at));
    }
    if (at <= opening.length) at = limit; // a fence line that fills a piece: rare, and then cut as it is
    pieces.push(`${whole.slice(0, at).trimEnd()}${fence === '' ? '' : closingOf(fence)}`);
    rest = fence === '' ? whole.slice(at).trimStart() : whole.slice(at).replace(/^\n/, '');
    opening = fence === '' ? '' : `${fence}\n`;
  }
  return pieces;
};

const closingOf = (fence: string): string => `\n${FENCE.exec(fence)?.[1] ?? '```'}`;

/** The line that opens a fence which the text does not close; empty where there is none. */
const openFence = (text: string): string => {
  let open = '';
  for (const line of text.split('\n')) {
    const match = FENCE.exec(line);
    if (!match) continue;
    if (open === '') open = line.length <= MAX_FENCE_LINE ? line : (match[1] ?? '');
    else if (match[1]?.startsWith(FENCE.exec(open)?.[1] ?? '') && match[2]?.trim() === '') open = '';
  }
  return open;
};

const cutOf = (text: string, limit: number): number => {
  const head = text.slice(0, limit);
  const least = limit * LEAST_SHARE;
  for (const mark of ['\n\n', '\n', '. ', ' ']) {
    const at = head.lastIndexOf(mark);
    if (at >= least) return at + (mark === '. ' ? 1 : 0);
  }
  let end = 0;
  // Only the last characters can be cut apart; segments are found from a safe distance.
  const from = Math.max(0, limit - 200);
  for (const { index, segment } of graphemes.segment(text.slice(from, limit + 200))) {
    if (from + index + segment.length > limit) break;
    end = from + index + segment.length;
  }
  return end > 0 ? end : limit;
};
