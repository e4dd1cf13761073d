/**
 * The neutral document: Markdown as a line of words, breaks and elements, which every platform's format is set from.
 *
 * R1  All text of the Markdown is there, what is HTML among it as the text that it is.
 * R2  Only addresses that a person may follow are links: http, https, mailto and tel. Any other is text beside its label.
 */
import type { fromMarkdown } from 'mdast-util-from-markdown';

export type Root = ReturnType<typeof fromMarkdown>;
type RootContent = Root['children'][number];
type PhrasingContent = Extract<RootContent, { type: 'paragraph' }>['children'][number];
type Table = Extract<RootContent, { type: 'table' }>;
type Definition = Extract<RootContent, { type: 'definition' }>;

/** What opens and closes around words. */
export type Element =
  | { readonly kind: 'paragraph'; readonly isTight: boolean }
  | { readonly kind: 'heading'; readonly depth: number }
  | { readonly kind: 'code'; readonly language: string }
  | { readonly kind: 'quote' | 'table' | 'bold' | 'italic' | 'strike' | 'literal' }
  | { readonly kind: 'list'; readonly start: number | undefined }
  | { readonly kind: 'item'; readonly number: number | undefined }
  | { readonly kind: 'row' | 'cell'; readonly isHead: boolean }
  | { readonly kind: 'link'; readonly url: string };

export interface Word {
  readonly kind: 'word';
  readonly text: string;
  /** An address as it stands: nothing in it is escaped for a mark. */
  readonly isUrl: boolean;
  /** A text may be cut before it, though there is no space. */
  readonly isSoft: boolean;
}

export type Atom =
  | Word
  | { readonly kind: 'open'; readonly element: Element }
  | { readonly kind: 'close' }
  | { readonly kind: 'line' }
  | { readonly kind: 'rule' }
  | { readonly kind: 'space'; readonly text: string }
  /** Between blocks; tight within a list whose items stand close. */
  | { readonly kind: 'gap'; readonly isTight: boolean };

/** What a format has no form for becomes text. */
export interface AtomOptions {
  readonly tables: 'cells' | 'text';
  readonly links: 'elements' | 'text';
}

const MAX_DEPTH = 8;
const MAX_URL = 500;
const MAX_LANGUAGE = 40;
const LONG_WORD = 40;
/** Wider tables would be wrapped into nonsense on a phone. */
const MAX_TABLE_COLUMNS = 60;
const FOLLOWED = /^(?:https?|mailto|tel):/i;
/** A space that carries a mark is a character of its own. */
const BREAKS = /(\n|[ \t]+(?![\p{M}\u200d]))/u;
const PARTS = /[\s\S]*?[,;:.!?…、。，！？；：)\]}]+(?!\p{M}|\u200d)|[\s\S]+$/gu;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

interface Writing {
  readonly atoms: Atom[];
  readonly options: AtomOptions;
  readonly definitions: ReadonlyMap<string, Definition>;
}

export const atomsOf = (tree: Root, options: AtomOptions): Atom[] => {
  const definitions = new Map<string, Definition>();
  collect(tree, definitions, 0);
  const writing: Writing = { atoms: [], options, definitions };
  blocks(writing, tree.children, { depth: 0, isTight: false });
  return writing.atoms;
};

const collect = (node: Root | RootContent, into: Map<string, Definition>, depth: number): void => {
  if (node.type === 'definition') into.set(node.identifier, node);
  else if (depth < MAX_DEPTH && 'children' in node) for (const child of node.children) collect(child, into, depth + 1);
};

interface Place {
  readonly depth: number;
  readonly isTight: boolean;
}

const blocks = (writing: Writing, nodes: readonly RootContent[], place: Place): undefined => {
  let isFirst = true;
  for (const node of nodes) {
    if (node.type === 'definition') continue;
    if (!isFirst) writing.atoms.push({ kind: 'gap', isTight: place.isTight });
    isFirst = false;
    block(writing, node, place);
  }
};

const within = ({ atoms }: Writing, element: Element | undefined, write: () => void): undefined => {
  if (element) atoms.push({ kind: 'open', element });
  write();
  if (element) atoms.push({ kind: 'close' });
};

