/**
 * Markdown of a conversation as HTML for people that nobody knows.
 *
 * H1  HTML in it is shown as it was written.
 * H2  Links lead to http, https and mailto. Pictures are links: the page asks nobody for anything.
 * H3  The time to draw a text grows with its length, whatever it holds. One that is very long is shown as it was written.
 */
import MarkdownIt from 'markdown-it';
import { escaped, plainHtml } from './plain-html.js';

const MAX_DRAWN_CHARS = 50_000;
const LINKED = /^(https?:|mailto:)/i;
/** Headings stand below those of the page. */
const HEADING_BELOW = 2;
const DEEPEST_HEADING = 6;

const markdown = new MarkdownIt({ html: false, linkify: false });

markdown.validateLink = (href) => LINKED.test(href) && URL.canParse(href);
markdown.core.ruler.push('plain_page', ({ tokens }) => {
  for (const token of tokens) {
    if (token.type.startsWith('heading_')) token.tag = `h${Math.min(DEEPEST_HEADING, Number(token.tag.slice(1)) + HEADING_BELOW)}`;
    for (const inner of token.children ?? [])
      if (inner.type === 'link_open')
        inner.attrs = [
          ['href', inner.attrGet('href') ?? ''],
          ['rel', 'noopener noreferrer nofollow'],
        ];
  }
});
markdown.renderer.rules.image = (tokens, at) => {
  const token = tokens[at];
  const href = String(token?.attrGet('src') ?? '');
  return `<a href="${escaped(href)}" rel="noopener noreferrer nofollow">${escaped(token?.content || href)}</a>`;
};
markdown.renderer.rules.fence = (tokens, at) => `<pre><code>${escaped(tokens[at]?.content ?? '')}</code></pre>\n`;

export const markdownHtml = (text: string): string => (text.length > MAX_DRAWN_CHARS ? plainHtml(text) : markdown.render(text));
