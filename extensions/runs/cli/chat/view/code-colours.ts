/** Code in the colours of its language. The highlighter is loaded with the first block that names one. */
import type { createLowlight } from 'lowlight';
import type { Colours } from './colours.js';

type Highlighter = ReturnType<typeof createLowlight>;
type Root = ReturnType<Highlighter['highlight']>;
type Node = Root | Root['children'][number];

/** Longer blocks stay plain: colours must not make an answer stutter. */
const MAX_CHARS = 20_000;

let highlighter: Highlighter | undefined;
let isLoading = false;

/** Lines of the block: plain until the highlighter is there, which `redraw` tells. */
export const colourCode = (c: Colours, code: string, language: string | undefined, redraw: () => void): string[] => {
  if (!c.isColorSupported || language === undefined || language === '' || code.length > MAX_CHARS) return code.split('\n');
  if (!highlighter) {
    if (!isLoading) void load().then(redraw);
    return code.split('\n');
  }
  if (!highlighter.registered(language)) return code.split('\n');
  return painted(highlighter.highlight(language, code), paints(c)).split('\n');
};

const load = async (): Promise<void> => {
  isLoading = true;
  const { common, createLowlight: create } = await import('lowlight');
  highlighter = create(common);
};

type Paint = (text: string) => string;

/** By the names that highlight.js gives to parts of a language. */
const paints = (c: Colours): Readonly<Record<string, Paint>> => ({
  keyword: c.magenta,
  built_in: c.cyan,
  type: c.cyan,
  literal: c.yellow,
  number: c.yellow,
  string: c.green,
  regexp: c.green,
  symbol: c.green,
  comment: c.dim,
  doctag: c.dim,
  meta: c.dim,
  title: c.blue,
  section: c.blue,
  name: c.blue,
  attr: c.cyan,
  attribute: c.cyan,
  variable: c.cyan,
  addition: c.green,
  deletion: c.red,
});

const painted = (node: Node, by: Readonly<Record<string, Paint>>): string => {
  if (node.type === 'text') return node.value;
  if (node.type !== 'root' && node.type !== 'element') return '';
  const text = node.children.map((child) => painted(child, by)).join('');
  const names = node.type === 'element' && Array.isArray(node.properties.className) ? node.properties.className : [];
  const paint = names.map((name) => by[String(name).replace(/^hljs-/, '')]).find((one) => one !== undefined);
  // A colour does not cross a line: each is drawn for itself.
  return paint
    ? text
        .split('\n')
        .map((line) => (line === '' ? '' : paint(line)))
        .join('\n')
    : text;
};
