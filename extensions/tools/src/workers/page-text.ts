/** Turns a page into text that a model can read, off the main thread: a page of some megabytes takes longer than a request should wait. */
import { convert, type FormatCallback } from 'html-to-text';
import { shapeOf } from './page-shape.js';
import type { PageInput } from './page-text-worker.js';
import { plainPage } from './plain-page.js';

/** Pages that people write nest some dozens deep; building the tree takes the square of it. */
const MAX_DEPTH = 1_000;
/** Of all tables together. Beyond it they are read row by row, without columns. */
const MAX_CELLS = 2_000;
const SKIPPED = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer'];

const pageText = ({ html, url, maxChars }: PageInput): string => {
  const { depth, cells, isStretched } = shapeOf(html);
  if (depth > MAX_DEPTH) return `[the page nests ${depth} deep; this is its text without layout and links]\n${plainPage(html, maxChars)}`;
  return convert(html, {
    wordwrap: false,
    limits: { maxInputLength: 8_000_000, maxDepth: 200 },
    formatters: { cell },
    selectors: [
      ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { pathRewrite: (href: string) => absolute(href, url), linkBrackets: ['(', ')'], hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 1 } })),
      ...tables(cells > MAX_CELLS || isStretched),
    ],
  });
};

const absolute = (href: string, page: string): string => {
  try {
    return new URL(href, page).href;
  } catch {
    return href; // no address
  }
};

const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder);
  builder.addInline(' ');
};

/** Columns are aligned only where that is cheap. */
const tables = (isCostly: boolean) =>
  isCostly
    ? [
        { selector: 'table', format: 'block' },
        { selector: 'tr', format: 'block', options: { leadingLineBreaks: 1, trailingLineBreaks: 1 } },
        { selector: 'td', format: 'cell' },
        { selector: 'th', format: 'cell' },
      ]
    : [{ selector: 'table', format: 'dataTable' }];

export default pageText;
