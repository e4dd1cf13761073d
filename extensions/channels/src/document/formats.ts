/** The forms that platforms understand, as strokes around the words of a neutral document. */
import type { AtomOptions, Element, Word } from './atoms.js';

/** What is written where an element opens, closes, and goes on in the next piece. */
export interface Strokes {
  readonly open: string;
  readonly close: string;
  /** In the next piece; by default as it opens. */
  readonly reopen?: string;
  /** At the beginning of each further line. */
  readonly line?: string;
}

export interface WordPlace {
  readonly code: 'block' | 'inline' | undefined;
  readonly isLineStart: boolean;
}

export interface Format extends AtomOptions {
  /** Longest piece with all its marks, in UTF-16 units. */
  readonly limit: number;
  readonly gap: string;
  readonly tightGap: string;
  readonly line: string;
  readonly rule: string;
  /** Whether lines of code stand under the list that they belong to. */
  readonly isCodeIndented: boolean;
  strokes(element: Element, open: readonly Element[]): Strokes;
  text(word: Word, place: WordPlace): string;
}

const NONE: Strokes = { open: '', close: '' };
const around = (mark: string): Strokes => ({ open: mark, close: mark });
const tag = (name: string, attributes = ''): Strokes => ({ open: `<${name}${attributes}>`, close: `</${name}>`, reopen: `<${name}${attributes}>` });
const has = (open: readonly Element[], kind: Element['kind']): boolean => open.some((one) => one.kind === kind);
const bullet = (mark: string): Strokes => ({ open: mark, close: '', reopen: ' '.repeat(mark.length), line: ' '.repeat(mark.length) });
const quoted: Strokes = { open: '> ', close: '', line: '> ' };
const RULE = '———';

const itemOf = (element: Element & { kind: 'item' }, mark = '- '): Strokes => bullet(element.number === undefined ? mark : `${element.number}. `);

/** For devices and readers without marks, and for the text beside a formatted form. */
export const PLAIN: Format = {
  ...{ limit: 65_535, tables: 'text', links: 'text', gap: '\n\n', tightGap: '\n', line: '\n', rule: RULE, isCodeIndented: true },
  strokes: (element) => {
    if (element.kind === 'quote') return quoted;
    if (element.kind === 'item') return itemOf(element);
    if (element.kind === 'link') return { open: '', close: ` (${element.url})` };
    return element.kind === 'cell' ? { open: '', close: '\t' } : NONE;
  },
  text: ({ text }) => text,
};

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const inHtml = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
const inMrkdwn = (text: string): string => text.replaceAll(/[&<>]/g, (character) => ENTITIES[character] ?? character);

/** `parse_mode: HTML` of the Bot API: few elements, no lists, no tables. */
export const TELEGRAM: Format = {
  ...{ limit: 4_096, tables: 'text', links: 'elements', gap: '\n\n', tightGap: '\n', line: '\n', rule: RULE, isCodeIndented: false },
  strokes: (element, open) => {
    switch (element.kind) {
      case 'bold':
        return has(open, 'heading') ? NONE : tag('b');
      case 'heading':
        return tag('b');
      case 'italic':
        return tag('i');
      case 'strike':
        return tag('s');
      case 'literal':
        return tag('code');
      case 'link':
        return tag('a', ` href="${inHtml(element.url)}"`);
      case 'quote':
        return has(open, 'quote') ? NONE : tag('blockquote');
      case 'item':
        return itemOf(element, '• ');
      case 'code':
        return element.language === '' ? tag('pre') : { open: `<pre><code class="language-${inHtml(element.language)}">`, close: '</code></pre>' };
      default:
        return NONE;
    }
  },
  text: ({ text }) => inHtml(text),
};

