/**
 * The bare text of a page, without layout and without a tree: one pass, whatever stands in it.
 * For pages that are built to be hard, and for when nobody had time for the better way.
 */

const HIDDEN = new Set(['script', 'style', 'noscript', 'template', 'svg', 'iframe']);
/** Inside a line; every other tag begins a new one. */
const INLINE = new Set('a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strong sub sup time tt u var wbr'.split(' '));
const NAME = /<\/?([a-z][a-z0-9]{0,20})/iy;
const ENTITY = /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos|nbsp));/gi;
const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

/** At most `maxChars` of it. */
export const plainPage = (html: string, maxChars: number): string => {
  const pieces: string[] = [];
  let length = 0;
  let at = 0;
  while (at < html.length && length < maxChars) {
    const tag = html.indexOf('<', at);
    const piece = html.slice(at, Math.min(tag < 0 ? html.length : tag, at + maxChars));
    if (piece !== '') pieces.push(piece);
    length += piece.length;
    if (tag < 0) break;
    const next = afterTag(html, tag);
    pieces.push(next.mark);
    length += next.mark.length;
    at = next.at;
  }
  return tidy(pieces.join('').replace(ENTITY, character)).slice(0, maxChars);
};

/** What stands in the place of the tag, comment or hidden element at `tag`, and where the page goes on. Every search ends where it goes on, or with the page. */
const afterTag = (html: string, tag: number): { mark: string; at: number } => {
  if (html.startsWith('<!--', tag)) return { mark: '', at: after(html, '-->', tag + 4) };
  NAME.lastIndex = tag;
  const name = NAME.exec(html)?.[1]?.toLowerCase();
  // A lone "<" is text; declarations and instructions are none.
  if (name === undefined && html[tag + 1] !== '!' && html[tag + 1] !== '?') return { mark: '<', at: tag + 1 };
  const end = after(html, '>', tag + 1);
  if (name !== undefined && HIDDEN.has(name) && html[tag + 1] !== '/') {
    const closing = new RegExp(`</${name}`, 'gi');
    closing.lastIndex = end;
    return { mark: '\n', at: closing.test(html) ? after(html, '>', closing.lastIndex) : html.length };
  }
  return { mark: name !== undefined && INLINE.has(name) ? '' : '\n', at: end };
};

const after = (html: string, what: string, from: number): number => {
  const found = html.indexOf(what, from);
  return found < 0 ? html.length : found + what.length;
};

const character = (whole: string, decimal?: string, hex?: string, name?: string): string => {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
};

const tidy = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.replaceAll(/[ \t\r\f\u00a0]+/g, ' ').trim())
    .filter((line, index, lines) => line !== '' || lines[index - 1] !== '')
    .join('\n')
    .trim();
