/** Turns a page into text that a model can read, off the main thread: a page of some megabytes takes longer than a request should wait. */
import { convert } from 'html-to-text';

export interface PageInput {
  readonly html: string;
  /** The page's address: what relative links start from. */
  readonly url: string;
}

const SKIPPED = ['script', 'style', 'noscript', 'template', 'svg', 'iframe', 'nav', 'footer'];

const pageText = ({ html, url }: PageInput): string =>
  convert(html, {
    wordwrap: false,
    limits: { maxInputLength: 8_000_000, maxDepth: 200 },
    selectors: [
      ...SKIPPED.map((selector) => ({ selector, format: 'skip' })),
      { selector: 'img', format: 'skip' },
      { selector: 'a', options: { pathRewrite: (href: string) => (URL.canParse(href, url) ? new URL(href, url).href : href), linkBrackets: ['(', ')'], hideLinkHrefIfSameAsText: true } },
      ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false, leadingLineBreaks: 2, trailingLineBreaks: 1 } })),
      { selector: 'table', format: 'dataTable' },
    ],
  });

export default pageText;