const htmlStrokes = (element: Element): Strokes => {
  switch (element.kind) {
    case 'paragraph':
      return element.isTight ? NONE : tag('p');
    case 'heading':
      return tag(`h${element.depth}`);
    case 'bold':
      return tag('strong');
    case 'italic':
      return tag('em');
    case 'strike':
      return tag('del');
    case 'literal':
      return tag('code');
    case 'link':
      return tag('a', ` href="${inHtml(element.url)}"`);
    case 'quote':
      return tag('blockquote');
    case 'list':
      return element.start === undefined ? tag('ul') : tag('ol', element.start === 1 ? '' : ` start="${element.start}"`);
    case 'item':
      return tag('li');
    case 'table':
      return tag('table');
    case 'row':
      return tag('tr');
    case 'cell':
      return tag(element.isHead ? 'th' : 'td');
    case 'code':
      return { open: `<pre><code${element.language === '' ? '' : ` class="language-${inHtml(element.language)}"`}>`, close: '</code></pre>' };
  }
};

/** `formatted_body` of Matrix (client-server API, 11.3.1.3). An event has at most 65,536 bytes, with its plain body. */
export const MATRIX: Format = {
  ...{ limit: 4_096, tables: 'cells', links: 'elements', gap: '', tightGap: '', line: '<br>', rule: '<hr>', isCodeIndented: false },
  strokes: htmlStrokes,
  text: ({ text }) => inHtml(text),
};

/** The HTML part of a mail, which has no limit that a text of ours reaches. */
export const MAIL: Format = { ...MATRIX, limit: 2_000_000 };

/** Inside of code, no mark ends but a run of backticks; there is no way to write one there. */
const inFence = (text: string, { code }: WordPlace): string => (code === 'block' ? text.replaceAll('```', '`\u200b``') : text.replaceAll('`', 'ˋ'));

const MARK = /[\\*_~`|[\]<]/g;
const LINE_MARK = /^(?:[#>+-]|\d+[.)])/;

/** Discord's own Markdown. */
export const DISCORD: Format = {
  ...{ limit: 2_000, tables: 'text', links: 'elements', gap: '\n\n', tightGap: '\n', line: '\n', rule: RULE, isCodeIndented: false },
  strokes: (element, open) => {
    switch (element.kind) {
      case 'bold':
        return around('**');
      case 'italic':
        return around('*');
      case 'strike':
        return around('~~');
      case 'literal':
        return around('`');
      case 'heading':
        return element.depth <= 3 ? { open: `${'#'.repeat(element.depth)} `, close: '' } : { open: '', close: '' };
      case 'link':
        return { open: '[', close: `](${element.url.replaceAll('(', '%28').replaceAll(')', '%29')})` };
      case 'quote':
        return has(open, 'quote') ? NONE : quoted;
      case 'item':
        return itemOf(element);
      case 'code':
        return { open: `\`\`\`${element.language}\n`, close: '\n```' };
      default:
        return NONE;
    }
  },
  text: ({ text, isUrl }, place) => {
    if (place.code !== undefined) return inFence(text, place);
    if (isUrl) return text;
    const escaped = text.replaceAll(MARK, String.raw`\$&`);
    return place.isLineStart && LINE_MARK.test(text) ? escaped.replace(/^(\d*)(.)/, String.raw`$1\$2`) : escaped;
  },
};

/** Slack's mrkdwn: nothing can be escaped but `&`, `<` and `>`. */
export const SLACK: Format = {
  ...{ limit: 3_000, tables: 'text', links: 'elements', gap: '\n\n', tightGap: '\n', line: '\n', rule: RULE, isCodeIndented: false },
  strokes: (element, open) => {
    switch (element.kind) {
      case 'bold':
        return has(open, 'heading') ? NONE : around('*');
      case 'heading':
        return around('*');
      case 'italic':
        return around('_');
      case 'strike':
        return around('~');
      case 'literal':
        return around('`');
      case 'link':
        return { open: `<${inMrkdwn(element.url).replaceAll('|', '%7C')}|`, close: '>' };
      case 'quote':
        return has(open, 'quote') ? NONE : quoted;
      case 'item':
        return itemOf(element, '• ');
      case 'code':
        return { open: '```\n', close: '\n```' };
      default:
        return NONE;
    }
  },
  text: ({ text }, place) => inMrkdwn(place.code === undefined ? text : inFence(text, place)),
};
