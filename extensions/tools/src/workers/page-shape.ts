/** What laying a page out would cost, seen in one pass over its tags: layout takes the square of some of these. */

export interface PageShape {
  /** Elements that stand inside each other, as far as tags tell. */
  readonly depth: number;
  readonly cells: number;
  /** A cell that claims to stretch over hundreds of rows or columns: all of them would be made. */
  readonly isStretched: boolean;
}

const TAG = /<(\/?)([a-z][a-z0-9]{0,20})/gi;
const STRETCHED = /(?:col|row)span\s{0,5}=\s{0,5}["']?\d{3}/i;
/** These have no end tag, or another of their kind ends them: pages leave it out. */
const UNNESTED = new Set('area base br col dd dt embed hr img input li link meta option p param rp rt source tbody td tfoot th thead tr track wbr'.split(' '));

export const shapeOf = (html: string): PageShape => {
  let open = 0;
  let depth = 0;
  let cells = 0;
  for (const [, isEnd, tag = ''] of html.matchAll(TAG)) {
    const name = tag.toLowerCase();
    if (name === 'td' || name === 'th') cells += isEnd === '' ? 1 : 0;
    if (UNNESTED.has(name)) continue;
    open = isEnd === '' ? open + 1 : Math.max(0, open - 1);
    depth = Math.max(depth, open);
  }
  return { depth, cells, isStretched: STRETCHED.test(html) };
};