const block = (writing: Writing, node: RootContent, place: Place): undefined => {
  const isDeep = place.depth >= MAX_DEPTH;
  const deeper = { ...place, depth: place.depth + 1 };
  switch (node.type) {
    case 'heading':
      return within(writing, { kind: 'heading', depth: node.depth }, () => inline(writing, node.children));
    case 'blockquote':
      return within(writing, isDeep ? undefined : { kind: 'quote' }, () => blocks(writing, node.children, { ...deeper, isTight: false }));
    case 'list': {
      const isTight = !node.spread && node.children.every(({ spread }) => !spread);
      const start = node.ordered ? (node.start ?? 1) : undefined;
      return within(writing, isDeep ? undefined : { kind: 'list', start }, () => {
        for (const [index, item] of node.children.entries()) {
          if (index > 0) writing.atoms.push({ kind: 'gap', isTight });
          within(writing, isDeep ? undefined : { kind: 'item', number: start === undefined ? undefined : start + index }, () => blocks(writing, item.children, { ...deeper, isTight }));
        }
      });
    }
    case 'code':
      return within(writing, { kind: 'code', language: /^[\w+#.-]+$/.test(node.lang ?? '') ? (node.lang ?? '').slice(0, MAX_LANGUAGE) : '' }, () => verbatim(writing, node.value));
    case 'thematicBreak':
      return void writing.atoms.push({ kind: 'rule' });
    case 'table':
      return table(writing, node);
    case 'html':
      return within(writing, { kind: 'paragraph', isTight: place.isTight }, () => prose(writing, node.value));
    case 'paragraph':
      return within(writing, { kind: 'paragraph', isTight: place.isTight }, () => inline(writing, node.children));
    default:
      return within(writing, { kind: 'paragraph', isTight: place.isTight }, () => inline(writing, [node as PhrasingContent]));
  }
};

const inline = (writing: Writing, nodes: readonly PhrasingContent[], open: ReadonlySet<string> = new Set()): undefined => {
  for (const node of nodes) phrase(writing, node, open);
};

const MARKS = { emphasis: 'italic', strong: 'bold', delete: 'strike' } as const;

const phrase = (writing: Writing, node: PhrasingContent, open: ReadonlySet<string>): undefined => {
  switch (node.type) {
    case 'text':
    case 'html':
      return prose(writing, node.value);
    case 'break':
      return void writing.atoms.push({ kind: 'line' });
    case 'inlineCode':
      return within(writing, { kind: 'literal' }, () => prose(writing, node.value));
    case 'emphasis':
    case 'strong':
    case 'delete': {
      const kind = MARKS[node.type];
      // A mark within itself says nothing more, and closes the outer one on some platforms.
      return within(writing, open.has(kind) ? undefined : { kind }, () => inline(writing, node.children, new Set([...open, kind])));
    }
    case 'link':
      return link(writing, node.url, () => inline(writing, node.children, new Set([...open, 'link'])), plainOf(node.children), open);
    case 'linkReference': {
      const url = writing.definitions.get(node.identifier)?.url ?? '';
      return link(writing, url, () => inline(writing, node.children, new Set([...open, 'link'])), plainOf(node.children), open);
    }
    case 'image':
    case 'imageReference': {
      const url = node.type === 'image' ? node.url : (writing.definitions.get(node.identifier)?.url ?? '');
      const label = node.alt || url;
      return link(writing, url, () => prose(writing, label), label, open);
    }
    default:
      return;
  }
};

const link = (writing: Writing, url: string, label: () => void, text: string, open: ReadonlySet<string>): undefined => {
  const isElement = writing.options.links === 'elements' && FOLLOWED.test(url) && url.length <= MAX_URL && !/\s/.test(url) && !open.has('link');
  if (isElement && text.trim() !== '') return within(writing, { kind: 'link', url }, label);
  label();
  if (url === '' || url === text || url === `mailto:${text}`) return;
  if (text !== '') writing.atoms.push({ kind: 'space', text: ' ' });
  prose(writing, text === '' ? url : `(${url})`);
};

const plainOf = (nodes: readonly RootContent[]): string => nodes.map((node) => ('value' in node ? node.value : 'children' in node ? plainOf(node.children) : '')).join('');

/** Words, and what may be broken between them. */
const prose = ({ atoms }: Writing, text: string): undefined => {
  for (const token of text.split(BREAKS)) {
    if (token === '') continue;
    if (token === '\n') atoms.push({ kind: 'line' });
    else if (/^[ \t]+$/.test(token)) atoms.push({ kind: 'space', text: ' ' });
    else if (/^\(?https?:\/\//.test(token) || token.length <= LONG_WORD) atoms.push({ kind: 'word', text: token, isUrl: /^\(?https?:\/\//.test(token), isSoft: false });
    else for (const [index, part] of (token.match(PARTS) ?? []).entries()) atoms.push({ kind: 'word', text: part, isUrl: false, isSoft: index > 0 });
  }
};

/** Each space as it stands. */
const verbatim = ({ atoms }: Writing, text: string): undefined => {
  for (const token of text.split(BREAKS)) {
    if (token === '') continue;
    if (token === '\n') atoms.push({ kind: 'line' });
    else if (/^[ \t]+$/.test(token)) atoms.push({ kind: 'space', text: token });
    else atoms.push({ kind: 'word', text: token, isUrl: false, isSoft: false });
  }
};

const table = (writing: Writing, node: Table): undefined => {
  if (writing.options.tables === 'text') return tableText(writing, node);
  within(writing, { kind: 'table' }, () => {
    for (const [index, row] of node.children.entries()) {
      const isHead = index === 0;
      if (!isHead) writing.atoms.push({ kind: 'gap', isTight: true });
      within(writing, { kind: 'row', isHead }, () => {
        for (const cell of row.children) within(writing, { kind: 'cell', isHead }, () => inline(writing, cell.children));
      });
    }
  });
};

const widthOf = (text: string): number => [...graphemes.segment(text)].length;

/** Columns of one width where they fit; else each cell on a line of its own, after its heading. */
const tableText = (writing: Writing, node: Table): undefined => {
  const rows = node.children.map(({ children }) => children.map((cell) => plainOf(cell.children).replaceAll(/\s+/g, ' ').trim()));
  const widths = (rows[0] ?? []).map((_head, column) => Math.max(...rows.map((row) => widthOf(row[column] ?? ''))));
  const isNarrow = widths.reduce((sum, width) => sum + width + 3, -3) <= MAX_TABLE_COLUMNS;
  if (isNarrow) {
    const lineOf = (row: readonly string[]): string =>
      widths
        .map((width, column) => (row[column] ?? '') + ' '.repeat(width - widthOf(row[column] ?? '')))
        .join(' | ')
        .trimEnd();
    return within(writing, { kind: 'code', language: '' }, () => verbatim(writing, rows.map(lineOf).join('\n')));
  }
  const [heads = [], ...rest] = rows;
  const records = rest.length === 0 ? [heads.join(' | ')] : rest.map((row) => row.map((cell, column) => (heads[column] ? `${heads[column]}: ${cell}` : cell)).join('\n'));
  for (const [index, record] of records.entries()) {
    if (index > 0) writing.atoms.push({ kind: 'gap', isTight: false });
    within(writing, { kind: 'paragraph', isTight: false }, () => prose(writing, record));
  }
};
