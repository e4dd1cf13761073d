/**
 * Style sheets of the page take colours, type, spaces, radii, times and layers from tokens (kernel/kit/DESIGN.md, rules D1 to D6).
 *
 * Sizes of parts of one view (its columns, its greatest width) are its own; they are written in rem. `em` follows the text around it.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fromRoot, inRoot } from '../build/paths.mjs';
import { lineAt } from './sources.mjs';

const RULE = 'style-token';
const TOKENS = 'kernel/kit/src/look/tokens.css';
/** Styles of pages and panels. */
const IS_OF_PAGE = /^(kernel\/kit\/src|extensions\/[^/]+\/(page|panels)|fixtures\/areas\/[^/]+\/panels)\//;
const ROOMS = ['kernel/kit/src', 'extensions', 'fixtures/areas'];

/** Where the layout changes: a phone, the navigation beside the content, whole tables, the list of conversations, details beside a list. */
const BREAKPOINTS = ['40rem', '56rem', '62rem', '72rem', '80rem'];
const COLOUR = /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|color|color-mix)\(|(?<![\w-])(?:white|black|gr[ae]y|silver|red|green|blue|orange|yellow|purple)(?![\w-])/i;
const HAIRLINES_PX = 4;

/** What a declaration may not hold beside `var(…)`, by its property. */
const BY_PROPERTY = [
  { of: /^(?:padding|margin|gap|row-gap|column-gap)/, refused: /(?<![\w.])-?(?!1px)\d*\.?\d+(?:px|rem)\b/, use: 'a space: var(--space-1) to var(--space-8)' },
  { of: /^font(?:-size)?$/, refused: /(?<![\w.])\d*\.?\d+(?:px|rem)\b|(?<![\w.])[1-9]00\b(?!%)/, use: 'a size and weight of the scale: var(--text-s), var(--weight-strong)' },
  { of: /^font-weight$/, refused: /\d|bold/, use: 'var(--weight), var(--weight-medium) or var(--weight-strong)' },
  { of: /^line-height$/, refused: /\d*\.\d+|[02-9]|\dpx/, use: 'var(--line), var(--line-tight) or var(--line-reading)' },
  { of: /radius$/, refused: /[1-9]/, use: 'var(--radius-s), for example' },
  { of: /^z-index$/, refused: /\d/, use: 'a layer: var(--layer-menu), for example' },
  { of: /^(?:transition|animation)/, refused: /(?<![\w.])\d*\.?\d+m?s\b/, use: 'a time: var(--quick) or var(--calm)' },
];

const withoutComments = (text) => text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
const declarations = (text) => [...text.matchAll(/(?<=[{;\s])(-?-?[a-z][\w-]*)\s*:\s*([^;{}]+)(?=[;}])/gi)].map(({ 1: property, 2: value, index }) => ({ property, value, index }));
const withoutTokens = (value) => value.replaceAll(/var\(--[\w-]+\)/g, 'token');

const inValue = ({ property, value }, known) => {
  const rest = withoutTokens(value).replaceAll(/url\([^)]*\)|'[^']*'|"[^"]*"/g, '');
  const pixels = [...rest.matchAll(/(\d*\.?\d+)px\b/g)].map(([, amount]) => Number(amount)).find((amount) => amount > HAIRLINES_PX);
  const byProperty = BY_PROPERTY.filter(({ of, refused }) => of.test(property) && refused.test(rest)).map(({ use }) => `"${property}: ${value.trim()}": write ${use}`);
  return [
    ...(COLOUR.test(rest) ? [`"${value.trim()}": write a colour of ${TOKENS}`] : []),
    ...byProperty,
    ...(pixels === undefined || byProperty.length > 0 ? [] : [`"${property}: ${value.trim()}": write rem; px is for lines`]),
    ...[...value.matchAll(/var\(--([\w-]+)/g)].filter(([, name]) => !known.has(name)).map(([, name]) => `there is no token --${name}`),
  ];
};

const declaredIn = (text) => declarations(text).flatMap(({ property }) => (property.startsWith('--') ? [property.slice(2)] : []));

/** `tokens` is the text of the file that declares them; a file may declare further ones for itself. */
export const checkStyle = (file, text, tokens) => {
  const bare = withoutComments(text);
  const known = new Set([...declaredIn(withoutComments(tokens)), ...declaredIn(bare)]);
  const found = (index, message) => ({ file, line: lineAt(text, index), rule: RULE, message });
  return [
    ...declarations(bare).flatMap((one) => inValue(one, known).map((message) => found(one.index, message))),
    ...[...bare.matchAll(/\((?:min|max)-width:\s*([^)]+)\)/g)]
      .filter(([, width]) => !BREAKPOINTS.includes(width))
      .map(({ 1: width, index }) => found(index, `the layout changes at ${BREAKPOINTS.join(', ')}, not at ${width}`)),
  ];
};

const styleSheets = () =>
  ROOMS.flatMap((room) => readdirSync(inRoot(room), { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile() && entry.name.endsWith('.css'))
    .map((entry) => fromRoot(path.join(entry.parentPath, entry.name)))
    .filter((file) => IS_OF_PAGE.test(file) && file !== TOKENS && !file.includes('node_modules'))
    .sort();

export const checkStyles = () => {
  const tokens = readFileSync(inRoot(TOKENS), 'utf8');
  return styleSheets().flatMap((file) => checkStyle(file, readFileSync(inRoot(file), 'utf8'), tokens));
};
